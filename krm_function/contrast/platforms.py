"""The confidential platforms, and the names of runtime classes for them."""

import re
from collections.abc import Container, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from krm_function.record import NamedTuple
from krm_function.schema.check import nearest
from krm_function.schema.values import Path

# --- The closed set of confidential platforms: add a platform here
#
# Source: docs/facts/contrast.md#platforms.


class Platform(NamedTuple):
    """One platform. name: as in runtime class names. marker: as in the manifest's `Platform` field.

    rtmr0_by_vcpus: whether the first of the VM's measurements depends on its number of vCPUs (TDX only).
    """

    name: str
    marker: str
    tee: Literal["snp", "tdx"]
    gpu: bool
    rtmr0_by_vcpus: bool = False


PLATFORMS: Mapping[str, Platform] = MappingProxyType(
    {
        platform.name: platform
        for platform in (
            Platform("metal-qemu-snp", "Metal-QEMU-SNP", "snp", gpu=False),
            Platform("metal-qemu-snp-gpu", "Metal-QEMU-SNP-GPU", "snp", gpu=True),
            Platform("metal-qemu-tdx", "Metal-QEMU-TDX", "tdx", gpu=False, rtmr0_by_vcpus=True),
            Platform("metal-qemu-tdx-gpu", "Metal-QEMU-TDX-GPU", "tdx", gpu=True),  # of one vCPU, always
        )
    }
)


def find_platform(name: str) -> Platform | None:
    """Find the platform of this name, letter case ignored as in `contrast generate --reference-values`."""
    return PLATFORMS.get(name.lower())


def with_gpu(platform: Platform) -> Platform:
    """Return the variant of the same TEE with GPU; for a GPU platform, itself."""
    return platform if platform.gpu else PLATFORMS[platform.name + "-gpu"]


# --- Parse runtimeClassNames: a placeholder of a platform or of the default one, a handler, or a name of others
#
# Rule: a name that is not matched exactly is unknown; nothing defaults. Source:
# docs/facts/contrast.md#runtime-class-names, narrowed where Contrast's prefix test would accept a typo.


Parsed = Platform | Literal["bare", "insecure", "unknown", "foreign"]
"""bare: the configuration names the platform. insecure: Contrast's class without confidential computing.

unknown: looks like one of Contrast's and is none. foreign: not Contrast's.
"""
BARE = "contrast-cc"
LEGACY_BARE = "kata-cc-isolation"
FIELD = "runtimeClassName"
NAME_IN_TEXT = rf"(?<![A-Za-z0-9-])(?:{BARE}[a-z0-9-]*|{LEGACY_BARE})(?![A-Za-z0-9])"
LONGEST_PLACEHOLDER = 64  # characters, with blanks around it
LONGEST_HASH = 16
HASH = rf"(?!gpu)[0-9a-z]{{1,{LONGEST_HASH}}}"  # of a handler


def placeholder(platform: Platform) -> str:
    """Return the runtimeClassName that requests this platform."""
    return f"{BARE}-{platform.name}"


def handler_pattern(platform: Platform) -> str:
    """Return the regex of the handlers that a release may have for this platform."""
    return f"{placeholder(platform)}-{HASH}"


def is_handler_of(platform: Platform, name: str) -> bool:
    """Tell whether a name fits `handler_pattern`."""
    beginning = f"{placeholder(platform)}-"
    return name.startswith(beginning) and re.fullmatch(HASH, name[len(beginning) :]) is not None


def parse_runtime_class(name: str) -> Parsed:
    """Classify a runtimeClassName. Never raises.

    Truth table (first row that matches; <p> a platform, <h> 1..16 of [0-9a-z], letter case ignored unless noted):

    name                                   answer       why
    contrast-cc            (exact case)    bare         the configured platform
    kata-cc-isolation      (exact case)    bare         old spelling of the same
    contrast-cc-<p>                        Platform     ...-snp-gpu is the GPU platform, never snp with hash "gpu"
    contrast-cc-<p>-<h>                    Platform     handler of this or an older release; rewritten either way
    contrast-cc-<p>-gpu<any>               unknown      Contrast reads the GPU platform, the grammar one without:
                                                        two readings of one name, so none
    contrast-insecure...                   insecure     refused here, in any spelling
    contrast-...                           unknown      a typo must not run as an unsealed pod
    contrast, contrast_cc, contrast.cc,    unknown      same; refused before Kubernetes does
      contrastcc, Contrast-CC, " contrast-cc", Kata-CC-Isolation
    anything else, ""                      foreign      if no such class exists Kubernetes refuses the pod
    """
    if name in {BARE, LEGACY_BARE}:
        return "bare"
    folded = name.lower()
    if folded.startswith(BARE + "-") and name.isascii():
        return _parse_explicit(folded.removeprefix(BARE + "-")) or "unknown"
    if folded.startswith("contrast-insecure"):
        return "insecure"
    return "unknown" if _means_contrast(folded.strip()) else "foreign"


def _parse_explicit(rest: str) -> Platform | None:
    """Read `<platform>` or `<platform>-<hash>`, lower case."""
    if rest in PLATFORMS:
        return PLATFORMS[rest]
    name, _, suffix = rest.rpartition("-")
    return PLATFORMS.get(name) if re.fullmatch(HASH, suffix) else None


def _means_contrast(folded: str) -> bool:
    if folded == LEGACY_BARE:
        return True
    if not folded.startswith("contrast"):
        return False
    rest = folded.removeprefix("contrast")
    return not rest[:1].isalpha() or rest.startswith(("cc", "insecure"))


def is_contrast_name(name: str) -> bool:
    """Tell whether a pod of this runtime class is Contrast's: to be sealed, or refused."""
    return parse_runtime_class(name) != "foreign"


def is_placeholder(name: str) -> bool:
    """Tell whether a render must replace this name: Contrast's, but not contrast-cc-<platform>-<hash>, a handler."""
    parsed = parse_runtime_class(name)
    return name.lower() == placeholder(parsed) if isinstance(parsed, Platform) else parsed != "foreign"


def is_handler(name: str) -> bool:
    """Tell whether a name is a release's handler: a platform and a hash."""
    return isinstance(parse_runtime_class(name), Platform) and not is_placeholder(name)


def suggest_placeholder(name: str) -> str:
    """Return the placeholder that is closest to a name, or ""."""
    placeholders = (BARE, *(placeholder(platform) for platform in PLATFORMS.values()))
    return nearest(name.strip().replace("_", "-").replace(".", "-"), placeholders)


def placeholders_in(text: str) -> list[str]:
    """Return the placeholders among the words of a text."""
    return [name for name in re.findall(NAME_IN_TEXT, text) if is_placeholder(name)]


def reads_like_placeholder(text: str) -> bool:
    """Tell whether a text was meant as a placeholder: equal to one but for case, blanks, `_` and `.`."""
    if len(text) > LONGEST_PLACEHOLDER:
        return False
    folded = text.strip().lower().replace("_", "-").replace(".", "-")
    prefix, _, platform = folded.partition(BARE + "-")
    return folded in {BARE, LEGACY_BARE} or (not prefix and platform in PLATFORMS)


def reads_like_field(key: str) -> bool:
    """Tell whether a key was meant as `runtimeClassName`: equal to it, in another case, or one letter off."""
    folded = key.lower().replace("-", "").replace("_", "")
    if "runtime" not in folded and "classname" not in folded:
        return False
    return any(_is_one_edit_away(folded, field) for field in (FIELD.lower(), "runtimeclass"))


def _is_one_edit_away(a: str, b: str) -> bool:
    """Tell whether at most one letter is missing, extra, different, or swapped with the next."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    exchanged = a[1::-1] + a[2:]
    return b in (a, exchanged) or a[1:] in (b, b[1:]) or a == b[1:]


def contrast_names_in(value: Any, path: Path = (), without: Container[Path] = ()) -> Iterator[tuple[Path, str]]:
    """Yield the values that ask for a class of Contrast's in an object of any kind, with paths. path: that of `value`.

    without: paths to skip.

    Any name of Contrast's below a key that reads like `runtimeClassName`, and text that reads like a placeholder,
    anywhere: a value or a key.
    """
    if path in without:
        return
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from contrast_names_in(part, (*path, index), without)
    elif isinstance(value, dict):
        for key, part in value.items():
            below = (*path, key)
            if isinstance(key, str) and reads_like_placeholder(key):
                yield below, key
            if isinstance(part, str) and isinstance(key, str) and reads_like_field(key) and is_contrast_name(part):
                yield below, part
            else:
                yield from contrast_names_in(part, below, without)
    elif isinstance(value, str) and reads_like_placeholder(value):
        yield path, value
