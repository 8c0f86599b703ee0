"""Spellings of apiVersion and kind, and whether a real API server takes the object; tests/cluster asks one.

Rule of this file: texts as they stand in YAML. What is taken is what we read as a pod, everything else is refused.
"""

from krm_function.record import NamedTuple


class Spelling(NamedTuple):
    """One spelling. version: "" for no apiVersion at all. taken: an API server makes the object."""

    version: str
    kind: str
    taken: bool

    @property
    def name(self) -> str:
        """The name of the test's case."""
        return f"{self.version or 'none'} {self.kind}"

    def text(self, name: str, namespace: str) -> str:
        """The object with a pod, as YAML, with the restartPolicy that its kind takes."""
        policy = "Never" if "Job" in self.kind else "Always"
        head = f"apiVersion: {self.version}\n" if self.version else ""
        body = self._body.replace("@", policy)
        return f"{head}kind: {self.kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\n{body}"

    @property
    def _body(self) -> str:
        template = f"{{metadata: {{labels: {{a: b}}}}, spec: {_POD}}}"
        match self.kind.strip("'\" \\n"):
            case "Deployment" | "ReplicaSet" | "DaemonSet":
                return f"spec: {{selector: {{matchLabels: {{a: b}}}}, template: {template}}}\n"
            case "ReplicationController":
                return f"spec: {{selector: {{a: b}}, template: {template}}}\n"
            case "Job":
                return f"spec: {{template: {template}}}\n"
            case "CronJob":
                return f"spec: {{schedule: '0 3 * * *', jobTemplate: {{spec: {{template: {template}}}}}}}\n"
            case "PodTemplate":
                return f"template: {template}\n"
            case _:
                return f"spec: {_POD}\n"


_POD = "{runtimeClassName: contrast-cc, restartPolicy: @, containers: [{name: web, image: web}]}"


def _rows(taken: bool, **kinds: tuple[str, ...]) -> tuple[Spelling, ...]:
    return tuple(Spelling(version, kind, taken) for kind, versions in kinds.items() for version in versions)


TAKEN = _rows(
    taken=True,
    Pod=("v1", "/v1", "'/v1'", '"\\x2fv1"', "!!str /v1"),
    ReplicationController=("v1", "/v1"),
    Deployment=("apps/v1", "!!str apps/v1"),
    ReplicaSet=("apps/v1",),
    DaemonSet=("apps/v1",),
    Job=("batch/v1",),
    CronJob=("batch/v1",),
)
_NO_POD = """
'' null / //v1 /v1/ v1/ core/v1 api/v1 ./v1 V1 v01 v1.0 v2 1 a/b/c '%2Fv1' '*' __internal /__internal apps/v1
"""
_NO_DEPLOYMENT = """
/apps/v1 apps/v1/ apps//v1 apps/ apps v1 /v1 Apps/v1 apps/V1 apps.k8s.io/v1 extensions/v1beta1 apps/v1beta1 apps/v1beta2
"""
NOT_TAKEN = (
    *_rows(
        taken=False,
        Pod=("", "'v1 '", "' v1'", "'/v1 '", '"v1\\n"', *_NO_POD.split()),
        Deployment=tuple(_NO_DEPLOYMENT.split()),
        Job=("batch/", "v1", "batch/v2"),
        CronJob=("batch/v1beta1", "/v1"),
    ),
    *(Spelling("v1", kind, taken=False) for kind in ("pod", "POD", "Pods", "pods", "'Pod '", '"Pod\\n"')),
)
SPELLINGS = (*TAKEN, *NOT_TAKEN)
