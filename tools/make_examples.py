"""Write the release, the image locks and the coordinator of the examples: made up, but the same on every machine.

    python -m tools.make_examples           write release.yaml, images.yaml and coordinator.yaml into every example
    python -m tools.make_examples --check   write nothing; exit 1 and name every file that is not as it would be written

The facts are those of tools/example_release.py. Kustomize and kpt read nothing outside their root, hence one copy per
example instead of one for all.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from tools import release_assets
from tools.example_release import (
    CONTRAST,
    COORDINATOR,
    EXAMPLES,
    PATH,
    POLICY_PROFILE,
    RELEASED,
    SUFFIX,
    VERSION,
    Image,
    platform,
    read,
)
from tools.release_assets import INSTALLERS, PAUSE, pinned

REGISTRY = "registry.example.com/shop/"
PINNED = re.compile(r"[a-z0-9][\w.:/-]*@sha256:[0-9a-f]{64}\b")
HANDLER = re.compile(r"contrast-cc-metal-qemu-[a-z-]+-([0-9a-f]{8})\b")

ROOT_PASSWD = "root:x:0:0:root:/root:/sbin/nologin\n"  # noqa: S105  an account file, no password
ROOT_GROUP = "root:x:0:\n"
NONROOT_PASSWD = ROOT_PASSWD + "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"
NONROOT_GROUP = ROOT_GROUP + "nonroot:x:65532:\n"


def shop(name: str, program: str, *arguments: str) -> Image:
    """Describe an image with one static program that runs as `nonroot`."""
    config = {
        "User": "65532",
        "Env": [PATH, "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
        "Entrypoint": [program],
        "Cmd": list(arguments),
        "WorkingDir": "/home/nonroot",
    }
    return Image(REGISTRY + name, {key: value for key, value in config.items() if value}, NONROOT_PASSWD, NONROOT_GROUP)


POSTGRES = Image(
    REGISTRY + "postgres:17.2",
    {
        "User": "postgres",
        "Env": [PATH, "LANG=en_US.utf8", "PGDATA=/var/lib/postgresql/data"],
        "Entrypoint": ["docker-entrypoint.sh"],
        "Cmd": ["postgres"],
        "WorkingDir": "/",
    },
    ROOT_PASSWD + "postgres:x:999:999:PostgreSQL:/var/lib/postgresql:/bin/bash\n",
    ROOT_GROUP + "ssl-cert:x:101:postgres\npostgres:x:999:\n",
)
TOOLS = Image(
    REGISTRY + "tools:3.0.0",
    {
        "Env": [PATH, "TOOLS_HOME=/opt/tools"],
        "Entrypoint": ["/opt/tools/run"],
        "Cmd": ["--help"],
        "WorkingDir": "/opt/tools",
        "Volumes": {"/var/lib/tools": {}},
    },
    ROOT_PASSWD,
    ROOT_GROUP,
)
REPORT = Image(REGISTRY + "report:1.1.0", {"Env": [PATH], "Cmd": ["/bin/sh"], "WorkingDir": "/work"})
ASSISTANT = Image(  # an application on Ray's own image
    REGISTRY + "assistant:1.4.0",
    {"User": "1000", "Env": [PATH, "HOME=/home/ray"], "Cmd": ["/bin/bash"], "WorkingDir": "/home/ray"},
    ROOT_PASSWD + "ray:x:1000:1000::/home/ray:/bin/bash\n",
    ROOT_GROUP + "ray:x:1000:\n",
)

IMAGES = {
    **RELEASED,
    "web": shop("web:2.3.1", "/bin/web", "serve"),
    "payments": shop("payments:1.9.0", "/bin/payments"),
    "recommendations": shop("recommendations:0.4.2", "/bin/recommend", "--device=cuda"),
    "gpu-metrics": shop("gpu-metrics:1.3.0", "/bin/gpu-metrics"),
    "postgres": POSTGRES,
    "report": REPORT,
    "tools": TOOLS,
    "landing": shop("landing:5.0.3", "/bin/landing"),
    "vllm": shop("vllm:0.11.2", "/opt/vllm/serve"),
    "assistant": ASSISTANT,
}
INJECTED = ("coordinator", "initializer", "service-mesh-proxy")

# Where a release and a lock go, and which images of the confidential pods there the lock has to know.
LOCKS: dict[str, tuple[str, ...]] = {
    "custom-resources/config": (*INJECTED, "assistant", "landing", "vllm"),
    "every-field/config": (*INJECTED, "tools", "web"),
    "gpu/config": (*INJECTED, "gpu-metrics", "recommendations"),
    "helm/config": (*INJECTED, "web"),
    "kpt": (*INJECTED, "web"),
    "kustomize-legacy": (*INJECTED, "web"),
    "kustomize/confidential": (*INJECTED, "web"),
    "multi-runtime/config": (*INJECTED, "payments", "report", "web"),
    "quickstart/config": (*INJECTED, "payments", "postgres", "recommendations", "report", "web"),
    "strict/config": (*INJECTED, "web"),
}
COORDINATOR_COPIES = (
    "custom-resources/resources/coordinator.yaml",
    "every-field/resources/coordinator.yaml",
    "gpu/resources/coordinator.yaml",
    "kpt/coordinator.yaml",
    "kustomize-legacy/coordinator.yaml",
    "kustomize/confidential/coordinator.yaml",
    "multi-runtime/resources/coordinator.yaml",
    "strict/resources/coordinator.yaml",
)
FROM_SCRATCH = "from-scratch"  # the files of a release, and a shop that is not wired yet
TWO_PLATFORMS = ("metal-qemu-snp", "metal-qemu-snp-gpu")
CHART_COORDINATOR = "helm/chart/templates/coordinator.yaml"


def modeline(place: str, kind: str) -> str:
    """Return the line by which an editor finds the schema of a file in a directory below examples/."""
    up = "../" * (len(place.split("/")) + 1)
    return f"# yaml-language-server: $schema={up}krm_function/api/schemas/{kind}.json\n"


def release() -> str:
    """Return the text of release.yaml."""
    names = ("metal-qemu-snp", "metal-qemu-snp-gpu", "metal-qemu-tdx", "metal-qemu-tdx-gpu")
    spec = {
        "version": VERSION,
        "policyProfile": POLICY_PROFILE,
        "platforms": {name: platform(name) for name in names},
        "images": {f"{CONTRAST}{name}:latest": image.reference for name, image in RELEASED.items()},
    }
    return document(
        "ContrastRelease",
        VERSION,
        spec,
        "What contrast-krm has to know of one Contrast release.\n"
        "Made up: not the values of a real release. For real ones see docs/how-to/release-and-lock.md.",
    )


def lock(names: tuple[str, ...]) -> str:
    """Return the text of images.yaml for some images, sorted by reference."""
    entries: dict[str, Any] = {}
    for image in sorted(IMAGES[name] for name in names):
        facts: dict[str, Any] = {"digest": image.digest, "config": image.config}
        facts |= {"passwd": image.passwd, "group": image.group}
        entries[image.reference] = facts
    return document(
        "ImageLock",
        "images",
        {"images": entries},
        "What the policy has to know of each image, named as the rendered pods name it.\n"
        "Made up: no registry has these images. For a real one see docs/how-to/release-and-lock.md.",
    )


def document(kind: str, name: str, spec: dict[str, Any], comment: str) -> str:
    """Return one configuration object as text."""
    metadata = {"name": name, "annotations": {"config.kubernetes.io/local-config": "true"}}
    value = {"apiVersion": "contrast-krm.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    lines = [f"# {line}" for line in comment.splitlines()]
    written = "# Written by tools/make_examples.py."
    return "\n".join([*lines, written, *block(value, "")]) + "\n"


def block(value: dict[str, Any] | list[Any], indent: str) -> Iterator[str]:
    """Yield the lines of a non-empty map or list in block style; a string is quoted wherever it could be misread."""
    if isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                first, *rest = block(entry, indent + "  ")
                yield f"{indent}- {first.lstrip()}"
                yield from rest
            else:
                yield f"{indent}- {scalar(entry)}"
        return
    for key, entry in value.items():
        if entry == {}:
            yield f"{indent}{scalar(key)}: {{}}"
        elif isinstance(entry, dict | list):
            yield f"{indent}{scalar(key)}:"
            yield from block(entry, indent + "  ")
        elif "\n" in entry:
            yield f"{indent}{scalar(key)}: |"
            yield from (f"{indent}  {line}" for line in entry.splitlines())
        else:
            yield f"{indent}{scalar(key)}: {scalar(entry)}"


def scalar(text: str) -> str:
    """Return a word, path or image as it is, anything else (hex digits above all) in double quotes."""
    plain = re.fullmatch(r"[A-Za-z/][\w./@:=-]*|\d+Mi", text) and not re.fullmatch(r"[0-9a-f]+|.*:", text)
    return text if plain and text not in {"true", "false", "null"} else json.dumps(text)


def files() -> dict[str, str]:
    """Return every file this script writes: path below examples/ -> text."""
    made = {f"{place}/release.yaml": modeline(place, "ContrastRelease") + release() for place in LOCKS}
    made |= {f"{place}/images.yaml": modeline(place, "ImageLock") + lock(names) for place, names in LOCKS.items()}
    for place in LOCKS:
        options, line = f"{place}/contrast.yaml", modeline(place, "ContrastGenerate")
        made[options] = line + read(options).removeprefix(line)  # the rest of it is written by hand
    made |= {f"{FROM_SCRATCH}/assets/{name}": text for name, text in release_assets.files(*TWO_PLATFORMS).items()}
    made[f"{FROM_SCRATCH}/images.yaml"] = modeline(FROM_SCRATCH, "ImageLock") + lock((*INJECTED, "web"))
    coordinator = read(COORDINATOR)
    made |= dict.fromkeys(COORDINATOR_COPIES, coordinator)
    made[CHART_COORDINATOR] = coordinator.replace("namespace: shop\n", "namespace: {{ .Release.Namespace }}\n")
    return made


def problems() -> Iterator[str]:
    """Yield one line for every file that differs, and for every pinned image or handler that is not of this script."""
    for path, text in files().items():
        if read(path) != text:
            yield f"{path}: not as tools/make_examples.py writes it"
    known = {image.reference for image in IMAGES.values()} | {PAUSE, *map(pinned, INSTALLERS)}
    for folder, _, names in sorted(os.walk(EXAMPLES)):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), EXAMPLES)
            if not name.endswith((".yaml", ".yml")) or "expected" in path.split(os.sep):
                continue
            text = read(path)
            for reference in sorted(set(PINNED.findall(text)) - known):
                yield f"{path}: {reference} is not an image of tools/make_examples.py"
            for suffix in sorted(set(HANDLER.findall(text)) - {SUFFIX}):
                yield f"{path}: handlers end in {SUFFIX}, not in {suffix}"


def main(arguments: list[str]) -> int:
    """Write, or check with `--check`; 0 if all is well, 1 if something differs, 2 for a wrong call."""
    if arguments not in ([], ["--check"]):
        print("usage: make_examples.py [--check]", file=sys.stderr)
        return 2
    if not arguments:
        for path, text in files().items():
            os.makedirs(os.path.dirname(os.path.join(EXAMPLES, path)), exist_ok=True)
            with open(os.path.join(EXAMPLES, path), "w", encoding="utf-8") as handle:
                handle.write(text)
    found = list(problems())
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
