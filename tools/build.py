"""Rule of this file: every pinned tool is built once, and a second call finds it without asking anyone.

BASIC are those of `make test`, which a contributor needs; `make test-all` wants all of TOOLS. Built in the order
of TOOLS: one that shares much with another one comes after it and not beside it, so that this is compiled once.

Builds lie in the cache (`tools/cache.py`); `golang.py` and `rust.py` know how each kind is made. Prints the directory
that holds links to all of them.
"""

import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tools import golang, rust
from tools.cache import ToolError, cache, fresh, link, link_of, linked, locked, say

Tool = golang.Tool | rust.Tool
Maker = tuple[str, Callable[[str], None]]  # the toolchain's name, and what makes the file of that path

JOBS = 2  # builds at a time: more take memory, and each uses all cores by itself
BASIC = ("kustomize", "helm3", "helm4", "kpt", "opa", "opa-cli")  # no test of `make test` asks for another one
TOOLS: tuple[Tool, ...] = (
    golang.Tool(
        "helm3",
        (
            "helm.sh/helm/v3/internal/version.version={version}",
            "helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={kube}",  # else charts render for Kubernetes 1.20
            "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor={kube}",
        ),
    ),
    golang.Tool("opa", ()),
    golang.Tool("opa-cli", ()),  # as users have it, for `policy replay`
    golang.Tool("kpt", ("main.version={version}",)),  # its groups `fn` and `live`
    golang.Tool("kustomize", ("sigs.k8s.io/kustomize/api/provenance.version=kustomize/{version}",)),
    golang.Tool("helm4", ("helm.sh/helm/v4/internal/version.version={version}",)),
    golang.Tool("registry", ("github.com/distribution/distribution/v3/version.version={version}",)),  # tests of `lock`
    golang.Tool("goyaml", ()),  # a peer of the benchmarks
    golang.Tool("containerd", ()),  # who a process of an image runs as, and what its layers make
    golang.Tool("defaults", ()),  # what the API server makes of an object
    golang.Tool("goreaders", ()),  # what kubectl, Helm and kustomize read
    golang.Tool("openpgp", ()),  # signs the Helm 4 plugin with a throwaway key
    golang.Tool("cosign", ("sigs.k8s.io/release-utils/version.gitVersion={version}",)),  # signs what --attest writes
    golang.Tool("actionlint", ("github.com/rhysd/actionlint.version={version}",)),  # `make lint`, of the workflows
    golang.Tool("argocd", ("github.com/argoproj/argo-cd/v3/common.version={version}",)),  # plugins as Argo CD runs them
    golang.Tool("flux", ()),  # what Flux applies
    golang.Tool("python312", ()),  # other CPythons, see interpreters.py
    golang.Tool("python313", ()),
    golang.Tool("python314", ()),
    rust.Tool("regorus", "regorus", ("src/lines.rs",)),  # as it is published
    rust.Tool("regorus-agent", "regorus", ("../regorus/src/lines.rs",)),  # with the limits of Kata's agent
    rust.Tool("regorus-cli", "regorus"),  # the command line of the crate's example, for `policy replay`
)


# Built only where they are wanted, by `make tools-cluster` and `make bundle`: the first takes long, and only
# tests/cluster asks for it; the other starts a bundle.
APART: tuple[Tool, ...] = (
    golang.Tool(
        "kubernetes",
        (
            "k8s.io/component-base/version.gitVersion={version}",
            "k8s.io/component-base/version.gitMajor=1",
            "k8s.io/component-base/version.gitMinor={kube}",
        ),
    ),
    golang.Tool("lws", ()),  # controllers of custom resources, which tests/cluster asks what pods they make
    golang.Tool("jobset", ()),
    golang.Tool("rollouts", ()),
    golang.Tool("sandbox", ()),
    golang.Tool("kuberay", ()),
    golang.Tool("kruise", ()),
    golang.Tool("training", ()),
    golang.Tool("trainer", ()),
    golang.Tool("launcher", ()),
)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in (*TOOLS, *APART)}


def pin(tool: Tool) -> golang.Pin | rust.Pin:
    """Read a tool's pin."""
    return golang.pin(tool) if isinstance(tool, golang.Tool) else rust.pin(tool)


def current(tool: Tool) -> str:
    """Return the path of a built tool; raise if there is none for its present pin."""
    path = link_of(tool.name)
    if not os.path.basename(os.path.dirname(os.path.realpath(path))).startswith(f"{tool.name}-{pin(tool).digest}-"):
        raise ToolError(f"{tool.name}: not built for its present pin; run `{_remedy(tool)}`")
    if not os.access(path, os.X_OK):
        raise ToolError(f"{tool.name}: {path} cannot be executed; run `{_remedy(tool)}`")
    return path


def _remedy(tool: Tool) -> str:
    if tool.name == "launcher":
        return "make bundle"
    return "make tools-cluster" if tool in APART else "make tools"


def build_all(names: Collection[str] = ()) -> str:
    """Build what is missing, two at a time, and return the directory of links. names: these alone, else all of TOOLS.

    Raises ToolError.
    """
    if unknown := [name for name in names if name not in BY_NAME]:
        raise ToolError(f"no tool is called {unknown[0]}")
    wanted = [tool for tool in BY_NAME.values() if tool.name in names] or TOOLS
    missing = [tool for tool in wanted if not _is_current(tool)]
    if missing:
        _build(missing)
    return os.path.join(cache(), "bin")


def build_one(name: str) -> str:
    """Build the tool of that name if it is missing, and return its path. Raises ToolError."""
    build_all([name])
    return current(BY_NAME[name])


def _build(tools: Sequence[Tool]) -> None:
    """Build tools, the toolchains first. One compiles while another one is linked or fetched."""
    makers = {**_go_makers(tools), **_rust_makers(tools)}
    with golang.shared_modules(), ThreadPoolExecutor(JOBS) as pool:
        running = [pool.submit(_provide, tool, *makers[tool.name]) for tool in tools]
        try:
            for one in running:
                one.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _go_makers(tools: Sequence[Tool]) -> dict[str, Maker]:
    of_go = [tool for tool in tools if isinstance(tool, golang.Tool)]
    if not of_go:
        return {}
    go = golang.toolchain(max(golang.pin(tool).go for tool in of_go))
    with locked():
        golang.install(go)
    return {tool.name: (go.name, partial(golang.build, tool, golang.pin(tool), go)) for tool in of_go}


def _rust_makers(tools: Sequence[Tool]) -> dict[str, Maker]:
    made: dict[str, Maker] = {}
    for tool in tools:
        if isinstance(tool, rust.Tool):
            cargo = rust.toolchain(rust.pin(tool).rust)
            made[tool.name] = (cargo.name, partial(rust.build, tool, rust.pin(tool), cargo))
    return made


def _is_current(tool: Tool) -> bool:
    try:
        current(tool)
    except ToolError:
        return False
    return True


def _provide(tool: Tool, toolchain: str, make: Callable[[str], None]) -> None:
    """Build and link a tool, unless it is there."""
    wanted = pin(tool)
    place = os.path.join(cache(), f"{tool.name}-{wanted.digest}-{toolchain}")
    with locked(tool.name):
        if not os.path.exists(os.path.join(place, tool.name)):
            say(f"building {tool.name} {wanted.version} with {toolchain}")
            start = time.monotonic()
            with fresh(place) as made:
                make(os.path.join(made, tool.name))
            say(f"built {tool.name} in {time.monotonic() - start:.0f} s")
        if not linked(tool.name, place):
            link(tool.name, place)


def main() -> int:
    """Build all; 0, or 1 with one line that says what is wrong."""
    try:
        print(build_all())
    except (ToolError, OSError) as error:
        say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
