"""The Helm post-renderer: the codec of Helm's stream, and the manifest of the Helm 4 plugin."""
