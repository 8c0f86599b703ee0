"""Write a KRM function for kustomize and kpt in Python, as with the kpt functions SDK for Go.

    import sys
    from krm_function.krm import ResourceList, as_main, config_map_data, is_kind, not_, where

    def set_namespace(resources: ResourceList) -> None:
        "Move every object into the namespace that the functionConfig names."
        config = config_map_data(resources.function_config) or {}
        for item in where(resources.items, not_(is_kind("Namespace", "Kptfile"))):
            item.set_nested(("metadata", "namespace"), config.get("namespace", "default"))
        resources.results.infof("%d objects are in place", len(resources.items))

    if __name__ == "__main__":
        sys.exit(as_main(set_namespace))

What the function does not touch leaves as the same bytes: comments, order, quotes. On failure the input leaves as it
came, with the results. This room knows nothing of Contrast.
"""

from krm_function.krm.errors import FunctionError, NotAResourceListError
from krm_function.krm.function_config import config_map_data
from krm_function.krm.kube_object import KubeObject
from krm_function.krm.resource_list import ResourceList, is_resource_list
from krm_function.krm.result import Field, File, ResourceRef, Result, Results
from krm_function.krm.run import Function, as_main, execute, run
from krm_function.krm.selectors import (
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

__all__ = [
    "Field",
    "File",
    "Function",
    "FunctionError",
    "KubeObject",
    "NotAResourceListError",
    "Predicate",
    "ResourceList",
    "ResourceRef",
    "Result",
    "Results",
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
    "run",
    "where",
    "where_not",
]
