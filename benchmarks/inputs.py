"""Inputs of the benchmarks, generated: a GitOps repository's rendered resources of any size and share of Contrast.

Rule of this file: deterministic, and nothing special: ordinary resources as charts make them (comments, literals, flow
maps, dashboards of 5 KB), confidential Deployments with one container, on SNP and TDX in turn, and one coordinator.
Release, image lock and options are those of examples/quickstart.
"""

import functools
import hashlib
import itertools
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QUICKSTART = os.path.join(ROOT, "examples", "quickstart")
CONFIG = [os.path.join(QUICKSTART, "config", f"{name}.yaml") for name in ("release", "images")]
PLATFORM = "metal-qemu-snp"  # of pods that say only `contrast-cc`
RESOURCE_LIST = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"

_WITH_POLICIES = "  manifest: {name: contrast-manifest}\n"
_WITHOUT = "  policy: {engine: none}\n  manifest: {emit: none}\n"


def options(*, policies: bool) -> str:
    """Return the ContrastGenerate of every benchmark: no keys, no platform of its own."""
    head = "apiVersion: contrast-krm.dev/v1alpha1\nkind: ContrastGenerate\nmetadata: {name: contrast}\nspec:\n"
    return head + f"  platform: {PLATFORM}\n" + (_WITH_POLICIES if policies else _WITHOUT)


def meshed(workloads: int) -> list[str]:
    """Return that many of the quickstart's own front end (service mesh, 3 vCPUs, references), and what it refers to."""
    web, settings = _documents("resources", "web"), _documents("resources", "settings")
    deployment = next(document for document in web if "kind: Deployment" in document)
    copies = [deployment.replace("name: web\n", f"name: web{number}\n", 1) for number in range(workloads - 1)]
    return [*copies, *coordinator(), *settings]


def plain(workloads: int) -> list[str]:
    """Return that many workloads of one container, the coordinator among them."""
    return [*(_workload(number) for number in range(workloads - 1)), *coordinator()] if workloads else []


def custom(kind: str, templates: int) -> list[str]:
    """Return objects of a kind of the catalogue with that many templates of `plain` together, and the coordinator."""
    api_version, before, parts, deeper = CUSTOM[kind]
    head = f"apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: confidentialNUMBER\n  namespace: shop\nspec:\n"
    documents = []
    for number in range(0, templates, len(parts)):
        pods = [_workload(number + index).partition("  template:\n")[2] for index in range(len(parts))]
        placed = "".join(f"{part}{_deeper(pod, deeper)}" for part, pod in zip(parts, pods, strict=True))
        documents.append(f"{head}{before}".replace("NUMBER", str(number)) + placed)
    return [*documents, *coordinator()]


def ordinary(characters: int) -> list[str]:
    """Resources of that many characters together, nothing of Contrast's among them."""
    return mixed(characters, 0)[len(coordinator()) :]


def mixed(characters: int, share: float) -> list[str]:
    """Resources of that many characters together, of which `share` (by number) are confidential workloads."""
    documents = coordinator()
    size = sum(map(len, documents))
    for number in itertools.count():
        confidential = int((number + 1) * share) > int(number * share)
        documents.append(_workload(number) if confidential else _ordinary(number))
        size += len(documents[-1])
        if size >= characters:
            return documents
    raise AssertionError  # it counts for ever


def variables(count: int) -> str:
    """Return a workload whose container has that many variables, as a stream."""
    head, env, rest = _workload(0).partition("          env:\n")
    more = "".join(
        f"            - name: VARIABLE_{number}\n              value: some text of it\n" for number in range(1, count)
    )
    return f"---\n{head}{env}{more}{rest}"


def config_maps(count: int, kind: str) -> str:
    """Return that many small documents as a stream. kind: as it is written; `*kind` is an alias."""
    return "".join(
        f"---\napiVersion: v1\nmetadata: {{name: settings-{number}}}\ndata: {{of: &kind ConfigMap}}\nkind: {kind}\n"
        for number in range(count)
    )


def coordinator() -> list[str]:
    """Return the coordinator's StatefulSet and Service."""
    return _documents("resources", "coordinator")


def stream(documents: list[str]) -> str:
    """Return a stream, as Helm prints it."""
    return "".join(f"---\n{document}" for document in documents)


def resource_list(documents: list[str], function_config: str) -> str:
    """Return a ResourceList, as kustomize hands it to a function, with the release and the lock."""
    items = [*documents, *_documents("config", "release"), *_documents("config", "images")]
    listed = "".join(_indented(item, "- ") for item in items)
    return f"{RESOURCE_LIST}{listed}functionConfig:\n{_indented(function_config, '  ')}"


def list_document(documents: list[str]) -> str:
    """One `kind: List`, as `kubectl get -o yaml` prints it."""
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(_indented(item, "- ") for item in documents)


def quickstart(workloads: int) -> str:
    """Return a ResourceList of meshed workloads with the quickstart's own options, such as an owner key."""
    (own,) = _documents("config", "contrast")
    own = re.sub(r"(?ms)^    policies:.*", "", own)  # names workloads of its own
    own = own.replace("spec:\n", "spec:\n  acknowledged: [{code: CC0675, reason: the token is made up}]\n", 1)
    return resource_list(meshed(workloads), own)


def written(directory: str, text: str, name: str = "") -> str:
    """Write an input into a directory, under the name of its content unless one is given, and answer its path."""
    path = os.path.join(directory, name or f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


_SELECTED = "  selector:\n    matchLabels: {app: confidentialNUMBER}\n"
_JOB = "      template:\n        spec:\n          template:\n"
# kind -> apiVersion, its spec before the pod templates, what comes before each, how much deeper than in a Deployment
CUSTOM = {
    "Deployment": ("apps/v1", _SELECTED, ("  template:\n",), 0),
    "Rollout": ("argoproj.io/v1alpha1", _SELECTED, ("  template:\n",), 0),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        "  leaderWorkerTemplate:\n    size: 2\n",
        ("    leaderTemplate:\n", "    workerTemplate:\n"),
        2,
    ),
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        "  replicatedJobs:\n",
        (f"    - name: driver\n{_JOB}", f"    - name: workers\n{_JOB}"),
        8,
    ),
}


def _deeper(text: str, spaces: int) -> str:
    return "".join(f"{' ' * spaces}{line}" for line in text.splitlines(keepends=True))


def _workload(number: int) -> str:
    platform = "metal-qemu-snp" if number % 2 else "metal-qemu-tdx"
    return f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: confidential{number}
  namespace: shop
spec:
  replicas: 2
  selector:
    matchLabels: {{app: confidential{number}}}
  template:
    metadata:
      labels: {{app: confidential{number}}}
    spec:
      runtimeClassName: contrast-cc-{platform}
      containers:
        - name: app
          image: {_image()}
          env:
            - name: NUMBER
              value: "{number}"
          ports:
            - containerPort: 8080
          securityContext:
            runAsUser: 65532
            runAsGroup: 65532
          resources:
            limits:
              memory: 256Mi # of the VM
"""


@functools.cache
def _image() -> str:
    """Return an image that the lock has: the quickstart's front end."""
    found = re.search(r"image: (\S+)", _documents("resources", "web")[0])
    return found[1] if found else ""


def _ordinary(number: int) -> str:
    head = f"# Source: shop/templates/part{number % 5}.yaml\n"
    name = f"metadata:\n  name: ordinary{number}\n  namespace: shop\n  labels:\n    app.kubernetes.io/name: shop\n"
    match number % 5:
        case 0:
            return f"""{head}apiVersion: v1
kind: ConfigMap
{name}data:
  mode: "on"
  application.properties: |
    # not a comment of YAML's
    server.port=8080
    features=a,b,c
    - looks: like an item
"""
        case 1:
            return f"""{head}apiVersion: v1
kind: Service
{name}spec:
  selector: {{app: ordinary{number}}}
  ports:
    - name: http
      port: 80
      targetPort: 8080
"""
        case 2:
            return f"{head}apiVersion: v1\nkind: ServiceAccount\n{name}"
        case 3:
            panels = "".join(
                f'      {{"id": {panel}, "title": "Requests {number * panel % 9973}", "unit": "req/s",'
                f' "expr": "sum(rate(http_requests_total{{job=\\"shop\\"}}[5m]))"}},\n'
                for panel in range(40)
            )
            return f"{head}apiVersion: v1\nkind: ConfigMap\n{name}data:\n  board.json: |\n    [\n{panels}    {{}}]\n"
        case _:
            return f"""{head}apiVersion: apps/v1
kind: Deployment
{name}spec:
  replicas: 1
  selector:
    matchLabels:
      app: ordinary{number}
  template:
    metadata:
      labels:
        app: ordinary{number}
    spec:
      containers:
        - name: app # runs on any node
          image: registry.example.com/shop/ordinary:1.0
          env:
            - name: MODE
              value: 'fast'
          ports:
            - containerPort: 8080
          readinessProbe:
            httpGet: {{path: /ready, port: 8080}}
"""


def _documents(*path: str) -> list[str]:
    """Return the documents of one file of the quickstart, without comments."""
    with open(os.path.join(QUICKSTART, *path) + ".yaml", encoding="utf-8") as file:
        text = file.read()
    bare = [re.sub(r"(?m)^\s*(#.*)?\n", "", document) for document in re.split(r"(?m)^---\n", text)]
    return [document for document in bare if document.strip()]


def _indented(text: str, first: str) -> str:
    lines = text.rstrip("\n").split("\n")
    return first + "".join(f"{line}\n" if index == 0 else f"  {line}\n" for index, line in enumerate(lines))
