"""Kinds that nobody has told about, one object of each with a placeholder where its CRD has pods or names a class.

UNKNOWN_TEMPLATES: the error shows the entry to write. UNKNOWN_NAMES: there is no pod template, so no entry could help.
"""

from tests.custom_resources.objects import Json, template
from tests.custom_resources.planted import CLASS, POD, Planted, at
from tests.wording import wording

_TEMPLATES = """
    actions.github.com/v1alpha1         AutoscalingRunnerSet       spec.template
    actions.github.com/v1alpha1         EphemeralRunnerSet         spec.ephemeralRunnerSpec
    actions.summerwind.dev/v1alpha1     RunnerDeployment           spec.template
    actions.summerwind.dev/v1alpha1     RunnerSet                  spec.template
    agent.k8s.elastic.co/v1alpha1       Agent                      spec.daemonSet.podTemplate
    agones.dev/v1                       Fleet                      spec.template.spec.template
    agones.dev/v1                       GameServer                 spec.template
    agones.dev/v1                       GameServerSet              spec.template.spec.template
    apm.k8s.elastic.co/v1               ApmServer                  spec.podTemplate
    apps.kruise.io/v1alpha1             AdvancedCronJob            spec.template.jobTemplate.spec.template
    apps.kruise.io/v1alpha1             BroadcastJob               spec.template
    apps.kruise.io/v1alpha1             UnitedDeployment           spec.template.statefulSetTemplate.spec.template
    apps.openshift.io/v1                DeploymentConfig           spec.template
    argoproj.io/v1alpha1                AnalysisRun                spec.metrics[].provider.job.spec.template
    argoproj.io/v1alpha1                AnalysisTemplate           spec.metrics[].provider.job.spec.template
    argoproj.io/v1alpha1                ClusterAnalysisTemplate    spec.metrics[].provider.job.spec.template
    argoproj.io/v1alpha1                Experiment                 spec.templates[].template
    argoproj.io/v1alpha1  Sensor  spec.triggers[].template.k8s.source.resource.spec.template
    batch.volcano.sh/v1alpha1           Job                        spec.tasks[].template
    beat.k8s.elastic.co/v1beta1         Beat                       spec.deployment.podTemplate
    cassandra.datastax.com/v1beta1      CassandraDatacenter        spec.podTemplateSpec
    clickhouse.altinity.com/v1          ClickHouseInstallation     spec.templates.podTemplates[]
    elastic.iml.github.io/v1alpha1      ElasticJob                 spec.replicaSpecs.dlrover-master.template
    elastic.pytorch.org/v1alpha1        ElasticJob                 spec.replicaSpecs.Worker.template
    elasticsearch.k8s.elastic.co/v1     Elasticsearch              spec.nodeSets[].podTemplate
    extensions.agents.x-k8s.io/v1alpha1 SandboxTemplate            spec.podTemplate
    flink.apache.org/v1beta1            FlinkBlueGreenDeployment   spec.template.spec.podTemplate
    flink.apache.org/v1beta1            FlinkDeployment            spec.podTemplate
    flow.volcano.sh/v1alpha1            JobTemplate                spec.tasks[].template
    game.kruise.io/v1alpha1             GameServerSet              spec.gameServerTemplate
    inference.llmaz.io/v1alpha1         Service                    spec.workloadTemplate.workerTemplate
    k8s.keycloak.org/v2alpha1           Keycloak                   spec.unsupported.podTemplate
    kaito.sh/v1beta1                    Workspace                  inference.template
    keda.sh/v1alpha1                    ScaledJob                  spec.jobTargetRef.template
    kibana.k8s.elastic.co/v1            Kibana                     spec.podTemplate
    kubeflow.org/v1                     Notebook                   spec.template
    kubeflow.org/v1beta1                Experiment                 spec.trialTemplate.trialSpec.spec.template
    kubeflow.org/v1beta1                Trial                      spec.runSpec.spec.template
    kubernetes.crossplane.io/v1alpha2   Object                     spec.forProvider.manifest.spec.template
    kubernetes.dask.org/v1              DaskCluster                spec.worker
    kubernetes.dask.org/v1              DaskJob                    spec.job
    kubernetes.dask.org/v1              DaskWorkerGroup            spec.worker
    kueue.x-k8s.io/v1beta1              Workload                   spec.podSets[].template
    logstash.k8s.elastic.co/v1alpha1    Logstash                   spec.podTemplate
    machinelearning.seldon.io/v1        SeldonDeployment           spec.predictors[].componentSpecs[]
    operator.tigera.io/v1               Installation               spec.calicoNodeDaemonSet.spec.template
    orchestration.aibrix.ai/v1alpha1    RayClusterFleet            spec.template.spec.headGroupSpec.template
    orchestration.aibrix.ai/v1alpha1    RayClusterReplicaSet       spec.template.spec.headGroupSpec.template
    orchestration.aibrix.ai/v1alpha1    RoleSet                    spec.roles[].template
    orchestration.aibrix.ai/v1alpha1    StormService               spec.template.spec.roles[].template
    pkg.crossplane.io/v1beta1           DeploymentRuntimeConfig    spec.deploymentTemplate.spec.template
    postgresql.cnpg.io/v1               Pooler                     spec.template
    rabbitmq.com/v1beta1                RabbitmqCluster            spec.override.statefulSet.spec.template
    sources.knative.dev/v1              ContainerSource            spec.template
    spark.apache.org/v1                 SparkApplication           spec.driverSpec.podTemplateSpec
    spark.apache.org/v1                 SparkCluster               spec.masterSpec.statefulSetSpec.template
    sparkoperator.k8s.io/v1beta2        ScheduledSparkApplication  spec.template.driver.template
    sparkoperator.k8s.io/v1beta2        SparkApplication           spec.driver.template
    triggers.tekton.dev/v1beta1         EventListener              spec.resources.kubernetesResource.spec.template
    work.karmada.io/v1alpha1            Work                       spec.workload.manifests[].spec.template
    work.open-cluster-management.io/v1  ManifestWork               spec.workload.manifests[].spec.template
    workload.codeflare.dev/v1beta2      AppWrapper                 spec.components[].template.spec.template
    workloads.kubeblocks.io/v1alpha1    InstanceSet                spec.template
    workloads.x-k8s.io/v1alpha1         RoleBasedGroup             spec.roles[].template
    workloads.x-k8s.io/v1alpha2         RoleBasedGroup             spec.roles[].standalonePattern.template
"""
_POD_SPECS = """
    apps.kubeblocks.io/v1               ComponentDefinition        spec.runtime
    grove.io/v1alpha1                   PodClique                  spec.podSpec
    grove.io/v1alpha1                   PodCliqueSet               spec.template.cliques[].spec.podSpec
    mlops.seldon.io/v1alpha1            Server                     spec.podSpec
    mlops.seldon.io/v1alpha1            ServerConfig               spec.podSpec
    nvidia.com/v1alpha1                 DynamoComponentDeployment  spec.extraPodSpec
    nvidia.com/v1alpha1                 DynamoGraphDeployment      spec.services.Worker.extraPodSpec
"""
_NAMES = """
    argoproj.io/v1alpha1                Application                spec.source.helm.valuesObject
    argoproj.io/v1alpha1                ApplicationSet             spec.template.spec.source.helm.valuesObject
    controller.devfile.io/v1alpha1      DevWorkspaceOperatorConfig config.workspace
    helm.toolkit.fluxcd.io/v2           HelmRelease                spec.values
    minio.min.io/v2                     Tenant                     spec.pools[]
    psmdb.percona.com/v1                PerconaServerMongoDB       spec.replsets[]
    pxc.percona.com/v1                  PerconaXtraDBCluster       spec.pxc
    tekton.dev/v1                       PipelineRun                spec.taskRunTemplate.podTemplate
    tekton.dev/v1                       TaskRun                    spec.podTemplate
    tekton.dev/v1beta1                  PipelineRun                spec.podTemplate
    tekton.dev/v1beta1                  TaskRun                    spec.podTemplate
"""


def _planted(table: str, leaf: Json, said: str) -> tuple[Planted, ...]:
    rows = [line.split() for line in table.splitlines() if line.strip()]
    return tuple(Planted(at(api_version, kind, path, leaf), (), said) for api_version, kind, path in rows)


UNKNOWN_TEMPLATES = _planted(_TEMPLATES, template(), "podTemplates: [{group: ")
UNKNOWN_NAMES = tuple(
    one for table, leaf in ((_POD_SPECS, POD), (_NAMES, CLASS)) for one in _planted(table, leaf, wording("CC1109.bare"))
)
