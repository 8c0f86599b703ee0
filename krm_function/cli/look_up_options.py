"""The options of every command that looks images up: where they are, the limits, and what is pinned on the way.

Rule of this file: an option means the same in each of these commands, so it is declared and checked once, here.
"""

import re
from argparse import Namespace
from typing import Any

from krm_function.cli.parser import LONGEST_TIMEOUT, Parser
from krm_function.findings import Finding, finding
from krm_function.kubernetes.image import HOST
from krm_function.lock.resolve import LockLimits
from krm_function.lock.sources import FORMS, SourceOption, parse_source

UNITS = {"": 1, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
MOST_JOBS = 64


def add_look_up(parser: Parser) -> None:
    """Add where images are, limits, and the files of a deployment that get their digests."""
    parser.add_argument(
        "--from",
        dest="source",
        metavar="SOURCE",
        action="append",
        default=[],
        help="where images are: registry (the default), oci:PATH (a layout, directory or tar) or docker-archive:PATH; "
        "repeatable, tried in this order",
    )
    parser.add_argument(
        "--insecure-registry",
        metavar="HOST",
        action="append",
        default=[],
        help="use plain HTTP for this registry, host or host:port (repeatable)",
    )
    parser.add_argument(
        "--max-layer-size", metavar="SIZE", default="8Gi", help="refuse images with a larger layer (default: 8Gi)"
    )
    parser.add_argument(
        "--sizes",
        action="store_true",
        help="read every layer, for the memory that it takes in a VM, also of images that are in the lock already; "
        "memory: calculate in the configuration does the same",
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=4, help="images at a time (default: 4)")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, default=900, help="time for one image (default: 900)")
    parser.add_argument(
        "--write-kustomize",
        metavar="FILE|DIR",
        default="",
        help="also write the digests of images without one, or with an older one, into images: of this kustomization, "
        "beside their tags",
    )
    parser.add_argument(
        "--write-values",
        metavar="FILE",
        default="",
        help="also write them into this file of Helm values, behind their tags",
    )
    parser.add_argument(
        "--write-files",
        metavar="PATH",
        action="append",
        default=[],
        help="also write them into the image fields of this file, or of all files in this directory, behind their tags "
        "(repeatable)",
    )


def look_up_flags(options: Namespace) -> tuple[list[SourceOption], LockLimits, list[Finding]]:
    """Return the sources and limits of one call, and what is wrong with its flags."""
    misused: list[Finding] = []

    def refuse(code: str, option: str, **values: Any) -> None:
        misused.append(finding(code, option=option, **values))

    sources = []
    for text in options.source or ["registry"]:
        source = parse_source(text)
        if source is None:
            refuse("CC0909.source", "--from", known=", ".join(FORMS[:-1]), last=FORMS[-1])
        else:
            sources.append(source)
    for host in options.insecure_registry:
        if not re.fullmatch(rf"{HOST}(?::[0-9]{{1,5}})?", host):
            refuse("CC0909.registry", "--insecure-registry")
    size = re.fullmatch(r"([1-9][0-9]{0,12})(Ki|Mi|Gi)?", options.max_layer_size)
    if size is None:
        refuse("CC0909.layer-size", "--max-layer-size")
    if not 1 <= options.jobs <= MOST_JOBS:
        refuse("CC0909.jobs", "--jobs", limit=MOST_JOBS)
    if not 1 <= options.timeout <= LONGEST_TIMEOUT:
        refuse("CC0909.timeout", "--timeout", limit=LONGEST_TIMEOUT)
    limit = int(size[1]) * UNITS[(size[2] or "").lower()] if size else 0
    return sources, LockLimits(limit, float(options.timeout)), misused
