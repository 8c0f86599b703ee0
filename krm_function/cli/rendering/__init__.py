"""`generate`, and the render of all other commands: options, settings, what is rendered and where it goes."""
