"""The Helm post-renderer: what is special about Helm's stream, the Helm 4 plugin manifest and its launcher."""
