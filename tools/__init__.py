"""Pinned builds of the real tools: for tests kustomize, Helm, OPA, regorus, containerd, for benchmarks go-yaml."""
