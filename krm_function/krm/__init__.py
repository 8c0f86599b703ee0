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
    from krm_function.krm.config import config_map_data as config_map_data
    from krm_function.krm.config import read_config as read_config
    from krm_function.krm.fields import Fields as Fields
    from krm_function.krm.fields import StringMap as StringMap
    from krm_function.krm.fields import SubObject as SubObject
    from krm_function.krm.kube_object import KubeObject as KubeObject
    from krm_function.krm.predicates import Predicate as Predicate
    from krm_function.krm.predicates import has_annotations as has_annotations
    from krm_function.krm.predicates import has_labels as has_labels
    from krm_function.krm.predicates import is_gvk as is_gvk
    from krm_function.krm.predicates import is_kind as is_kind
    from krm_function.krm.predicates import is_name as is_name
    from krm_function.krm.predicates import is_namespace as is_namespace
    from krm_function.krm.predicates import not_ as not_
    from krm_function.krm.predicates import where as where
    from krm_function.krm.predicates import where_not as where_not
    from krm_function.krm.process import Function as Function
    from krm_function.krm.process import as_main as as_main
    from krm_function.krm.process import execute as execute
    from krm_function.krm.process import run as run
    from krm_function.krm.resource_list import ResourceList as ResourceList
    from krm_function.krm.resource_list import is_resource_list as is_resource_list
    from krm_function.krm.result import Field as Field
    from krm_function.krm.result import FieldError as FieldError
    from krm_function.krm.result import FieldPath as FieldPath
    from krm_function.krm.result import File as File
    from krm_function.krm.result import FunctionError as FunctionError
    from krm_function.krm.result import MisuseError as MisuseError
    from krm_function.krm.result import NotAResourceListError as NotAResourceListError
    from krm_function.krm.result import ResourceRef as ResourceRef
    from krm_function.krm.result import Result as Result
    from krm_function.krm.result import Severity as Severity
    from krm_function.krm.results import Results as Results
    from krm_function.krm.ruamel_edit import ruamel_edit as ruamel_edit

_FILES = {
    "config": ("config_map_data", "read_config"),
    "fields": ("Fields", "StringMap", "SubObject"),
    "kube_object": ("KubeObject",),
    "predicates": (
        *("Predicate", "has_annotations", "has_labels", "is_gvk", "is_kind", "is_name", "is_namespace"),
        *("not_", "where", "where_not"),
    ),
    "process": ("Function", "as_main", "execute", "run"),
    "resource_list": ("ResourceList", "is_resource_list"),
    "result": (
        *("Field", "FieldError", "FieldPath", "File", "FunctionError", "MisuseError", "NotAResourceListError"),
        *("ResourceRef", "Result", "Severity"),
    ),
    "results": ("Results",),
    "ruamel_edit": ("ruamel_edit",),
}
_FILE_OF = {name: file for file, names in _FILES.items() for name in names}
__all__ = list(_FILE_OF)


def __getattr__(name: str) -> object:
    """Load a file of the package when one of its names is first used: a render of this project needs few of them."""
    if name not in _FILE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_FILE_OF[name]}"), name)
    globals()[name] = value
    return value
