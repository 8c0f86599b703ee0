"""The eight kinds whose pod templates Contrast reads, and the other kinds of the shipped catalogue.

Source: docs/facts/contrast.md#selection; of the catalogue: docs/facts/controllers.md.

Rule of this file: nothing is imported, so that a stream without these kinds is recognised before anything else is
loaded. A kind may have any number of templates; the eight have one each.
"""

Pattern = tuple[str, ...]  # "*" stands for each entry of a list

# kind -> accepted apiVersion, and the paths from the object to its pod templates. A Pod is its own template.
KINDS: dict[str, tuple[str, Pattern, *tuple[Pattern, ...]]] = {
    "Pod": ("v1", ()),
    "ReplicationController": ("v1", ("spec", "template")),
    "Deployment": ("apps/v1", ("spec", "template")),
    "DaemonSet": ("apps/v1", ("spec", "template")),
    "StatefulSet": ("apps/v1", ("spec", "template")),
    "ReplicaSet": ("apps/v1", ("spec", "template")),
    "Job": ("batch/v1", ("spec", "template")),
    "CronJob": ("batch/v1", ("spec", "jobTemplate", "spec", "template")),
}

LIMITING = ("Namespace", "ResourceQuota", "LimitRange")  # of v1: what they say limits the pods of a namespace

# kind -> groups with a file of the catalogue that locates its pods; the file has the name of the group
CATALOGUED: dict[str, tuple[str, ...]] = {
    "CloneSet": ("apps.kruise.io",),
    "DaemonSet": ("apps.kruise.io",),
    "JobSet": ("jobset.x-k8s.io",),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io",),
    "PyTorchJob": ("kubeflow.org",),
    "RayCluster": ("ray.io",),
    "Rollout": ("argoproj.io",),
    "Sandbox": ("agents.x-k8s.io",),
    "StatefulSet": ("apps.kruise.io",),
}

# group -> kinds whose pods no render seals; its file has the reason
REFUSED: dict[str, tuple[str, ...]] = {
    "apps.nvidia.com": ("NIMService", "NIMCache", "NIMPipeline", "NemoCustomizer"),
    "argoproj.io": ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow"),
    "kubeai.org": ("Model",),
    "kubeflow.org": ("MPIJob", "TFJob", "XGBoostJob", "PaddleJob", "MXJob"),
    "ray.io": ("RayJob", "RayService"),
    "serving.knative.dev": ("Service", "Configuration", "Revision"),
    "serving.kserve.io": (
        *("InferenceService", "ServingRuntime", "ClusterServingRuntime", "LLMInferenceService"),
        *("LLMInferenceServiceConfig", "InferenceGraph"),
    ),
    "trainer.kubeflow.org": ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"),
}

# groups of the API server itself, whose kinds make no pods
OF_KUBERNETES = frozenset(
    f"{name}.k8s.io"
    for name in (
        *("admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization"),
        *("certificates", "coordination", "discovery", "events", "flowcontrol.apiserver", "internal.apiserver"),
        *("networking", "node", "rbac.authorization", "resource", "scheduling", "storage", "storagemigration"),
    )
)

EDITED = frozenset((*KINDS, "RuntimeClass"))  # a render writes to these, beside those of the catalogue
UNDONE = EDITED.union(("PersistentVolumeClaim",))  # and, by a rule of `spec.volumes`, to these
KINDS_BY_CONTENT = frozenset(("List", "RuntimeClass"))  # a render reads them to find out whether they concern it


def template_paths(kind: str, value: object) -> list[tuple[str | int, ...]]:
    """Return the path of each pod template of an object of one of the eight kinds, present or not; [] for others."""
    patterns = KINDS[kind][1:] if kind in KINDS else ()
    return [path for pattern in patterns for path in expand(pattern, value)]


def expand(pattern: Pattern, value: object) -> list[tuple[str | int, ...]]:
    """Return the paths that a pattern stands for in a value: one for each entry of its lists."""
    if "*" not in pattern:
        return [pattern]
    size = pattern.index("*")
    for part in pattern[:size]:
        value = value.get(part) if isinstance(value, dict) else None
    entries = value if isinstance(value, list) else []
    return [
        (*pattern[:size], index, *rest)
        for index, entry in enumerate(entries)
        for rest in expand(pattern[size + 1 :], entry)
    ]
