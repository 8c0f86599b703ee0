"""The programs we measure ourselves against, each on the bytes that ours reads.

Rule of this file: a peer is a real program that does the least of its kind: load and dump, identity, build without us.
"""

import os
import sys

from benchmarks.inputs import written
from benchmarks.measure import Program
from tools.real import tool

_PYYAML = """
import gc, sys, yaml
gc.disable()
documents = list(yaml.load_all(sys.stdin.buffer.read(), yaml.CSafeLoader))
yaml.dump_all(documents, sys.stdout, yaml.CSafeDumper, sort_keys=False)
"""
_RUAMEL = """
import sys
from ruamel.yaml import YAML
yaml = YAML()
yaml.dump_all(list(yaml.load_all(sys.stdin.buffer.read())), sys.stdout)
"""


def interpreter(stdin: str) -> Program:
    """Start and stop of the interpreter itself."""
    return Program("python -c pass", (sys.executable, "-c", "pass"), stdin)


def pyyaml(stdin: str) -> Program:
    """Load and dump with libyaml, comments and quotes lost, the collector off as in ours."""
    return Program("PyYAML C load and dump", (sys.executable, "-c", _PYYAML), stdin)


def ruamel(stdin: str) -> Program:
    """Load and dump by the round trip that keeps comments."""
    return Program("ruamel.yaml round trip", (sys.executable, "-c", _RUAMEL), stdin)


def kpt_cat(stdin: str) -> Program:
    """Return an identity function in kpt, a ResourceList in and out."""
    return Program("kpt fn eval - --exec cat", (tool("kpt"), "fn", "eval", "-", "--exec", "/bin/cat"), stdin)


def goyaml(stdin: str) -> Program:
    """Every document through yaml.Node of go-yaml v3 and back."""
    return Program("go-yaml identity", (tool("goyaml"),), stdin)


def kustomize(directory: str, resources: str) -> Program:
    """`kustomize build` of the same resources without us."""
    root = f"{written(directory, resources)}-build"
    os.makedirs(root, exist_ok=True)
    written(root, "resources: [resources.yaml]\n", "kustomization.yaml")
    written(root, resources, "resources.yaml")
    return Program("kustomize build", (tool("kustomize"), "build", root), os.devnull)
