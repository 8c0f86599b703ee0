"""Codecs: decode the input of each host to resources, and encode the result of a render as the host expects it.

Rule of this package: a codec never decides anything about a workload. kustomize and kpt use ResourceLists, Helm and the
legacy kustomize plugin use streams of documents, and files are streams with names.
"""
