"""What changes between two Contrast releases for one deployment: runtimes of its platforms, measurements, images.

Rule of this file: facts of both releases and of the workloads; no command, no cluster.
"""

from collections.abc import Iterator, Mapping, Sequence

from krm_function.api.profile_of_version import profile_of
from krm_function.api.records import PlatformRelease, Release
from krm_function.findings import Finding, Ref, finding
from krm_function.record import NamedTuple


class PlatformChange(NamedTuple):
    """One platform that workloads are on. before, after: its handlers. measured: its reference values are others."""

    name: str
    before: str
    after: str
    measured: bool
    workloads: tuple[Ref, ...]


class Change(NamedTuple):
    """From one release to another. images: names in the image map whose image is another one.

    coordinator: the one of this deployment, None if another deployment has it. profiles: of the policies, before and
    after, "" where a release names none that is known.
    """

    before: str
    after: str
    platforms: tuple[PlatformChange, ...]
    images: tuple[str, ...]
    profiles: tuple[str, str]
    workloads: tuple[Ref, ...]
    coordinator: Ref | None = None

    @property
    def handlers(self) -> Mapping[str, str]:
        """The handlers of the present release, with those that take their place."""
        return {one.before: one.after for one in self.platforms if one.before != one.after}


def change_between(
    before: Release, after: Release, workloads: Sequence[tuple[Ref, str]], coordinator: Ref | None
) -> tuple[Change, list[Finding]]:
    """Compare two releases. workloads: each with the name of its platform."""
    findings: list[Finding] = []
    platforms = []
    for name in sorted({platform for _, platform in workloads}):
        refs = tuple(ref for ref, platform in workloads if platform == name)
        if name not in after.platforms:
            known = ", ".join(sorted(after.platforms)) or "none"
            findings += [finding("CC1377", ref, version=after.version, name=name, known=known) for ref in refs]
        elif name in before.platforms:
            old, new = before.platforms[name], after.platforms[name]
            platforms.append(PlatformChange(name, old.handler, new.handler, _values(old) != _values(new), refs))
    images = tuple(sorted(_other_images(before, after)))
    profiles = [profile_of(one)[0] for one in (before, after)]
    names = tuple(profile.name if profile else "" for profile in profiles)
    change = Change(
        before.version,
        after.version,
        tuple(platforms),
        images,
        (names[0], names[1]),
        tuple(ref for ref, _ in workloads),
        coordinator,
    )
    moved = images or change.handlers or any(one.measured for one in platforms)
    if not findings and not (workloads and moved):
        code = "CC1378.same" if workloads else "CC1378.nothing"
        findings.append(finding(code, before=before.version, after=after.version))
    if workloads and coordinator is None:
        findings.append(finding("CC1380"))
    return change, findings


def _values(of: PlatformRelease) -> tuple[object, ...]:
    return of.snp, of.tdx, of.rtmr0_by_vcpu


def _other_images(before: Release, after: Release) -> Iterator[str]:
    for name in before.images.keys() | after.images.keys():
        if before.images.get(name) != after.images.get(name):
            yield name
