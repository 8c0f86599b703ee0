"""Pinned builds of the real tools: kustomize, Helm, OPA, regorus and others for the tests, go-yaml for benchmarks."""
