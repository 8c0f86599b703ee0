"""Which kinds of custom resources make pods though they list no container.

Rule of this file: three answers. A kind whose controller creates pods makes `pods`, one that only configures others
makes `none`, and any other kind is `unknown`. A resource that lists containers makes pods whatever this file has.

Source: the reference of custom resources in the documentation of each project, as of 2026. Resources from which another
program creates objects, such as a HelmRelease, count as making pods.
"""

from typing import Literal

from krm_function.kubernetes.kinds import CATALOGUED, OF_KUBERNETES, REFUSED

Makes = Literal["pods", "none", "unknown"]

# group -> kinds that make pods
MAKE_PODS: dict[str, tuple[str, ...]] = {
    # deployment: objects that another program creates from these
    "apps.open-cluster-management.io": ("Subscription",),
    "argoproj.io": ("Application", "ApplicationSet", "ArgoCD", "EventBus", "EventSource", "Sensor"),
    "core.oam.dev": ("Application",),
    "fleet.cattle.io": ("Bundle", "GitRepo"),
    "fluxcd.controlplane.io": ("FluxInstance", "ResourceSet"),
    "helm.cattle.io": ("HelmChart",),
    "helm.crossplane.io": ("Release",),
    "helm.toolkit.fluxcd.io": ("HelmRelease",),
    "infra.contrib.fluxcd.io": ("Terraform",),
    "kubernetes.crossplane.io": ("Object",),
    "kustomize.toolkit.fluxcd.io": ("Kustomization",),
    "operators.coreos.com": ("CatalogSource", "ClusterServiceVersion", "Subscription"),
    "pkg.crossplane.io": ("Function", "Provider"),
    "template.openshift.io": ("Template", "TemplateInstance"),
    "velero.io": ("Restore",),
    # models
    "inference.llmkube.dev": ("InferenceService",),
    "kaito.sh": ("InferenceSet", "RAGEngine", "Workspace"),
    "llamastack.io": ("LlamaStackDistribution",),
    "machinelearning.seldon.io": ("SeldonDeployment",),
    "mlops.seldon.io": ("Model", "Pipeline", "SeldonRuntime", "Server"),
    "nvidia.com": ("ClusterPolicy", "DynamoComponentDeployment", "DynamoGraphDeployment", "NVIDIADriver"),
    "ome.io": ("BenchmarkJob", "ClusterServingRuntime", "InferenceService", "ServingRuntime"),
    "production-stack.vllm.ai": ("CacheServer", "LoraAdapter", "VLLMRouter", "VLLMRuntime"),
    "trustyai.opendatahub.io": ("LMEvalJob", "TrustyAIService"),
    "workload.serving.volcano.sh": ("ModelBooster", "ModelServing"),
    # jobs and pipelines
    "actions.github.com": ("AutoscalingListener", "AutoscalingRunnerSet", "EphemeralRunner", "EphemeralRunnerSet"),
    "actions.summerwind.dev": ("Runner", "RunnerDeployment", "RunnerReplicaSet", "RunnerSet"),
    "apps.gitlab.com": ("GitLab", "Runner"),
    "build.openshift.io": ("Build", "BuildConfig"),
    "camel.apache.org": ("Build", "Integration", "IntegrationPlatform", "Pipe"),
    "flink.apache.org": ("FlinkDeployment", "FlinkSessionJob"),
    "k6.io": ("K6", "PrivateLoadZone", "TestRun"),
    "k8up.io": ("Archive", "Backup", "Check", "Prune", "Restore", "Schedule"),
    "kubernetes.dask.org": ("DaskAutoscaler", "DaskCluster", "DaskJob", "DaskWorkerGroup"),
    "litmuschaos.io": ("ChaosEngine",),
    "shipwright.io": ("Build", "BuildRun"),
    "sparkoperator.k8s.io": ("ScheduledSparkApplication", "SparkApplication", "SparkConnect"),
    "tekton.dev": ("ClusterTask", "CustomRun", "Pipeline", "PipelineRun", "Run", "StepAction", "Task", "TaskRun"),
    "tests.testkube.io": ("Test", "TestSuite", "TestWorkflow"),
    "triggers.tekton.dev": ("EventListener", "TriggerTemplate"),
    "volsync.backube": ("ReplicationDestination", "ReplicationSource"),
    # databases and queues
    "acid.zalan.do": ("postgresql",),
    "apps.kubeblocks.io": ("Cluster", "Component"),
    "cassandra.datastax.com": ("CassandraDatacenter", "CassandraTask"),
    "clickhouse-keeper.altinity.com": ("ClickHouseKeeperInstallation",),
    "clickhouse.altinity.com": ("ClickHouseInstallation",),
    "couchbase.com": ("CouchbaseBackup", "CouchbaseCluster"),
    "crdb.cockroachlabs.com": ("CrdbCluster",),
    "databases.spotahome.com": ("RedisFailover",),
    "dragonflydb.io": ("Dragonfly",),
    "druid.apache.org": ("Druid",),
    "elasticsearch.k8s.elastic.co": ("Elasticsearch",),
    "hazelcast.com": ("Hazelcast", "ManagementCenter"),
    "hyperspike.io": ("Valkey",),
    "infinispan.org": ("Batch", "Infinispan"),
    "k8s.mariadb.com": ("Backup", "MariaDB", "MaxScale", "PhysicalBackup", "Restore", "SqlJob"),
    "k8ssandra.io": ("K8ssandraCluster",),
    "kafka.banzaicloud.io": ("CruiseControlOperation", "KafkaCluster"),
    "kafka.strimzi.io": (
        *("Kafka", "KafkaBridge", "KafkaConnect", "KafkaMirrorMaker", "KafkaMirrorMaker2", "KafkaNodePool"),
    ),
    "core.strimzi.io": ("StrimziPodSet",),
    "milvus.io": ("Milvus", "MilvusCluster"),
    "minio.min.io": ("Tenant",),
    "mongodb.com": ("MongoDB", "MongoDBMultiCluster", "MongoDBOpsManager", "MongoDBSearch"),
    "mongodbcommunity.mongodb.com": ("MongoDBCommunity",),
    "mysql.oracle.com": ("InnoDBCluster", "MySQLBackup"),
    "opensearch.opster.io": ("OpenSearchCluster",),
    "pgv2.percona.com": ("PerconaPGBackup", "PerconaPGCluster", "PerconaPGRestore"),
    "pingcap.com": ("Backup", "Restore", "TidbCluster", "TidbMonitor"),
    "postgres-operator.crunchydata.com": ("PGAdmin", "PGUpgrade", "PostgresCluster"),
    "postgresql.cnpg.io": ("Cluster", "Pooler"),
    "ps.percona.com": ("PerconaServerMySQL", "PerconaServerMySQLBackup", "PerconaServerMySQLRestore"),
    "psmdb.percona.com": ("PerconaServerMongoDB",),
    "pxc.percona.com": ("PerconaXtraDBCluster", "PerconaXtraDBClusterBackup", "PerconaXtraDBClusterRestore"),
    "rabbitmq.com": ("RabbitmqCluster",),
    "redis.redis.opstreelabs.in": ("Redis", "RedisCluster", "RedisReplication", "RedisSentinel"),
    "scylla.scylladb.com": ("ScyllaCluster", "ScyllaDBDatacenter"),
    "solr.apache.org": ("SolrCloud", "SolrPrometheusExporter"),
    "zookeeper.pravega.io": ("ZookeeperCluster",),
    # the platform
    "agent.k8s.elastic.co": ("Agent",),
    "apm.k8s.elastic.co": ("ApmServer",),
    "beat.k8s.elastic.co": ("Beat",),
    "cdi.kubevirt.io": ("CDI", "DataVolume"),
    "ceph.rook.io": (
        *("CephCluster", "CephFilesystem", "CephFilesystemMirror", "CephNFS", "CephObjectStore", "CephRBDMirror"),
    ),
    "confidentialcontainers.org": ("CcRuntime", "KbsConfig"),
    "datasciencecluster.opendatahub.io": ("DataScienceCluster",),
    "gateway-operator.konghq.com": ("AIGateway", "ControlPlane", "DataPlane"),
    "grafana.integreatly.org": ("Grafana",),
    "install.istio.io": ("IstioOperator",),
    "jaegertracing.io": ("Jaeger",),
    "k8s.keycloak.org": ("Keycloak", "KeycloakRealmImport"),
    "kataconfiguration.openshift.io": ("KataConfig",),
    "kibana.k8s.elastic.co": ("Kibana",),
    "kubevirt.io": (*("KubeVirt", "VirtualMachine", "VirtualMachineInstance", "VirtualMachineInstanceReplicaSet"),),
    "logging.banzaicloud.io": ("FluentbitAgent", "Logging"),
    "logstash.k8s.elastic.co": ("Logstash",),
    "loki.grafana.com": ("LokiStack",),
    "mellanox.com": ("NicClusterPolicy",),
    "monitoring.coreos.com": ("Alertmanager", "Prometheus", "PrometheusAgent", "ThanosRuler"),
    "nfd.kubernetes.io": ("NodeFeatureDiscovery",),
    "opentelemetry.io": ("OpAMPBridge", "OpenTelemetryCollector", "TargetAllocator"),
    "operator.knative.dev": ("KnativeEventing", "KnativeServing"),
    "operator.tigera.io": ("APIServer", "Goldmane", "Installation", "Whisker"),
    "operator.victoriametrics.com": (
        *("VLAgent", "VLCluster", "VLogs", "VLSingle", "VMAgent", "VMAlert", "VMAlertmanager", "VMAnomaly", "VMAuth"),
        *("VMCluster", "VMSingle", "VTCluster", "VTSingle"),
    ),
    "policies.kubewarden.io": ("PolicyServer",),
    "resource.nvidia.com": ("ComputeDomain",),
    "sailoperator.io": ("Istio", "IstioCNI", "ZTunnel"),
    "sonataflow.org": ("SonataFlow", "SonataFlowPlatform"),
    "sources.knative.dev": ("ApiServerSource",),
    "tempo.grafana.com": ("TempoMonolithic", "TempoStack"),
    "vault.banzaicloud.com": ("Vault",),
}

# group -> kinds that make no pods by themselves
MAKE_NONE: dict[str, tuple[str, ...]] = {
    # objects that other programs read
    "acid.zalan.do": ("OperatorConfiguration", "PostgresTeam"),
    "argoproj.io": (
        *("AnalysisRun", "AnalysisTemplate", "AppProject", "ClusterAnalysisTemplate", "NotificationsConfiguration"),
    ),
    "fleet.cattle.io": ("Cluster", "ClusterGroup"),
    "helm.cattle.io": ("HelmChartConfig",),
    "helm.crossplane.io": ("ProviderConfig",),
    "infinispan.org": ("Backup", "Cache", "Restore"),
    "k8s.keycloak.org": ("KeycloakUser",),
    "k8s.mariadb.com": ("Connection", "Database", "ExternalMariaDB", "Grant", "User"),
    "kafka.banzaicloud.io": ("KafkaTopic", "KafkaUser"),
    "kafka.strimzi.io": ("KafkaConnector", "KafkaRebalance", "KafkaTopic", "KafkaUser"),
    "kubernetes.crossplane.io": ("ProviderConfig",),
    "litmuschaos.io": ("ChaosExperiment", "ChaosResult"),
    "monitoring.coreos.com": (
        *("AlertmanagerConfig", "PodMonitor", "Probe", "PrometheusRule", "ScrapeConfig", "ServiceMonitor"),
    ),
    "opentelemetry.io": ("Instrumentation",),
    "operators.coreos.com": ("InstallPlan", "OLMConfig", "Operator", "OperatorCondition", "OperatorGroup"),
    "pkg.crossplane.io": ("Configuration", "DeploymentRuntimeConfig", "ImageConfig"),
    "postgresql.cnpg.io": (
        *("Backup", "ClusterImageCatalog", "Database", "ImageCatalog", "Publication", "ScheduledBackup"),
        "Subscription",
    ),
    "triggers.tekton.dev": ("ClusterInterceptor", "ClusterTriggerBinding", "Interceptor", "Trigger", "TriggerBinding"),
    "velero.io": ("Backup", "BackupStorageLocation", "Schedule", "VolumeSnapshotLocation"),
    # the network
    "gateway.envoyproxy.io": ("BackendTrafficPolicy", "ClientTrafficPolicy", "EnvoyPatchPolicy", "SecurityPolicy"),
    "gateway.networking.k8s.io": (
        *("BackendTLSPolicy", "GatewayClass", "GRPCRoute", "HTTPRoute", "ReferenceGrant", "TCPRoute", "TLSRoute"),
        "UDPRoute",
    ),
    "projectcontour.io": ("HTTPProxy", "TLSCertificateDelegation"),
    # secrets, certificates and policies
    "policies.kubewarden.io": (
        *("AdmissionPolicy", "AdmissionPolicyGroup", "ClusterAdmissionPolicy", "ClusterAdmissionPolicyGroup"),
    ),
    # nodes, storage and scaling
    "keda.sh": ("ClusterTriggerAuthentication", "ScaledObject", "TriggerAuthentication"),
    "kubeflow.org": ("PodDefault", "Profile"),
    "kubevirt.io": ("VirtualMachineInstancePreset",),
    "redhatcop.redhat.io": ("PodPreset",),
}

# groups whose kinds make no pods by themselves, but for those above
GROUPS_WITHOUT_PODS = frozenset(
    (
        # objects that other programs read
        *("apiextensions.crossplane.io", "contrast-krm.dev", "fn.kpt.dev", "kpt.dev", "app.k8s.io"),
        *("grafana.integreatly.org", "image.toolkit.fluxcd.io", "jetstream.nats.io", "kustomize.config.k8s.io"),
        *("logging.banzaicloud.io", "monitoring.grafana.com", "notification.toolkit.fluxcd.io"),
        *("operator.victoriametrics.com", "rabbitmq.com", "source.extensions.fluxcd.io", "source.toolkit.fluxcd.io"),
        # the network
        *("cilium.io", "cloud.google.com", "configuration.konghq.com", "crd.projectcalico.org", "elbv2.k8s.aws"),
        *("extensions.istio.io", "externaldns.k8s.io", "inference.networking.k8s.io", "inference.networking.x-k8s.io"),
        *("k8s.cni.cncf.io", "k8s.nginx.org", "linkerd.io", "metallb.io", "networking.gke.io", "networking.istio.io"),
        *("networking.serving.volcano.sh", "policy.linkerd.io", "projectcalico.org", "route.openshift.io"),
        *("split.smi-spec.io", "telemetry.istio.io", "traefik.containo.us", "traefik.io"),
        # secrets, certificates and policies
        *("bitnami.com", "cert-manager.io", "config.gatekeeper.sh", "constraints.gatekeeper.sh", "external-secrets.io"),
        *("generators.external-secrets.io", "isindir.github.com", "kyverno.io", "mutations.gatekeeper.sh"),
        *("policies.kyverno.io", "policy.sigstore.dev", "secrets-store.csi.x-k8s.io", "secrets.hashicorp.com"),
        *("security.istio.io", "security.openshift.io", "templates.gatekeeper.sh", "trust.cert-manager.io"),
        "wgpolicyk8s.io",
        # nodes, storage and scaling
        *("autoscaling.k8s.io", "ceph.rook.io", "cluster.x-k8s.io", "config.openshift.io", "console.openshift.io"),
        *("groupsnapshot.storage.k8s.io", "image.openshift.io", "karpenter.k8s.aws", "karpenter.sh", "kueue.x-k8s.io"),
        *("machineconfiguration.openshift.io", "nfd.k8s-sigs.io", "project.openshift.io", "scheduling.volcano.sh"),
        *("scheduling.x-k8s.io", "snapshot.storage.k8s.io", "topology.node.k8s.io", "user.openshift.io"),
    )
)


def kind_makes(api_version: str, kind: str) -> Makes:
    """Return whether objects of a kind make pods; `none` for the kinds of Kubernetes beside the eight."""
    group = api_version.rpartition("/")[0]
    if "." not in group or group in OF_KUBERNETES:
        return "none"
    if kind in MAKE_PODS.get(group, ()) or kind in REFUSED.get(group, ()) or group in CATALOGUED.get(kind, ()):
        return "pods"
    return "none" if group in GROUPS_WITHOUT_PODS or kind in MAKE_NONE.get(group, ()) else "unknown"
