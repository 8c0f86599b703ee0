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


def many_workloads(count: int, annotations: str = "{}") -> str:
    """The template of so many Deployments of no replicas. annotations: of each pod, in flow style."""
    return _TEMPLATE.replace("COUNT", str(count)).replace("WEB", WEB).replace("ANNOTATIONS", annotations)
