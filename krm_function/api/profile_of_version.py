"""Choose the policy profile of a render: that of the ContrastGenerate, compared with the nodes of the ContrastRelease.

Rule of this file: a policy is for the nodes of one Contrast release. Another release's profile is an error, a profile
for other nodes than Contrast's a warning.

    ContrastGenerate policy.profile    profile of the release             the profile of the render
    not set                            P                                  P
    not set                            none, the release is too old       none, CC0650
    P                                  P                                  P
    one that narrows P (strict)        P                                  that one
    of another Contrast release        P                                  none, CC0652
    of any Contrast release            none, the release is too old       none, CC0650
    of no Contrast release (kata-4.1)  any, or none                       that one, CC0653 names what it does not bind

    ContrastRelease policyProfile      version                            the profile of the release
    P                                  any                                P, CC0651 if the version is newer
    not set                            v0.0.0, nothing imported           the default
    not set                            of a release that is known         its profile
    not set                            newer                              the newest, CC0651 if the render uses it
    not set                            older                              none, CC0650
"""

from collections.abc import Sequence

from krm_function.api.records import API_VERSION, NO_VERSION, Generate, Release
from krm_function.findings import Finding, Path, Ref, finding
from krm_function.model.profiles import DEFAULT, PROFILES, RELEASED, Profile, ProfileName, profile_of_release

Chosen = tuple[Profile | None, tuple[Finding, ...]]

VERSION_PATH: Path = ("spec", "version")
PROFILE_PATH: Path = ("spec", "policy", "profile")


def chosen_profile(
    wanted: ProfileName | None,
    release: Release,
    generate: str = Generate().name,
    profiles: Sequence[Profile] = tuple(PROFILES.values()),
    released: Sequence[Profile] = RELEASED,
) -> Chosen:
    """Return the profile of a render, None with an error.

    wanted: policy.profile of the ContrastGenerate. generate: its name. profiles: all there are. released: those of
    Contrast releases, oldest first.
    """
    asked = None if wanted is None else _named(wanted, profiles)
    own, findings = profile_of(release, released)
    if asked is None:
        return own, findings
    if asked.release is None:
        return asked, (_unbound(asked, generate),)
    if own is None or asked.release == own.release:
        return (None if own is None else asked), findings
    return None, (_other(asked, own, release, generate),)


def profile_of(release: Release, released: Sequence[Profile] = RELEASED) -> Chosen:
    """Return the profile of the nodes of a release, None with an error."""
    if release.version == NO_VERSION and not release.policy_profile:
        return DEFAULT, ()
    named = _named(release.policy_profile, released) if release.policy_profile else None
    found, problems = _newer(named, release.version) if named else profile_of_version(release.version, released)
    ref = release.ref
    return found, tuple(problem._replace(ref=ref, path=VERSION_PATH) for problem in problems)


def profile_of_version(version: str, released: Sequence[Profile] = RELEASED) -> Chosen:
    """Return the profile of the nodes of a Contrast version; CC0650 if it is too old, CC0651 if it is newer than all.

    version: such as v1.25.0.
    """
    found, _ = profile_of_release(version, released)
    if found is None:
        return None, (finding("CC0650", version=version, oldest=_number(released[0])),)
    return _newer(found, version)


def _newer(profile: Profile, version: str) -> tuple[Profile, tuple[Finding, ...]]:
    """Return a profile, and CC0651 if the version is newer than its release."""
    if not profile_of_release(version, (profile,))[1]:
        return profile, ()
    return profile, (finding("CC0651", version=version, newest=_number(profile), profile=profile.name),)


def _other(asked: Profile, own: Profile, release: Release, generate: str) -> Finding:
    """Make CC0652: the policies would be for the nodes of another release."""
    return finding(
        "CC0652",
        _generate(generate),
        PROFILE_PATH,
        profile=asked.name,
        other=_number(asked),
        version=release.version,
        right=own.name,
    )


def _unbound(asked: Profile, generate: str) -> Finding:
    """Make CC0653: what a policy for other nodes than Contrast's leaves to the host."""
    bound = {
        "the images of containers": asked.binds_images,
        "the files at a VOLUME of an image": asked.refuses_volumes,
    }
    left = " and ".join(what for what, yes in bound.items() if not yes)
    return finding("CC0653", _generate(generate), PROFILE_PATH, profile=asked.name, what=left or "nothing")


def _generate(name: str) -> Ref:
    return Ref(API_VERSION, "ContrastGenerate", "", name)


def _named(name: str, profiles: Sequence[Profile]) -> Profile:
    return next(profile for profile in profiles if profile.name == name)


def _number(profile: Profile) -> str:
    """Write `1.25`."""
    return ".".join(map(str, profile.release or ()))
