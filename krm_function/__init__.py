"""contrast-krm: `contrast generate` as a declarative pipeline plugin.

Packages and their contracts: docs/architecture.md. What of this is public: docs/reference/public-api.md.
"""

__version__ = "0.2.0"  # the one place; pyproject.toml reads it, tests compare the plugin manifests and the image
__commit__ = ""  # a build in a clone (tools/build_hook.py) and the release workflow (tools/stamp.py) write it
