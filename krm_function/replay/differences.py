"""What of a request a condition refuses, in words: `a mount at /x that the policy does not have`.

Rule of this file: never a value of a variable or annotation, and never an argument. Said are names, numbers, users,
groups, paths, options of mounts, drivers, images and their digests, and of arguments how many and how long they are.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from krm_function.model.lookup import dig, maps
from krm_function.record import NamedTuple
from krm_function.replay.conditions import Condition
from krm_function.replay.shown import at, listed, short, shown, variable_name

PULLED = "image_guest_pull"
TOKENS = ("$(default_caps)", "$(privileged_caps)")


class Compared(NamedTuple):
    """What a condition looks at. input: the request. wanted: its container in policy_data. keys: what does not hold."""

    input: Any
    wanted: Any
    state: dict[str, Any]
    common: Any
    statement: str
    keys: tuple[Any, ...] = ()


def differences(row: Condition, one: Compared) -> Iterator[str]:  # noqa: C901 (one case for each word of `says`)
    """Yield sentences, at least one."""
    given, wanted = at(one.input, row.field), at(one.wanted, row.policy) if row.policy else None
    found: Iterable[str]
    match row.says:
        case "value":
            known = shown(wanted) if row.policy else "another"
            found = [f"the node asked for {shown(given)}; the pod was sealed with {known}"]
        case "values":
            found = [f"the node asked for {listed(given)}; the pod was sealed with {listed(wanted)}"]
        case "capabilities":
            found = _sets(_capabilities(given, one.common), _capabilities(wanted, one.common), "capability")
        case "elements":
            found = _elements(given, wanted, one)
        case "arguments":
            found = _arguments(given, wanted, one)
        case "mounts":
            found = (_mount(mount, maps(wanted)) for mount in _chosen(given, one.keys))
        case "used":
            found = ["two mounts of the request are the same one of the policy"]
        case "storages":
            found = _storages(given, wanted, one)
        case "devices":
            found = _sets(_texts(given, "container_path"), _texts(wanted, "container_path"), "device")
        case "paths":
            found = _sets(_texts(given, "Path"), _texts(wanted, "Path"), "device")
        case "required":
            found = _required(row, given, wanted, one)
        case "state":
            found = [_state(row, given, one)]
        case "role":
            found = ["the annotations that say what the container is (its type, its name, the log directory) differ"]
        case "plain" | "none":
            found = ()
    told = [sentence for sentence in found if sentence]
    yield from told or [f"the node sends something else than the policy allows ({short(one.statement)})"]


def _elements(given: Any, wanted: Any, one: Compared) -> Iterator[str]:
    for key in one.keys:
        if isinstance(given, dict):
            known = isinstance(wanted, dict) and key in wanted
            yield f"{shown(key)}: {'another value than in the policy' if known else 'not in the policy'}"
        elif isinstance(dig(given, (key,)), str):
            name = variable_name(dig(given, (key,)))
            names = {variable_name(text) for text in wanted} if isinstance(wanted, list) else set()
            other = "has another value than in the policy" if name in names else "is not in the policy"
            yield f"variable {name} {other}"
        else:
            yield f"number {key + 1 if isinstance(key, int) else shown(key)}: not in the policy"


def _arguments(given: Any, wanted: Any, one: Compared) -> Iterator[str]:
    given, wanted = _list(given), _list(wanted)
    if not one.keys and one.statement.startswith("command_permitted"):
        yield f"a command of {len(given)} words that neither a probe nor a hook of the pod has"
    elif len(given) != len(wanted):
        yield f"the node runs {len(given)} arguments, the program among them; the pod was sealed with {len(wanted)}"
    for key in one.keys:
        if isinstance(key, int) and key < len(given) and key < len(wanted):
            lengths = f"{len(str(given[key]))} characters, the policy's {len(str(wanted[key]))}"
            yield f"argument {key} differs from the policy's (it has {lengths})"


def _mount(mount: Any, wanted: list[dict[str, Any]]) -> str:
    place = dig(mount, ("destination",))
    same = [one for one in wanted if one.get("destination") == place]
    if not same:
        return f"a mount at {shown(place)} that the policy does not have"
    known = same[0]
    parts = []
    if dig(mount, ("type_",)) != known.get("type_"):
        parts.append(f"its type is {shown(dig(mount, ('type_',)))}, sealed was {shown(known.get('type_'))}")
    if dig(mount, ("options",)) != known.get("options"):
        parts.append(f"its options are {listed(dig(mount, ('options',)))}; sealed were {listed(known.get('options'))}")
    if not parts:
        parts.append(f"it comes from {shown(dig(mount, ('source',)))}, which is not where the policy has it from")
    return f"the mount at {shown(place)}: {'; '.join(parts)}"


def _storages(given: Any, wanted: Any, one: Compared) -> Iterator[str]:
    given_all, wanted_all = maps(given), maps(wanted)
    if one.statement.startswith("count"):
        yield f"the node sends {len(given_all)} storages (image and volumes); the pod was sealed with {len(wanted_all)}"
    missing = one.statement.startswith("every wanted")
    for storage in _chosen(wanted if missing else given, one.keys):
        driver = dig(storage, ("driver",))
        if missing:
            what = (
                f"image {shown(dig(storage, ('source',)))}" if driver == PULLED else f"volume of driver {shown(driver)}"
            )
            yield f"the request lacks the {what} of the policy, or has it twice"
        elif driver == PULLED:
            yield _image(storage, [other for other in wanted_all if other.get("driver") == PULLED])
        else:
            place = shown(dig(storage, ("mount_point",)))
            yield f"a volume of driver {shown(driver)} at {place} that the policy does not have"


def _image(storage: Any, wanted: list[dict[str, Any]]) -> str:
    source = dig(storage, ("source",))
    sealed = wanted[0].get("source") if wanted else None
    if not isinstance(source, str) or not isinstance(sealed, str):
        return "an image, where the policy has none"
    given_digest, wanted_digest = source.partition("@")[2], sealed.partition("@")[2]
    if not given_digest and wanted_digest:
        return (
            f"the node asked for {shown(source)}, without a digest; the pod was sealed with {shown(wanted_digest)}. "
            "containerd before 2.0 may name another reference of the image: remove the image from the node"
        )
    if given_digest != wanted_digest:
        asked, known = (shown(given_digest), shown(wanted_digest)) if wanted_digest else (shown(source), shown(sealed))
        return f"the node asked for {asked}; the pod was sealed with {known}"
    names = ("driver_options", "options", "fstype", "fs_group", "shared")
    differ = [name for name in names if dig(storage, (name,)) != wanted[0].get(name)]
    return f"the image's {', '.join(differ or ['mount point'])} differ from the policy's"


def _required(row: Condition, given: Any, wanted: Any, one: Compared) -> Iterator[str]:
    """Yield what a policy has and a request lacks."""
    if row.field == "OCI.Process.Env":
        names = {variable_name(text) for text in _list(given)}
        yield from (
            f"variable {shown(n)} of the pod is missing"
            for n in _list(dig(one.wanted, ("required_variables",)))
            if n not in names
        )
    elif row.field == "OCI.Mounts":
        places = {mount.get("destination") for mount in maps(given)}
        yield from (
            f"the mount at {shown(n)} is missing"
            for n in _list(dig(one.wanted, ("required_mounts",)))
            if n not in places
        )
    else:
        missing = [path for path in _list(wanted) if path not in _list(given)]
        if missing:
            yield f"not among them, but in the policy: {listed(missing)}"


def _state(row: Condition, given: Any, one: Compared) -> str:
    if row.field == "container_id":
        return _life(row, given, one.state.get(given) if isinstance(given, str) else None)
    before = one.state.get(row.policy)
    if row.policy == "network_namespace":
        paths = [entry.get("Path") for entry in maps(given) if entry.get("Type") == "network"]
        given = paths[0] if len(paths) == 1 else None
    return f"the node says {shown(given)}; an earlier request said {shown(before)}"


def _life(row: Condition, given: Any, known: Any) -> str:
    """Return what the state knows of a container's id: the number of the container, or that and a phase of its life."""
    name = f"the container id {shown(given)}"
    phase = known.get("phase") if isinstance(known, dict) else None
    if row.function in ("CreateContainerRequest", "complete"):
        return (
            f"{name} was used before" if known is not None else f"{name} is new, and the container runs under another"
        )
    if known is None:
        return f"{name} is not known: never created, or removed before"
    return f"{name} is that of a container which is {shown(phase)}" if phase else f"{name} is known"


def _sets(given: list[str], wanted: list[str], what: str) -> Iterator[str]:
    yield from (f"{what} {shown(name)} is not in the policy" for name in given if name not in wanted)
    yield from (f"{what} {shown(name)} of the policy is not in the request" for name in wanted if name not in given)


def _capabilities(value: Any, common: Any) -> list[str]:
    names = _list(value)
    if len(names) == 1 and names[0] in TOKENS:
        names = _list(dig(common, (names[0][2:-1],)))
    return [name.removeprefix("CAP_") for name in names if isinstance(name, str)]


def _chosen(value: Any, keys: tuple[Any, ...]) -> list[Any]:
    return [dig(value, (key,)) for key in keys if isinstance(key, int)]


def _texts(value: Any, field: str) -> list[str]:
    return [one[field] for one in maps(value) if isinstance(one.get(field), str)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
