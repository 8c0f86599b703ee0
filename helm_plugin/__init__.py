"""The Helm post-renderer: the codec of Helm's stream, and the plugin manifest of Helm 4, which calls contrast-krm."""
