"""Pinned builds of the real tools the tests run: kustomize, Helm 3, Helm 4, OPA, regorus."""
