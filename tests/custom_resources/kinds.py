"""One object of each kind of custom resources that platforms run pods with, each with a placeholder where it would be.

sealed: the addresses of its workloads; () for a kind that is refused. What is refused says why, or where to write it.
"""

from typing import Any, NamedTuple

from tests.custom_resources.objects import Json, leader_worker_set, ray_cluster, template

POD: Json = template()["spec"]


class Planted(NamedTuple):
    """An object with a placeholder in it. sealed: its workloads. said: what the refusal says."""

    value: Json
    sealed: tuple[str, ...] = ()
    said: str = ""


def thing(api_version: str, kind: str, **spec: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "llm", "namespace": "shop"}, "spec": spec}


def replicated(name: str, **job: Any) -> Json:
    return {"name": name, "replicas": 2, "template": {"spec": {**job, "template": template(name)}}}


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
    Planted(thing("argoproj.io/v1alpha1", "Rollout", template=template()), ("Rollout/shop/llm",)),
    Planted(thing("apps.kruise.io/v1alpha1", "CloneSet", template=template()), ("CloneSet/shop/llm",)),
    Planted(thing("apps.kruise.io/v1alpha1", "StatefulSet", template=template()), ("StatefulSet/shop/llm",)),
    Planted(thing("apps.kruise.io/v1beta1", "StatefulSet", template=template()), ("StatefulSet/shop/llm",)),
    Planted(thing("apps.kruise.io/v1alpha1", "DaemonSet", template=template()), ("DaemonSet/shop/llm",)),
    Planted(thing("agents.x-k8s.io/v1alpha1", "Sandbox", podTemplate=template()), ("Sandbox/shop/llm",)),
)

_RAY = {"headGroupSpec": {"template": template()}, "workerGroupSpecs": [{"groupName": "gpu", "template": template()}]}
_CANNOT = "its pods cannot be sealed"
_UNKNOWN = "podTemplates: [{group: "
_BARE = "it stands in no pod template there"
_CALICO = {"calicoNodeDaemonSet": {"spec": {"template": template()}}}
_PREDICTORS = [{"componentSpecs": [POD]}]
_NODES = [{"podTemplate": template()}]
REFUSED = (
    *(
        Planted(thing("ray.io/v1", kind, **spec), (), _CANNOT)
        for kind, spec in (
            ("RayJob", {"rayClusterSpec": _RAY}),
            ("RayService", {"rayClusterConfig": _RAY}),
        )
    ),
    Planted(thing("ray.io/v1alpha1", "RayCluster", **_RAY), (), "known of v1 only"),
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
            ("PyTorchJob", "pytorchReplicaSpecs"),
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
    # kinds that nobody has told about: the entry to write, or that there is no template
    Planted(thing("batch.volcano.sh/v1alpha1", "Job", tasks=[{"name": "a", "template": template()}]), (), _UNKNOWN),
    Planted(thing("keda.sh/v1alpha1", "ScaledJob", jobTargetRef={"template": template()}), (), _UNKNOWN),
    Planted(thing("apps.kruise.io/v1alpha1", "BroadcastJob", template=template()), (), _UNKNOWN),
    Planted(thing("apps.kruise.io/v1beta1", "CloneSet", template=template()), (), "known of v1alpha1 only"),
    Planted(thing("agones.dev/v1", "Fleet", template={"spec": {"template": template()}}), (), _UNKNOWN),
    Planted(thing("agones.dev/v1", "GameServer", template=template()), (), _UNKNOWN),
    Planted(thing("workload.codeflare.dev/v1beta2", "AppWrapper", components=[{"template": template()}]), (), _UNKNOWN),
    Planted(thing("extensions.agents.x-k8s.io/v1alpha1", "SandboxTemplate", podTemplate=template()), (), _UNKNOWN),
    Planted(thing("nvidia.com/v1alpha1", "DynamoGraphDeployment", services={"a": {"extraPodSpec": POD}}), (), _BARE),
    Planted(thing("sparkoperator.k8s.io/v1beta2", "SparkApplication", driver={"template": template()}), (), "CC1109"),
    Planted(thing("flink.apache.org/v1beta1", "FlinkDeployment", podTemplate=template()), (), _UNKNOWN),
    Planted(thing("tekton.dev/v1", "TaskRun", podTemplate={"runtimeClassName": "contrast-cc"}), (), _BARE),
    Planted(thing("tekton.dev/v1", "PipelineRun", taskRunTemplate={"podTemplate": POD}), (), _BARE),
    Planted(thing("apps.openshift.io/v1", "DeploymentConfig", template=template()), (), _UNKNOWN),
    Planted(thing("postgresql.cnpg.io/v1", "Pooler", template=template()), (), _UNKNOWN),
    Planted(thing("operator.tigera.io/v1", "Installation", **_CALICO), (), _UNKNOWN),
    Planted(thing("machinelearning.seldon.io/v1", "SeldonDeployment", predictors=_PREDICTORS), (), _BARE),
    Planted(thing("elasticsearch.k8s.elastic.co/v1", "Elasticsearch", nodeSets=_NODES), (), "CC1109"),
    Planted(thing("apps/v1beta1", "Deployment", template=template()), (), "no pod of this kind is ever sealed"),
    Planted(thing("extensions/v1beta1", "DaemonSet", template=template()), (), "no pod of this kind is ever sealed"),
)
