"""A chart template of many confidential workloads, whose variables nothing compresses."""

from tests.hosts.hosts import WEB

_TEMPLATE = """{{ range $i := until COUNT }}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: unit-{{ $i }}, namespace: shop}
spec:
  replicas: 0
  selector: {matchLabels: {app: unit-{{ $i }}}}
  template:
    metadata:
      labels: {app: unit-{{ $i }}}
      annotations: ANNOTATIONS
    spec:
      runtimeClassName: contrast-cc-metal-qemu-snp
      containers:
        - name: web
          image: WEB
          env:
          {{- range $n := until 12 }}
            - {name: V{{ $n }}, value: '{{ sha256sum (printf "%d-%d" $i $n) }}'}
          {{- end }}
{{ end }}
"""


_SETTINGS = """{{ range $i := until COUNT }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: unit-{{ $i }}, namespace: shop}
data:
  LOG_LEVEL: info
  {{- range $n := until 24 }}
  KEY_{{ $n }}: '{{ sha256sum (printf "key-%d-%d" $i $n) }}{{ sha256sum (printf "more-%d-%d" $i $n) }}'
  {{- end }}
{{ end }}
"""
_REALISTIC = """          envFrom: [{configMapRef: {name: 'unit-{{ $i }}'}}]
          ports: [{name: http, containerPort: 8080}, {name: health, containerPort: 8081}]
          readinessProbe: {httpGet: {path: /ready, port: health}}
          securityContext: {runAsUser: 65532, runAsGroup: 65532}
          resources: {requests: {memory: 256Mi}, limits: {cpu: 500m, memory: 256Mi}}
{{ end }}
"""


def many_workloads(count: int, annotations: str = "{}", *, realistic: bool = False) -> str:
    """The template of so many Deployments of no replicas. annotations: of each pod, in flow style.

    realistic: with what a chart has in each: a ConfigMap of its own, ports, a probe, resources, a user.
    """
    template = _TEMPLATE.removesuffix("{{ end }}\n") + _REALISTIC + _SETTINGS if realistic else _TEMPLATE
    return template.replace("COUNT", str(count)).replace("WEB", WEB).replace("ANNOTATIONS", annotations)
