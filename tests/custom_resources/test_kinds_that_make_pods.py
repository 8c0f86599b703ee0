"""Custom resources that list no container: kinds that make pods are counted, kinds that make none cause no alarm."""

import pytest

from krm_function.check.assess import assess
from krm_function.config.generate import WorkloadEntry
from krm_function.kubernetes.custom_kinds import MAKE_NONE, MAKE_PODS
from tests.world import Json, codes, config, run, stream

REQUIRED = config(workloads=("required",))

PODS = """
argoproj.io/v1alpha1 Application, argoproj.io/v1alpha1 ApplicationSet, argoproj.io/v1alpha1 Workflow,
helm.toolkit.fluxcd.io/v2 HelmRelease, kustomize.toolkit.fluxcd.io/v1 Kustomization, helm.cattle.io/v1 HelmChart,
fleet.cattle.io/v1alpha1 Bundle, operators.coreos.com/v1alpha1 Subscription, pkg.crossplane.io/v1 Provider,
serving.kserve.io/v1beta1 InferenceService, serving.kserve.io/v1alpha1 ServingRuntime, kubeai.org/v1 Model,
apps.nvidia.com/v1alpha1 NIMService, nvidia.com/v1 ClusterPolicy, nvidia.com/v1alpha1 DynamoGraphDeployment,
ome.io/v1beta1 InferenceService, kaito.sh/v1beta1 Workspace, machinelearning.seldon.io/v1 SeldonDeployment,
mlops.seldon.io/v1alpha1 Model, llamastack.io/v1alpha1 LlamaStackDistribution, serving.knative.dev/v1 Service,
ray.io/v1 RayService, trainer.kubeflow.org/v1alpha1 TrainJob, kubeflow.org/v2beta1 MPIJob, tekton.dev/v1 PipelineRun,
tekton.dev/v1 TaskRun, sparkoperator.k8s.io/v1beta2 SparkApplication, flink.apache.org/v1beta1 FlinkDeployment,
camel.apache.org/v1 Integration, k6.io/v1alpha1 TestRun, actions.summerwind.dev/v1alpha1 RunnerDeployment,
build.openshift.io/v1 BuildConfig, velero.io/v1 Restore, kafka.strimzi.io/v1beta2 Kafka,
kafka.strimzi.io/v1beta2 KafkaConnect, postgresql.cnpg.io/v1 Cluster, postgresql.cnpg.io/v1 Pooler,
acid.zalan.do/v1 postgresql, rabbitmq.com/v1beta1 RabbitmqCluster,
postgres-operator.crunchydata.com/v1beta1 PostgresCluster, pxc.percona.com/v1 PerconaXtraDBCluster,
mongodbcommunity.mongodb.com/v1 MongoDBCommunity, mysql.oracle.com/v2 InnoDBCluster, minio.min.io/v2 Tenant,
elasticsearch.k8s.elastic.co/v1 Elasticsearch, kibana.k8s.elastic.co/v1 Kibana,
opensearch.opster.io/v1 OpenSearchCluster, clickhouse.altinity.com/v1 ClickHouseInstallation,
cassandra.datastax.com/v1beta1 CassandraDatacenter, redis.redis.opstreelabs.in/v1beta2 RedisCluster,
databases.spotahome.com/v1 RedisFailover, k8s.mariadb.com/v1alpha1 MariaDB, monitoring.coreos.com/v1 Prometheus,
monitoring.coreos.com/v1 Alertmanager, grafana.integreatly.org/v1beta1 Grafana,
opentelemetry.io/v1beta1 OpenTelemetryCollector, operator.victoriametrics.com/v1beta1 VMCluster,
jaegertracing.io/v1 Jaeger, k8s.keycloak.org/v2alpha1 Keycloak, kubevirt.io/v1 VirtualMachine,
ceph.rook.io/v1 CephCluster, loki.grafana.com/v1 LokiStack, vault.banzaicloud.com/v1alpha1 Vault,
operator.tigera.io/v1 Installation
"""
NONE = """
v1 Service, v1 Namespace, v1 ServiceAccount, v1 PersistentVolumeClaim, v1 LimitRange, v1 ResourceQuota, v1 Endpoints,
networking.k8s.io/v1 Ingress, networking.k8s.io/v1 NetworkPolicy, rbac.authorization.k8s.io/v1 Role,
policy/v1 PodDisruptionBudget, rbac.authorization.k8s.io/v1 ClusterRoleBinding,
autoscaling/v2 HorizontalPodAutoscaler, storage.k8s.io/v1 StorageClass, scheduling.k8s.io/v1 PriorityClass,
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration, apiregistration.k8s.io/v1 APIService,
discovery.k8s.io/v1 EndpointSlice, resource.k8s.io/v1 DeviceClass, gateway.networking.k8s.io/v1 HTTPRoute,
gateway.networking.k8s.io/v1 GRPCRoute, gateway.networking.k8s.io/v1 GatewayClass, cert-manager.io/v1 Certificate,
cert-manager.io/v1 ClusterIssuer, trust.cert-manager.io/v1alpha1 Bundle, external-secrets.io/v1 ExternalSecret,
external-secrets.io/v1 SecretStore, bitnami.com/v1alpha1 SealedSecret,
secrets-store.csi.x-k8s.io/v1 SecretProviderClass, secrets.hashicorp.com/v1beta1 VaultStaticSecret,
monitoring.coreos.com/v1 ServiceMonitor, monitoring.coreos.com/v1 PodMonitor, monitoring.coreos.com/v1 PrometheusRule,
monitoring.coreos.com/v1alpha1 AlertmanagerConfig, grafana.integreatly.org/v1beta1 GrafanaDashboard,
operator.victoriametrics.com/v1beta1 VMServiceScrape, opentelemetry.io/v1alpha1 Instrumentation,
networking.istio.io/v1 VirtualService, networking.istio.io/v1 DestinationRule,
security.istio.io/v1 AuthorizationPolicy, security.istio.io/v1 PeerAuthentication, traefik.io/v1alpha1 IngressRoute,
traefik.io/v1alpha1 Middleware, cilium.io/v2 CiliumNetworkPolicy, crd.projectcalico.org/v1 NetworkPolicy,
metallb.io/v1beta1 IPAddressPool, k8s.cni.cncf.io/v1 NetworkAttachmentDefinition, route.openshift.io/v1 Route,
projectcontour.io/v1 HTTPProxy, keda.sh/v1alpha1 ScaledObject, keda.sh/v1alpha1 TriggerAuthentication,
autoscaling.k8s.io/v1 VerticalPodAutoscaler, karpenter.sh/v1 NodePool, kueue.x-k8s.io/v1beta1 ClusterQueue,
snapshot.storage.k8s.io/v1 VolumeSnapshot, source.toolkit.fluxcd.io/v1 GitRepository,
source.toolkit.fluxcd.io/v1 HelmRepository, argoproj.io/v1alpha1 AppProject,
notification.toolkit.fluxcd.io/v1beta3 Alert, argoproj.io/v1alpha1 AnalysisTemplate,
kafka.strimzi.io/v1beta2 KafkaTopic, kafka.strimzi.io/v1beta2 KafkaUser, postgresql.cnpg.io/v1 ScheduledBackup,
rabbitmq.com/v1beta1 Queue, kyverno.io/v1 ClusterPolicy, templates.gatekeeper.sh/v1 ConstraintTemplate,
ceph.rook.io/v1 CephBlockPool, velero.io/v1 Schedule, inference.networking.x-k8s.io/v1alpha2 InferencePool,
apiextensions.crossplane.io/v1 Composition
"""


def objects(listed: str) -> list[Json]:
    pairs = [text.split() for text in listed.replace("\n", " ").split(",")]
    metadata = {"name": "it", "namespace": "shop"}
    return [{"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"size": 1}} for version, kind in pairs]


@pytest.mark.parametrize("value", objects(PODS), ids=lambda value: value["kind"])
def test_a_kind_that_makes_pods_is_counted(value: Json) -> None:
    assessment = assess(stream(value))
    assert [pod.state for pod in assessment.pods] == ["plain"]
    assert not assessment.unknown
    assert codes(run(value)) == ["CC0291"]
    assert codes(run(value, to=REQUIRED)) == ["CC0255"]
    entry = WorkloadEntry(value["kind"], "it", plain="no data of customers")
    assert codes(run(value, to=config(workloads=("required", entry)))) == []


@pytest.mark.parametrize("value", objects(NONE), ids=lambda value: value["kind"])
def test_a_kind_that_makes_none_causes_no_alarm(value: Json) -> None:
    assessment = assess(stream(value))
    assert assessment.pods == ()
    assert not assessment.unknown
    assert codes(run(value)) == []
    assert codes(run(value, to=REQUIRED)) == []


def test_another_kind_is_named_once_and_counts_where_all_pods_are_required() -> None:
    values = [{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}} for name in ("a", "b")]
    assessment = assess(stream(*values))
    assert assessment.pods == ()
    assert assessment.unknown == ("example.com/Widget",)
    assert codes(run(*values)) == []
    assert codes(run(*values, to=REQUIRED)) == ["CC0255", "CC0255"]


def test_no_kind_is_in_both_tables() -> None:
    both = {(group, kind) for group, kinds in MAKE_PODS.items() for kind in kinds if kind in MAKE_NONE.get(group, ())}
    assert not both
