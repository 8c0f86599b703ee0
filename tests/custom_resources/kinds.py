"""One object of each kind of custom resources that platforms run pods with, each with a placeholder where it would be.

SEALED: sealed by an entry of the catalogue. BY_CATALOGUE: refused by one, with its reason. OTHER_VERSIONS: of versions
that nobody has read, and of Kubernetes' own past. What nobody knows is in unknown_kinds.py.
"""

from tests.custom_resources.objects import leader_worker_set, py_torch_job, ray_cluster, template
from tests.custom_resources.planted import CLASS, POD, Planted, replicated, thing
from tests.custom_resources.unknown_kinds import UNKNOWN_NAMES, UNKNOWN_TEMPLATES
from tests.wording import wording

SEALED = (
    Planted(leader_worker_set("llm"), ("LeaderWorkerSet/shop/llm#leader", "LeaderWorkerSet/shop/llm#worker")),
    Planted(
        thing("jobset.x-k8s.io/v1alpha2", "JobSet", replicatedJobs=[replicated("driver"), replicated("workers")]),
        ("JobSet/shop/llm#driver", "JobSet/shop/llm#workers"),
    ),
    Planted(
        ray_cluster(),
        ("RayCluster/shop/llm#head", "RayCluster/shop/llm#worker-cpu", "RayCluster/shop/llm#worker-gpu"),
    ),
    Planted(py_torch_job(), ("PyTorchJob/shop/llm#worker",)),
    Planted(thing("argoproj.io/v1alpha1", "Rollout", template=template()), ("Rollout/shop/llm",)),
    Planted(thing("apps.kruise.io/v1alpha1", "CloneSet", template=template()), ("CloneSet/shop/llm",)),
    Planted(thing("apps.kruise.io/v1alpha1", "StatefulSet", template=template()), ("StatefulSet/shop/llm",)),
    Planted(thing("apps.kruise.io/v1beta1", "StatefulSet", template=template()), ("StatefulSet/shop/llm",)),
    Planted(thing("apps.kruise.io/v1alpha1", "DaemonSet", template=template()), ("DaemonSet/shop/llm",)),
    Planted(thing("agents.x-k8s.io/v1alpha1", "Sandbox", podTemplate=template()), ("Sandbox/shop/llm",)),
)

_RAY = {"headGroupSpec": {"template": template()}, "workerGroupSpecs": [{"groupName": "gpu", "template": template()}]}
_CANNOT = "its pods cannot be sealed"
BY_CATALOGUE = (
    *(
        Planted(thing("ray.io/v1", kind, **spec), (), _CANNOT)
        for kind, spec in (
            ("RayJob", {"rayClusterSpec": _RAY}),
            ("RayService", {"rayClusterConfig": _RAY}),
        )
    ),
    Planted(thing("serving.knative.dev/v1", "Service", template={"spec": POD}), (), _CANNOT),
    Planted(thing("serving.kserve.io/v1beta1", "InferenceService", predictor=POD), (), _CANNOT),
    Planted(thing("serving.kserve.io/v1alpha1", "ClusterServingRuntime", **POD), (), _CANNOT),
    Planted(thing("serving.kserve.io/v1alpha1", "ServingRuntime", **POD), (), _CANNOT),
    Planted(thing("serving.kserve.io/v1alpha1", "LLMInferenceService", template=POD), (), _CANNOT),
    Planted(thing("apps.nvidia.com/v1alpha1", "NIMService", runtimeClassName="contrast-cc"), (), _CANNOT),
    Planted(thing("kubeai.org/v1", "Model", runtimeClassName="contrast-cc"), (), _CANNOT),
    *(
        Planted(thing("kubeflow.org/v1", kind, **{field: {"Worker": {"template": template()}}}), (), _CANNOT)
        for kind, field in (
            ("TFJob", "tfReplicaSpecs"),
            ("XGBoostJob", "xgbReplicaSpecs"),
            ("PaddleJob", "paddleReplicaSpecs"),
            ("MPIJob", "mpiReplicaSpecs"),
        )
    ),
    Planted(thing("kubeflow.org/v2beta1", "MPIJob", mpiReplicaSpecs={"Worker": {"template": template()}}), (), _CANNOT),
    *(
        Planted(
            thing("trainer.kubeflow.org/v1alpha1", kind, template={"spec": {"replicatedJobs": [replicated("node")]}}),
            (),
            _CANNOT,
        )
        for kind in ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")
    ),
    *(
        Planted(thing("argoproj.io/v1alpha1", kind, podSpecPatch={"runtimeClassName": "contrast-cc"}), (), _CANNOT)
        for kind in ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")
    ),
    *(
        Planted(thing("serving.knative.dev/v1", kind, **spec), (), _CANNOT)
        for kind, spec in (("Configuration", {"template": {"spec": POD}}), ("Revision", POD))
    ),
    *(
        Planted(thing("apps.nvidia.com/v1alpha1", kind, **CLASS), (), _CANNOT)
        for kind in ("NIMCache", "NIMPipeline", "NemoCustomizer")
    ),
    Planted(thing("serving.kserve.io/v1alpha1", "LLMInferenceServiceConfig", template=POD), (), _CANNOT),
    Planted(thing("serving.kserve.io/v1alpha1", "InferenceGraph", **CLASS), (), _CANNOT),
    Planted(thing("kubeflow.org/v1", "MXJob", mxReplicaSpecs={"Worker": {"template": template()}}), (), _CANNOT),
)
_NEVER = wording("CC1109.kind")
OTHER_VERSIONS = (
    Planted(thing("ray.io/v1beta1", "RayCluster", **_RAY), (), "only known for v1, v1alpha1"),
    Planted(thing("apps.kruise.io/v1beta1", "CloneSet", template=template()), (), "only known for v1alpha1"),
    Planted(thing("jobset.x-k8s.io/v1alpha1", "JobSet", jobs=[replicated("driver")]), (), "only known for v1alpha2"),
    *(
        Planted(thing(version, kind, template=template()), (), _NEVER)
        for version, kind in (
            ("apps/v1beta1", "Deployment"),
            ("apps/v1beta2", "StatefulSet"),
            ("extensions/v1beta1", "DaemonSet"),
            ("extensions/v1beta1", "ReplicaSet"),
        )
    ),
    Planted(thing("batch/v1beta1", "CronJob", jobTemplate={"spec": {"template": template()}}), (), _NEVER),
)
REFUSED = (*BY_CATALOGUE, *OTHER_VERSIONS, *UNKNOWN_TEMPLATES, *UNKNOWN_NAMES)
