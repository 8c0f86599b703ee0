"""The verdict on rendered output: against itself, its manifest, and, with a configuration, another render.

Rule of this room: nothing is restored or edited here, as the verdict is about the bytes that will be applied; what a
render would make of them instead is asked of the pipeline.
"""

from krm_function.verdict.manifests import ManifestFile
from krm_function.verdict.verdict import Verdict, beside_summary, verdict

__all__ = ["ManifestFile", "Verdict", "beside_summary", "verdict"]
