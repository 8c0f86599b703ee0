"""Write a KRM function for kustomize and kpt in Python, as with the kpt functions SDK for Go.

    import sys
    from krm_function.krm import FunctionError, ResourceList, as_main, config_map_data, is_kind, where

    def set_namespace(resources: ResourceList) -> None:
        "Move workloads and what they need into a namespace: kpt fn eval -- namespace=shop"
        namespace = (config_map_data(resources.function_config) or {}).get("namespace")
        if not namespace:
            raise FunctionError("functionConfig: data.namespace is missing")
        for item in where(resources.items, is_kind("ConfigMap", "Deployment", "Service")):
            item.set_nested(("metadata", "namespace"), namespace)
            resources.results.append(item.result("moved", "info", ("metadata", "namespace")))

    if __name__ == "__main__":
        sys.exit(as_main(set_namespace))

What the function does not touch leaves as the same bytes: comments, order, quotes. On failure the input leaves as it
came, with the results. This package knows nothing of Contrast.
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
