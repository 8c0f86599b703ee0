"""Made-up next releases: what they inject otherwise than this one, one change each, and all of them together.

A change is only of what is injected. `append` is what a release that makes it must do besides: keep the old shape in
its table, and put the new one behind it.
"""

from collections.abc import Callable
from typing import Any

import pytest

from krm_function.contrast import injected, owned
from krm_function.contrast import injected as image_store
from krm_function.contrast import injected as initializer
from krm_function.contrast import injected as mesh_sidecar
from krm_function.render import inject
from krm_function.render import proof as undo_rules

Json = dict[str, Any]
Change = Callable[[pytest.MonkeyPatch], None]

HOLDER_COMMAND = ("/bin/sleep", "infinity")
MEMORY_DIRECTORY = {"medium": "Memory", "sizeLimit": "1Mi"}
SECRETS_PATH = "/run/contrast"
SCRATCH: Json = {"name": "contrast-secrets", "mountPath": "/scratch", "mountPropagation": "HostToContainer"}


def _mesh_args(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(mesh_sidecar, "MESH_ARGS", ["-l", "info"])


def _state_path(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(initializer, "STATE", "/mnt/state")


def _holder_command(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(image_store, "HOLDER_COMMAND", HOLDER_COMMAND)


def _memory_directory(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(injected, "MEMORY_DIRECTORY", MEMORY_DIRECTORY)


def _secrets_path(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(injected, "SECRETS_PATH", SECRETS_PATH)


def _container(patch: pytest.MonkeyPatch, name: str, **fields: Any) -> None:
    """Give an injected container further fields, and further entries in its lists."""
    make = getattr(inject, name)

    def changed(*arguments: Any, **options: Any) -> Json:
        made: Json = make(*arguments, **options)
        return made | {
            key: [*made.get(key, ()), *value] if isinstance(value, list) else value for key, value in fields.items()
        }

    patch.setattr(inject, name, changed)


def _initializer_process(patch: pytest.MonkeyPatch) -> None:
    _container(patch, "initializer", command=["/bin/initializer"], args=["--once"])


def _mesh_command(patch: pytest.MonkeyPatch) -> None:
    _container(patch, "service_mesh", command=["/bin/proxy"])


def _variables_and_mounts(patch: pytest.MonkeyPatch) -> None:
    for name in ("initializer", "service_mesh"):
        _container(patch, name, env=[{"name": "NEXT", "value": "1"}], volumeMounts=[SCRATCH])


def _memory(patch: pytest.MonkeyPatch) -> None:
    for name in ("initializer", "service_mesh", "pvc_holder"):
        amounts = {"memory": "64Mi"}
        _container(patch, name, resources={"requests": amounts, "limits": amounts})


CHANGES: dict[str, Change] = {
    change.__name__.strip("_").replace("_", " "): change
    for change in (
        *(_mesh_args, _mesh_command, _initializer_process, _state_path, _holder_command, _memory_directory),
        *(_secrets_path, _variables_and_mounts, _memory),
    )
}
# Known by its shape, not by a name of Contrast's: a version that has not heard of it cannot tell it from a user's own.
BY_SHAPE = ("holder command", "memory directory", "secrets path")


def append(patch: pytest.MonkeyPatch) -> None:
    """Put the new shapes behind the old ones in the tables of what is known by its shape."""
    appended = ((image_store.PVC_HOLDER, (HOLDER_COMMAND, None)), (mesh_sidecar.SERVICE_MESH, (None, ("-l", "info"))))
    for container, process in appended:
        patch.setitem(owned.PROCESSES, container, (*owned.PROCESSES[container], process))
    patch.setattr(undo_rules, "STATE_PATHS", (*initializer.STATE_PATHS, "/mnt/state"))
    for name, shape in (("MEMORY_DIRECTORIES", MEMORY_DIRECTORY), ("SECRETS_PATHS", SECRETS_PATH)):
        patch.setattr(injected, name, (*getattr(injected, name), shape))


def next_release(patch: pytest.MonkeyPatch) -> None:
    """Make the next release of this one: every change, and the tables."""
    for change in CHANGES.values():
        change(patch)
    append(patch)
