"""contrast-krm: `contrast generate` as a declarative pipeline plugin.

Packages and their contracts: docs/architecture.md.
"""

__version__ = "0.1.0"
