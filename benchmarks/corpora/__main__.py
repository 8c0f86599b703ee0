"""`python -m benchmarks.corpora DIR...`: what a render refuses of the charts, kustomizations and YAML files of others.

Rule of this file: a directory is one corpus. Images are not looked up (plant.py), so nothing here
needs a network. A workload that occurs twice counts once.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from benchmarks.corpora.applications import applications
from benchmarks.corpora.plant import Key, planted
from benchmarks.corpora.proof import Proof, proof
from benchmarks.corpora.stages import Errors, staged
from benchmarks.corpora.table import Measured, Totals, json_of, text_of
from krm_function.text.errors import YamlError
from krm_function.text.writer import dump

DEVICES = ("nvidia.com/", "amd.com/gpu", "gpu.intel.com/", "habana.ai/")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora", description=__doc__)
    parser.add_argument("directories", metavar="DIR", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true", help="print figures for programs")
    parser.add_argument("--no-proof", action="store_true", help="judge alone, and render nothing")
    arguments = parser.parse_args()
    totals = [measured(one, prove=not arguments.no_proof) for one in arguments.directories]
    sys.stdout.write(json_of(totals) if arguments.json else text_of(totals))


def measured(top: Path, *, prove: bool) -> Totals:
    """Measure one directory."""
    count, problems = 0, Counter[str]()
    workloads: dict[str, Measured] = {}
    proofs: list[Proof] = []
    for one in applications(top.resolve()):
        if one.problem:
            problems[f"{one.form}: {one.problem}"] += 1
            continue
        if "containers" not in one.text:
            continue
        try:
            if not planted(one.text, lambda _: True).workloads:
                continue
            found = staged(one.text)
        except YamlError:
            problems[f"{one.form}: is no YAML"] += 1
            continue
        if found.stopped:
            problems[f"{one.form}: the input as a whole is refused, {', '.join(found.stopped)}"] += 1
            continue
        count += 1
        for key, first in found.first.items():
            shape = dump(found.planted.workloads[key].pod_spec) if key in found.planted.workloads else str(key)
            errors = (first, found.adopted[key], found.last[key])
            workloads.setdefault(f"{key[0]}\n{shape}", Measured(errors, _with_gpu(shape), key in found.keys))
        if prove:
            proofs.append(proof(one.text, found, _accepted(found.adopted)))
    return Totals(top.resolve().name, count, problems, list(workloads.values()), proofs)


def _accepted(errors: Errors) -> set[Key]:
    return {key for key, found in errors.items() if not found}


def _with_gpu(shape: str) -> bool:
    return any(device in shape for device in DEVICES)


if __name__ == "__main__":
    main()
