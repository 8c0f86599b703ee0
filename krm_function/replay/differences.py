"""Say in words what a condition refuses in a request: `a mount at /x that the policy does not have`.

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


def differences(row: Condition, compared: Compared) -> Iterator[str]:  # noqa: C901 (one case for each word of `says`)
    """Yield sentences, at least one."""
    asked, sealed = at(compared.input, row.field), at(compared.wanted, row.policy) if row.policy else None
    sentences: Iterable[str]
    match row.says:
        case "value":
            sealed_text = shown(sealed) if row.policy else "another"
            sentences = [f"the node asked for {shown(asked)}; the pod was sealed with {sealed_text}"]
        case "values":
            sentences = [f"the node asked for {listed(asked)}; the pod was sealed with {listed(sealed)}"]
        case "capabilities":
            sentences = _sets(
                _capabilities(asked, compared.common), _capabilities(sealed, compared.common), "capability"
            )
        case "elements":
            sentences = _elements(asked, sealed, compared)
        case "arguments":
            sentences = _arguments(asked, sealed, compared)
        case "mounts":
            sentences = (_mount(mount, maps(sealed)) for mount in _chosen(asked, compared.keys))
        case "used":
            sentences = ["two mounts of the request are the same one of the policy"]
        case "storages":
            sentences = _storages(asked, sealed, compared)
        case "devices":
            sentences = _sets(_texts(asked, "container_path"), _texts(sealed, "container_path"), "device")
        case "paths":
            sentences = _sets(_texts(asked, "Path"), _texts(sealed, "Path"), "device")
        case "required":
            sentences = _required(row, asked, sealed, compared)
        case "state":
            sentences = [_state(row, asked, compared)]
        case "role":
            sentences = [
                "the annotations that say what the container is (its type, its name, the log directory) differ"
            ]
        case "plain" | "none":
            sentences = ()
    told = [sentence for sentence in sentences if sentence]
    yield from told or [f"the node sends something else than the policy allows ({short(compared.statement)})"]


def _elements(asked: Any, sealed: Any, compared: Compared) -> Iterator[str]:
    for key in compared.keys:
        if isinstance(asked, dict):
            in_policy = isinstance(sealed, dict) and key in sealed
            yield f"{shown(key)}: {'another value than in the policy' if in_policy else 'not in the policy'}"
        elif isinstance(dig(asked, (key,)), str):
            name = variable_name(dig(asked, (key,)))
            names = {variable_name(text) for text in sealed} if isinstance(sealed, list) else set()
            other = "has another value than in the policy" if name in names else "is not in the policy"
            yield f"variable {name} {other}"
        else:
            yield f"number {key + 1 if isinstance(key, int) else shown(key)}: not in the policy"


def _arguments(asked: Any, sealed: Any, compared: Compared) -> Iterator[str]:
    asked, sealed = _list(asked), _list(sealed)
    if not compared.keys and compared.statement.startswith("command_permitted"):
        yield f"a command of {len(asked)} words that neither a probe nor a hook of the pod has"
    elif len(asked) != len(sealed):
        yield f"the node runs {len(asked)} arguments, the program among them; the pod was sealed with {len(sealed)}"
    for key in compared.keys:
        if isinstance(key, int) and key < len(asked) and key < len(sealed):
            lengths = f"{len(str(asked[key]))} characters, the policy's {len(str(sealed[key]))}"
            yield f"argument {key} differs from the policy's (it has {lengths})"


def _mount(mount: Any, sealed: list[dict[str, Any]]) -> str:
    place = dig(mount, ("destination",))
    same = [one for one in sealed if one.get("destination") == place]
    if not same:
        return f"a mount at {shown(place)} that the policy does not have"
    of_policy = same[0]
    parts = []
    if dig(mount, ("type_",)) != of_policy.get("type_"):
        parts.append(f"its type is {shown(dig(mount, ('type_',)))}, sealed was {shown(of_policy.get('type_'))}")
    if dig(mount, ("options",)) != of_policy.get("options"):
        parts.append(
            f"its options are {listed(dig(mount, ('options',)))}; sealed were {listed(of_policy.get('options'))}"
        )
    if not parts:
        parts.append(f"it comes from {shown(dig(mount, ('source',)))}, which is not where the policy has it from")
    return f"the mount at {shown(place)}: {'; '.join(parts)}"


def _storages(asked: Any, sealed: Any, compared: Compared) -> Iterator[str]:
    given_all, wanted_all = maps(asked), maps(sealed)
    if compared.statement.startswith("count"):
        yield f"the node sends {len(given_all)} storages (image and volumes); the pod was sealed with {len(wanted_all)}"
    missing = compared.statement.startswith("every wanted")
    for storage in _chosen(sealed if missing else asked, compared.keys):
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


def _image(storage: Any, sealed_storages: list[dict[str, Any]]) -> str:
    source = dig(storage, ("source",))
    sealed = sealed_storages[0].get("source") if sealed_storages else None
    if not isinstance(source, str) or not isinstance(sealed, str):
        return "an image, where the policy has none"
    given_digest, wanted_digest = source.partition("@")[2], sealed.partition("@")[2]
    if not given_digest and wanted_digest:
        return (
            f"the node asked for {shown(source)}, without a digest; the pod was sealed with {shown(wanted_digest)}. "
            "containerd before 2.0 may name another reference of the image: remove the image from the node"
        )
    if given_digest != wanted_digest:
        asked, policy_text = (
            (shown(given_digest), shown(wanted_digest)) if wanted_digest else (shown(source), shown(sealed))
        )
        return f"the node asked for {asked}; the pod was sealed with {policy_text}"
    names = ("driver_options", "options", "fstype", "fs_group", "shared")
    differ = [name for name in names if dig(storage, (name,)) != sealed_storages[0].get(name)]
    return f"the image's {', '.join(differ or ['mount point'])} differ from the policy's"


def _required(row: Condition, asked: Any, sealed: Any, compared: Compared) -> Iterator[str]:
    """Yield what a policy has and a request lacks."""
    if row.field == "OCI.Process.Env":
        names = {variable_name(text) for text in _list(asked)}
        yield from (
            f"variable {shown(n)} of the pod is missing"
            for n in _list(dig(compared.wanted, ("required_variables",)))
            if n not in names
        )
    elif row.field == "OCI.Mounts":
        places = {mount.get("destination") for mount in maps(asked)}
        yield from (
            f"the mount at {shown(n)} is missing"
            for n in _list(dig(compared.wanted, ("required_mounts",)))
            if n not in places
        )
    else:
        missing = [path for path in _list(sealed) if path not in _list(asked)]
        if missing:
            yield f"not among them, but in the policy: {listed(missing)}"


def _state(row: Condition, asked: Any, compared: Compared) -> str:
    if row.field == "container_id":
        return _life(row, asked, compared.state.get(asked) if isinstance(asked, str) else None)
    before = compared.state.get(row.policy)
    if row.policy == "network_namespace":
        paths = [entry.get("Path") for entry in maps(asked) if entry.get("Type") == "network"]
        asked = paths[0] if len(paths) == 1 else None
    return f"the node says {shown(asked)}; an earlier request said {shown(before)}"


def _life(row: Condition, asked: Any, container: Any) -> str:
    """Return what the state knows of a container's id: the number of the container, or that and a phase of its life."""
    name = f"the container id {shown(asked)}"
    phase = container.get("phase") if isinstance(container, dict) else None
    if row.function in ("CreateContainerRequest", "complete"):
        return (
            f"{name} was used before"
            if container is not None
            else f"{name} is new, and the container runs under another"
        )
    if container is None:
        return f"{name} is not known: never created, or removed before"
    return f"{name} is that of a container which is {shown(phase)}" if phase else f"{name} is known"


def _sets(asked: list[str], sealed: list[str], what: str) -> Iterator[str]:
    yield from (f"{what} {shown(name)} is not in the policy" for name in asked if name not in sealed)
    yield from (f"{what} {shown(name)} of the policy is not in the request" for name in sealed if name not in asked)


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
