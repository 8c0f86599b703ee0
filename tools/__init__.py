"""Pinned builds of the real tools: kustomize, Helm 3, Helm 4, OPA and regorus for the tests, go-yaml for benchmarks."""
