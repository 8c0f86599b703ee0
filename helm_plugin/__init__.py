"""The Helm post-renderer: what is special about Helm's stream, and the manifest of the Helm 4 plugin."""
