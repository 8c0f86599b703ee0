"""Parse the service mesh annotations.

Rule of this file: one split per separator, no backtracking, every text capped. Contrast passes any text on to the
proxy, which then fails inside the VM; here a value that is not valid as a whole is refused. Sources:
docs/facts/contrast.md#annotations, docs/facts/contrast.md#service-mesh.

    ingress    "" (all ports, TLS) | DISABLED | in ("##" in)*      in  = name "#" port "#" disableTLS
    egress     out ("##" out)*                                     out = name "#" listenIP ":" port "#" host ":" port
    admin      port
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from krm_function.findings import Cause
from krm_function.kubernetes.workload import PREFIX

INGRESS = PREFIX + "servicemesh-ingress"
EGRESS = PREFIX + "servicemesh-egress"
ADMIN_PORT = PREFIX + "servicemesh-admin-interface-port"
KEYS = (INGRESS, EGRESS, ADMIN_PORT)
DISABLED = "DISABLED"
LONGEST = 16 * 1024  # characters of a value
NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,126}[A-Za-z0-9])?"
OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
LOOPBACK = rf"127\.{OCTET}\.{OCTET}\.{OCTET}"
HOST = r"[A-Za-z0-9_]+(?:-+[A-Za-z0-9_]+)*(?:\.[A-Za-z0-9_]+(?:-+[A-Za-z0-9_]+)*)*\.?"
IPV6 = r"\[[0-9A-Fa-f:.]{2,45}\]"


def asks_for_mesh(annotations: Mapping[str, Any]) -> bool:
    """Whether a pod with these annotations gets the service mesh, unless it is the coordinator."""
    return any(key in annotations for key in KEYS)


Problems = tuple[tuple[str, Cause], ...]
"""Problems: the key of an annotation, and CC0204 with a variant, or CC0205; never its value."""


def read_mesh(annotations: Mapping[str, Any]) -> tuple[int | None, Problems]:
    """Read the mesh annotations of one pod template: the admin port, None without one, and every problem."""
    problems: list[tuple[str, Cause]] = []

    def text(key: str, longest: int = LONGEST) -> str | None:
        value = annotations.get(key)
        if key not in annotations:
            return None
        if not isinstance(value, str):
            problems.append((key, Cause("CC0204.string")))
        elif len(value) > longest:
            problems.append((key, Cause("CC0204.length", {"limit": longest})))
        else:
            return value
        return None

    port, of_texts = _read(text(INGRESS), text(EGRESS), text(ADMIN_PORT))
    return port, (*problems, *of_texts)


@lru_cache(maxsize=64)
def _read(ingress: str | None, egress: str | None, admin: str | None) -> tuple[int | None, Problems]:
    """Read the three texts, None for an absent one or no text. Cached: several stages read those of every pod."""
    problems: list[tuple[str, Cause]] = []
    ports: set[int] = set()
    if ingress is not None and ingress != DISABLED:
        incoming, wrong = _ingress(_entries(ingress))
        problems += [(INGRESS, cause) for cause in wrong]
        ports |= incoming
    if egress is not None:
        outgoing, wrong = _egress(_entries(egress))
        problems += [(EGRESS, cause) for cause in wrong]
        ports |= outgoing
    port = None
    if admin is not None:
        port = _port(admin)
        if port is None:
            problems.append((ADMIN_PORT, Cause("CC0204.admin-port")))
        if port in ports:
            problems.append((ADMIN_PORT, Cause("CC0204.admin-port-used", {"port": port})))
    return port, tuple(problems)


def _entries(value: str) -> list[str]:
    return value.split("##") if value else []


def _ingress(entries: list[str]) -> tuple[set[int], list[Cause]]:
    """Return the ports of the entries without a problem, and all problems."""
    taken: set[int] = set()
    problems: list[Cause] = []
    names: set[str] = set()
    ports: set[int] = set()
    for number, entry in enumerate(entries, 1):
        parts = entry.split("#", 3)
        if entry == DISABLED:
            problems.append(_wrong("CC0204.disabled", number))
            continue
        if len(parts) != 3:
            problems.append(_wrong("CC0204.ingress", number))
            continue
        name, port, disable_tls = parts[0], _port(parts[1]), {"true": True, "false": False}.get(parts[2])
        wrong = _name_problem(name, names, number)
        if port is None:
            wrong.append(_wrong("CC0204.port", number))
        elif port in ports:
            wrong.append(_wrong("CC0204.port-twice", number, port=port))
        if disable_tls is None:
            wrong.append(_wrong("CC0204.disable-tls", number))
        problems += wrong
        if port is not None and disable_tls is not None:
            ports.add(port)
            if not wrong:
                taken.add(port)
    return taken, problems


def _egress(entries: list[str]) -> tuple[set[int], list[Cause]]:
    """Return the local ports of the entries without a problem, and all problems."""
    taken: set[int] = set()
    problems: list[Cause] = [] if entries else [Cause("CC0205")]
    names: set[str] = set()
    listeners: set[str] = set()
    for number, entry in enumerate(entries, 1):
        parts = entry.split("#", 3)
        if len(parts) != 3:
            problems.append(_wrong("CC0204.egress", number))
            continue
        name, listener, remote = parts
        listen, _, text = listener.rpartition(":")
        port = _port(text)
        wrong = _name_problem(name, names, number)
        if not re.fullmatch(LOOPBACK, listen):
            wrong.append(_wrong("CC0204.listen-address", number))
        if port is None:
            wrong.append(_wrong("CC0204.listen-port", number))
        if listener in listeners:
            wrong.append(_wrong("CC0204.listen-twice", number))
        wrong += _remote_problem(remote, number)
        listeners.add(listener)
        problems += wrong
        if port is not None and not wrong:
            taken.add(port)
    return taken, problems


def _wrong(code: str, entry: int, **values: int) -> Cause:
    """Make the cause for one entry, counted from 1."""
    return Cause(code, {"entry": entry, **values})


def _name_problem(name: str, names: set[str], entry: int) -> list[Cause]:
    """List the faults of an entry's name, and remember it."""
    if not re.fullmatch(NAME, name):
        return [_wrong("CC0204.name", entry)]
    if name in names:
        return [_wrong("CC0204.name-twice", entry)]
    names.add(name)
    return []


def _remote_problem(remote: str, entry: int) -> list[Cause]:
    host, colon, port = remote.rpartition(":")
    wrong = [] if colon and _port(port) is not None else [_wrong("CC0204.remote-port", entry)]
    host = host if colon else remote
    numeric = re.fullmatch(r"[0-9.]+", host) is not None
    pattern = rf"{OCTET}(?:\.{OCTET}){{3}}" if numeric else HOST
    if len(host) > 253 or not (re.fullmatch(pattern, host) or re.fullmatch(IPV6, host)):
        wrong.append(_wrong("CC0204.remote-host", entry))
    return wrong


def _port(text: str) -> int | None:
    """Parse a port in plain decimal; None for anything else."""
    if len(text) > 5 or not text.isascii() or not text.isdecimal() or text.startswith("0"):
        return None
    return int(text) if int(text) <= 65535 else None
