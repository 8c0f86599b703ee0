"""Where objects of the catalogue's refused kinds name a runtime class: the paths to the maps that have the field.

Rule of this file: a table, as their own documentation has the fields; `[]` stands for each entry of a list, `{}` for
each value of a map. Kinds that name a class in a text only (a podSpecPatch, a profile of an operator) have no row: the
pods that their controllers make are refused instead.
"""

from collections.abc import Mapping

from krm_function.model.kinds import Pattern

LIST, MAP = "[]", "{}"


def _paths(*written: str) -> tuple[Pattern, ...]:
    return tuple(tuple(one.replace("[]", ".[]").replace("{}", ".{}").split(".")) for one in written)


_RAY = ("headGroupSpec.template.spec", "workerGroupSpecs[].template.spec")
_ROLES = ("TFJob", "tf"), ("XGBoostJob", "xgb"), ("PaddleJob", "paddle"), ("MPIJob", "mpi")
_TRAINED = _paths("spec.template.spec.replicatedJobs[].template.spec.template.spec")

REFUSED_PLACES: Mapping[str, Mapping[str, tuple[Pattern, ...]]] = {
    "apps.nvidia.com": {"NIMService": _paths("spec")},
    "kubeflow.org": {kind: _paths(f"spec.{name}ReplicaSpecs{{}}.template.spec") for kind, name in _ROLES},
    "ray.io": {
        "RayJob": _paths(*(f"spec.rayClusterSpec.{path}" for path in _RAY)),
        "RayService": _paths(*(f"spec.rayClusterConfig.{path}" for path in _RAY)),
    },
    "serving.knative.dev": {
        "Service": _paths("spec.template.spec"),
        "Configuration": _paths("spec.template.spec"),
        "Revision": _paths("spec"),
    },
    "serving.kserve.io": {
        "InferenceService": _paths("spec.predictor", "spec.transformer", "spec.explainer"),
        "ServingRuntime": _paths("spec"),
        "ClusterServingRuntime": _paths("spec"),
        "LLMInferenceService": _paths("spec.template", "spec.worker", "spec.prefill.template", "spec.prefill.worker"),
    },
    "trainer.kubeflow.org": {"TrainingRuntime": _TRAINED, "ClusterTrainingRuntime": _TRAINED},
}
