"""Look up the images of a task, or report whether the lock is stale; and the options for looking up."""

import gc
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from krm_function.cli.lock_task import PinnedFiles, Task, Use, known_entries, pinned_files
from krm_function.cli.parser import Parser
from krm_function.config.image_lock import ImageFacts
from krm_function.contrast.owned import CONTAINERS
from krm_function.contrast.profiles import states_users
from krm_function.contrast.vm_size import is_sized
from krm_function.findings import Cause, Finding, finding
from krm_function.kubernetes.image import HOST, Image, other_tags, parse_image
from krm_function.kubernetes.objects import mapping
from krm_function.lock.lock_text import FOUND_AS, LAYERS, PINNED_OVER, TAGS, silent
from krm_function.lock.media import LockProblem
from krm_function.lock.pins import Pin
from krm_function.lock.resolve import LockLimits, resolve_all
from krm_function.lock.sources import FORMS, SourceOption, open_source, parse_source
from krm_function.policy.users import guest_pull_refusal, identity, unresolved_user
from krm_function.record import NamedTuple
from krm_function.schema.table import EMPTY

# --- Find the containers whose pods have to state a user that their image implies, as profile kata-4.1 requires
#
# Rule: it uses the render's own check, policy/users.py. Injected containers are left out, because a render writes their
# users.


def unstated_users(
    uses: Iterable[tuple[Image, Use]], entries: Mapping[str, Mapping[str, Any]], profile: str
) -> list[Finding]:
    """Return CC1214 once for each image and remedy, at the first container.

    entries: of the lock, by reference. profile: the name of the policy profile.
    """
    findings: dict[str, Finding] = {}
    for image, use in uses:
        container = mapping(use.workload.at(use.path[:-1]))
        entry = entries.get(str(image)) or next(
            (known_entry for name, known_entry in entries.items() if name.startswith(f"{image}@")), None
        )
        if entry is None or use.path[-1] != "image" or container.get("name") in CONTAINERS:
            continue
        facts = ImageFacts(entry["digest"], entry["config"], entry.get("passwd"), entry.get("group"))
        pod = mapping(use.workload.pod_spec.get("securityContext"))
        cause = _find_unstated(facts, mapping(container.get("securityContext")), pod)
        if cause is not None:
            about = finding(cause.code, image=str(image), profile=profile, **cause.values)
            findings.setdefault(f"{about.message}\n{about.hint}", use.place(about))
    return list(findings.values())


def _find_unstated(image: ImageFacts, container: dict[str, Any], pod: dict[str, Any]) -> Cause | None:
    """Return the users and groups that only the image states but the pod has to; None if there are none."""
    user = unresolved_user(image, container, pod)
    if user:
        return Cause("CC1214.user-number", {"user": user})
    refused = guest_pull_refusal(identity(image, container, pod), image, container, pod)
    return Cause("CC1214.unnamed", refused.values) if refused else None


# --- Look up the images of a task: the entries of its lock, the pins of its deployment's files, and what is wrong
#
# Rule: this part uses the network and writes nothing.


NOT_PINNED = "CC1201"


class LookedUp(NamedTuple):
    """entries: of the lock, by reference. pinned: the files that get digests. total: the number of images.

    fetched: the number of images that were not known before.
    """

    entries: dict[str, dict[str, Any]]
    pinned: PinnedFiles = PinnedFiles()
    findings: tuple[Finding, ...] = ()
    total: int = 0
    fetched: int = 0


def look_up(options: Namespace, task: Task, sources: Sequence[SourceOption], limits: LockLimits) -> LookedUp:
    """Look up all images of a task."""
    try:
        opened = [open_source(source, options.insecure_registry, options.jobs) for source in sources]
    except LockProblem as problem:
        return LookedUp({}, findings=(problem.finding(""),))
    limits = limits._replace(sizes=task.sizes)
    gc.enable()  # the command line disables it for renders; this may take minutes
    images = task.needs.images
    asked = [task.asked(image) for image in images]
    partial = {name: entry for name, entry in task.entries.items() if lacks(entry, sizes=task.sizes)}
    facts = {entry["digest"]: entry for name, entry in task.entries.items() if name not in partial}
    with _progress(len(asked), shown=not options.quiet) as progress:
        run = resolve_all(asked, opened, facts, limits, options.jobs, progress)
    new = [
        Pin(image, digest)
        for image, digest in zip(images, run.digests, strict=True)
        if digest and digest != image.digest
    ]
    findings: list[Finding] = []
    pinned = pinned_files(options, new, task)
    for use, about_image in zip(images.values(), run.findings, strict=True):
        findings += [use.place(about) for about in about_image if about.code != NOT_PINNED]
    findings += [images[pin.image].place(unwritten(pin)) for pin in new if pin.image not in pinned.done]
    looked_up = {
        str(image._replace(digest=digest))
        for image, digest in zip(asked, run.digests, strict=True)
        if digest and not image.digest
    }
    entries = with_tags(completed(run.entries, partial, sizes=task.sizes), task.entries, looked_up, pinned)
    unpinned = {str(pin.image) for pin in new if pin.image not in pinned.done}  # no file has their new digest
    entries |= {name: entry for name, entry in task.entries.items() if name in unpinned}
    findings += doubtful_tags(images, entries)
    findings += pinned.findings
    if states_users(task.profile):
        findings += unstated_users(task.needs.uses, entries, task.profile or "")
    return LookedUp(entries, pinned, tuple(findings), len(run.entries), run.fetched)


def with_tags(
    entries: Mapping[str, dict[str, Any]], old: Mapping[str, dict[str, Any]], asked: Collection[str], files: PinnedFiles
) -> dict[str, dict[str, Any]]:
    """Add to entries that were not looked up by tag another tag that is known for their digest, and the tags followed.

    old: entries of all locks, by reference. asked: references whose tag was looked up.
    """
    tagged = {}
    for name, entry in entries.items():
        image = parse_image(name)
        found_as = ""
        if name in old:
            found_as = old[name].get(FOUND_AS, "")
        elif isinstance(image, Image):
            tags = other_tags(image, old)
            found_as = min((_first_tag(image, tag, old) for tag in tags), default="")
        fields = {key: value for key, value in entry.items() if key not in TAGS}
        over = files.followed.get(name, old.get(name, EMPTY).get(PINNED_OVER, ""))
        fields |= {FOUND_AS: found_as} if found_as and name not in asked else {}
        tagged[name] = fields | ({PINNED_OVER: over} if over else {})
    return tagged


def _first_tag(image: Image, tag: str, all_entries: Mapping[str, dict[str, Any]]) -> str:
    first: str = all_entries.get(str(image._replace(tag=tag)), {}).get(FOUND_AS, "")
    return first if first and first != image.tag else tag


def unwritten(pin: Pin) -> Finding:
    """Return the remedy for a digest that no file has now."""
    if not pin.image.digest:
        return finding(NOT_PINNED, image=str(pin.image), digest=pin.digest, pinned=pin.pinned)
    return finding("CC1240", image=str(pin.image), tag=pin.image.tag, digest=pin.digest, pinned=pin.pinned)


def doubtful_tags(images: Mapping[Image, Use], entries: Mapping[str, dict[str, Any]]) -> list[Finding]:
    """Return CC0510 for each image whose tag was never looked up, at its first place."""
    findings = []
    for image, use in images.items():
        if found_as := entries.get(str(image), {}).get(FOUND_AS, ""):
            name = str(image._replace(digest=""))
            findings.append(use.place(finding("CC0510", image=str(image), known=found_as, tag=image.tag, name=name)))
    return findings


def lacks(entry: Mapping[str, Any], *, sizes: bool) -> bool:
    """Tell whether to look up an entry again: it has no users, or not the required sizes."""
    return silent(entry) or (sizes and not is_sized(entry.get(LAYERS)))


def completed(
    fetched: dict[str, dict[str, Any]], partial: dict[str, dict[str, Any]], *, sizes: bool
) -> dict[str, dict[str, Any]]:
    """Complete partial entries with fetched ones; what people wrote in them takes precedence.

    sizes: whether layer sizes are required; otherwise an old entry keeps its layers, or has none.
    """
    return {
        name: _complete_entry(entry, partial[name], sizes=sizes) if name in partial else entry
        for name, entry in fetched.items()
    }


def _complete_entry(entry: dict[str, Any], old: dict[str, Any], *, sizes: bool) -> dict[str, Any]:
    parts = ((key, value, source) for source in (entry, old) for key, value in source.items())
    layers_of = entry if sizes else old
    return {key: value for key, value, source in parts if value is not None and (key != LAYERS or source is layers_of)}


@contextmanager
def _progress(total: int, *, shown: bool) -> Iterator[Callable[[int], object]]:
    """Draw a bar on standard error if it is a terminal; yield a function to call with the number of images done."""
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc="images", unit="image", leave=False, file=sys.stderr) as bar:

        def step(count: int) -> None:
            bar.update(count)
            bar.refresh()  # keeps the clock running while a large layer arrives

        yield step


# --- The findings of `lock --check`: whether `lock` on the same resources would leave the lock unchanged
#
#     an image of the resources                      finding
#     has no digest                                  CC1216.tag     whatever the lock has: pods have to name the digest
#     has no entry in the lock                       CC1216.absent
#     has an entry without passwd or group           CC1216.silent
#     has an entry without required sizes            CC1216.unsized
#     has an entry whose tag was never looked up     CC0510, a warning, which `lock` repeats
#     no image uses an entry                         CC1217, with --prune
#
# Rule: nothing is fetched or written. Entries are compared by the whole reference, as a render looks them up.


def check_lock(task: Task, *, prune: bool) -> list[Finding]:
    """Compare the lock with what `lock` would write: no findings if they are equal."""
    entries = known_entries([task.file.lock] if task.file.lock else [])[0]
    lock = task.file.path
    findings = [
        use.place(finding(problem, image=str(image), lock=lock))
        for image, use in task.needs.images.items()
        if (problem := _find_problem(image, entries, sizes=task.sizes))
    ]
    findings += doubtful_tags(task.needs.images, entries)
    if prune:
        used = {str(image) for image in task.needs.images}
        findings += [finding("CC1217", file=lock, lock=lock, image=name) for name in entries if name not in used]
    return findings


def _find_problem(image: Image, entries: Mapping[str, dict[str, Any]], *, sizes: bool) -> str:
    if not image.pinned:
        return "CC1216.tag"
    entry = entries.get(str(image))
    if entry is None:
        return "CC1216.absent"
    if silent(entry):
        return "CC1216.silent"
    return "CC1216.unsized" if lacks(entry, sizes=sizes) else ""


# --- The options of `lock` and `adopt`: where images are, the limits, and the files to pin


UNITS = {"": 1, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
MOST_JOBS = 64
LONGEST_TIMEOUT = 86_400  # seconds: a day


def add_look_up(parser: Parser) -> None:
    """Add the sources of images, the limits, and the options for files of a deployment that get digests."""
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
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=4, help="images to look up at the same time (default: 4)"
    )
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
        help="also append them to the tags in this file of Helm values",
    )
    parser.add_argument(
        "--write-files",
        metavar="PATH",
        action="append",
        default=[],
        help="also append them to the image fields of this file, or of all files in this directory (repeatable)",
    )


def look_up_flags(options: Namespace) -> tuple[list[SourceOption], LockLimits, list[Finding]]:
    """Return the sources and limits of one call, and findings about its flags."""
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
