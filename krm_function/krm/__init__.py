"""Write a KRM function for kustomize and kpt in Python, as with the kpt functions SDK for Go.

    import sys
    from typing import NamedTuple
    from krm_function.krm import ResourceList, as_main, is_kind, read_config, where

    class SetNamespace(NamedTuple):
        namespace: str

    def set_namespace(resources: ResourceList) -> None:
        "Move workloads and what they need into a namespace: kpt fn eval -- namespace=shop"
        config = read_config(resources.function_config, SetNamespace)
        for item in where(resources.items, is_kind("ConfigMap", "Deployment", "Service")):
            item.namespace = config.namespace
            resources.results.info(f"moved to {config.namespace}", item, ("metadata", "namespace"))

    if __name__ == "__main__":
        sys.exit(as_main(set_namespace))

What the function does not change leaves as the same bytes: comments, order, quotes. On failure the input leaves as it
came, with the results. This package knows nothing of Contrast. docs/how-to/write-a-function.md is its manual.

Rule of this package: the names in `__all__` are its public interface, and change only with a new minor version and a
line in the changelog; everything else may change at any time. Values that an object returns are live.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_function.krm.config import config_map_data, read_config
    from krm_function.krm.fields import Fields, StringMap, SubObject
    from krm_function.krm.kube_object import KubeObject
    from krm_function.krm.predicates import (
        Predicate,
        has_annotations,
        has_labels,
        is_gvk,
        is_kind,
        is_name,
        is_namespace,
        not_,
        where,
        where_not,
    )
    from krm_function.krm.process import Function, as_main, execute, run
    from krm_function.krm.resource_list import ResourceList, is_resource_list
    from krm_function.krm.result import (
        Field,
        FieldError,
        FieldPath,
        File,
        FunctionError,
        MisuseError,
        NotAResourceListError,
        ResourceRef,
        Result,
        Severity,
    )
    from krm_function.krm.results import Results
    from krm_function.krm.ruamel_edit import ruamel_edit

__all__ = [
    "Field",
    "FieldError",
    "FieldPath",
    "Fields",
    "File",
    "Function",
    "FunctionError",
    "KubeObject",
    "MisuseError",
    "NotAResourceListError",
    "Predicate",
    "ResourceList",
    "ResourceRef",
    "Result",
    "Results",
    "Severity",
    "StringMap",
    "SubObject",
    "as_main",
    "config_map_data",
    "execute",
    "has_annotations",
    "has_labels",
    "is_gvk",
    "is_kind",
    "is_name",
    "is_namespace",
    "is_resource_list",
    "not_",
    "read_config",
    "ruamel_edit",
    "run",
    "where",
    "where_not",
]

_FILES = {
    "config": ("config_map_data", "read_config"),
    "fields": ("Fields", "StringMap", "SubObject"),
    "kube_object": ("KubeObject",),
    "predicates": (
        "Predicate",
        "has_annotations",
        "has_labels",
        "is_gvk",
        "is_kind",
        "is_name",
        "is_namespace",
        "not_",
        "where",
        "where_not",
    ),
    "process": ("Function", "as_main", "execute", "run"),
    "resource_list": ("ResourceList", "is_resource_list"),
    "result": (
        "Field",
        "FieldError",
        "FieldPath",
        "File",
        "FunctionError",
        "MisuseError",
        "NotAResourceListError",
        "ResourceRef",
        "Result",
        "Severity",
    ),
    "results": ("Results",),
    "ruamel_edit": ("ruamel_edit",),
}
_FILE_OF = {name: file for file, names in _FILES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a file of the package when one of its names is first used: a render of this project needs few of them."""
    if name not in _FILE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_FILE_OF[name]}"), name)
    globals()[name] = value
    return value
