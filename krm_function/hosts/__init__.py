"""Codecs: what each host hands over becomes resources, and what a render says becomes what the host expects.

Rule of this package: a host never decides anything about a workload. kustomize and kpt speak ResourceList, Helm and the
legacy kustomize plugin speak a stream of documents, and files are streams with names.
"""
