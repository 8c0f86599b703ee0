"""The examples as a user would apply them: what reaches the cluster, and with which configuration it was rendered."""

from typing import Any, NamedTuple

from krm_function.text.parse import parse
from krm_function.text.split import split_stream
from tests.hosts.running import EXAMPLES

NAMES = ("contrast.yaml", "images.yaml", "release.yaml")
LOCAL = "config.kubernetes.io/local-config"


class Example(NamedTuple):
    """Rendered output, and the configuration of its render."""

    rendered: str
    config: str

    @property
    def options(self) -> list[str]:
        """The configuration as options."""
        return [part for name in NAMES for part in ("--config", str(EXAMPLES / self.config / name))]

    def applied(self) -> list[dict[str, Any]]:
        """What reaches a cluster."""
        text = (EXAMPLES / self.rendered).read_text()
        values = [parse(chunk.of(text)).value for chunk in split_stream(text)]
        return [value for value in values if value and LOCAL not in (value["metadata"].get("annotations") or {})]


APPLIED = [
    Example("quickstart/expected/rendered.yaml", "quickstart/config"),
    Example("multi-runtime/expected/rendered.yaml", "multi-runtime/config"),
    Example("gpu/expected/rendered.yaml", "gpu/config"),
    Example("every-field/expected/rendered.yaml", "every-field/config"),
    Example("strict/expected/rendered.yaml", "strict/config"),
    Example("kustomize/expected/rendered.yaml", "kustomize/confidential"),
    Example("kustomize-legacy/expected/rendered.yaml", "kustomize-legacy"),
    Example("helm/expected/helm3.yaml", "helm/config"),
    Example("helm/expected/helm4.yaml", "helm/config"),
    Example("kpt/expected/rendered.yaml", "kpt"),
]
