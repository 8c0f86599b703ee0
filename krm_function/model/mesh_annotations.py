"""The service mesh annotations: their grammars, and what is wrong with a value.

Rule of this file: one split per separator, no backtracking, every text capped. Contrast passes any text
on to the proxy, which then fails inside the VM; here a value is understood whole or refused. Sources:
docs/facts/contrast.md#annotations, docs/facts/contrast.md#service-mesh.

    ingress    "" (all ports, TLS) | DISABLED | in ("##" in)*      in  = name "#" port "#" disableTLS
    egress     out ("##" out)*                                     out = name "#" listenIP ":" port "#" host ":" port
    admin      port
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from krm_function.model.workload import PREFIX
from krm_function.record import NamedTuple

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


class Ingress(NamedTuple):
    """One port that the proxy takes over."""

    name: str
    port: int
    disable_tls: bool


class Egress(NamedTuple):
    """One remote service that is reached through a local address."""

    name: str
    listen: str  # IPv4 loopback address
    port: int
    remote: str  # host:port


class Mesh(NamedTuple):
    """The three annotations of one pod, read. None: the annotation is absent."""

    ingress: tuple[Ingress, ...] | None = None
    ingress_disabled: bool = False
    egress: tuple[Egress, ...] | None = None
    admin_port: int | None = None


class MeshProblem(NamedTuple):
    """What is wrong with the annotation `key`: lower case, no full stop, never the value itself."""

    key: str
    problem: str


class ReadMesh(NamedTuple):
    """The mesh and every problem; entries with a problem are left out."""

    mesh: Mesh
    problems: tuple[MeshProblem, ...] = ()


def read_mesh(annotations: Mapping[str, Any]) -> ReadMesh:
    """Read the mesh annotations of one pod template. Never raises."""
    problems: list[MeshProblem] = []

    def text(key: str, longest: int = LONGEST) -> str | None:
        value = annotations.get(key)
        if key not in annotations:
            return None
        if not isinstance(value, str):
            problems.append(MeshProblem(key, "must be a string"))
        elif len(value) > longest:
            problems.append(MeshProblem(key, f"is longer than {longest} characters"))
        else:
            return value
        return None

    read = _read(text(INGRESS), text(EGRESS), text(ADMIN_PORT))
    return ReadMesh(read.mesh, (*problems, *read.problems))


@lru_cache(maxsize=64)
def _read(ingress: str | None, egress: str | None, admin: str | None) -> ReadMesh:
    """The same from the three texts, None for what is absent or no text. Several stages ask for every pod."""
    problems: list[MeshProblem] = []
    mesh = Mesh()
    if ingress == DISABLED:
        mesh = mesh._replace(ingress=(), ingress_disabled=True)
    elif ingress is not None:
        found, wrong = _ingress(_entries(ingress))
        problems += [MeshProblem(INGRESS, problem) for problem in wrong]
        mesh = mesh._replace(ingress=found)
    if egress is not None:
        outgoing, wrong = _egress(_entries(egress))
        problems += [MeshProblem(EGRESS, problem) for problem in wrong]
        mesh = mesh._replace(egress=outgoing)
    if admin is not None:
        port = _port(admin)
        if port is None:
            problems.append(MeshProblem(ADMIN_PORT, "must be a port between 1 and 65535"))
        taken = {entry.port for entry in mesh.ingress or ()} | {entry.port for entry in mesh.egress or ()}
        if port in taken:
            problems.append(MeshProblem(ADMIN_PORT, f"port {port} is used by an ingress or egress entry"))
        mesh = mesh._replace(admin_port=port)
    return ReadMesh(mesh, tuple(problems))


def _entries(value: str) -> list[str]:
    return value.split("##") if value else []


def _ingress(entries: list[str]) -> tuple[tuple[Ingress, ...], list[str]]:
    found: list[Ingress] = []
    problems: list[str] = []
    names: set[str] = set()
    ports: set[int] = set()
    for number, entry in enumerate(entries, 1):
        parts = entry.split("#", 3)
        if entry == DISABLED:
            problems.append(f"entry {number}: {DISABLED} stands alone or not at all")
            continue
        if len(parts) != 3:
            problems.append(f"entry {number} must be name#port#disableTLS")
            continue
        name, port, disable_tls = parts[0], _port(parts[1]), {"true": True, "false": False}.get(parts[2])
        wrong = _name_problem(name, names)
        if port is None:
            wrong.append("the port must be between 1 and 65535")
        elif port in ports:
            wrong.append(f"port {port} is used twice")
        if disable_tls is None:
            wrong.append("disableTLS must be true or false")
        problems += [f"entry {number}: {problem}" for problem in wrong]
        if port is not None and disable_tls is not None:
            ports.add(port)
            if not wrong:
                found.append(Ingress(name, port, disable_tls))
    return tuple(found), problems


def _egress(entries: list[str]) -> tuple[tuple[Egress, ...], list[str]]:
    found: list[Egress] = []
    problems: list[str] = [] if entries else ["is empty"]
    names: set[str] = set()
    listeners: set[str] = set()
    for number, entry in enumerate(entries, 1):
        parts = entry.split("#", 3)
        if len(parts) != 3:
            problems.append(f"entry {number} must be name#listenIP:port#host:port")
            continue
        name, listener, remote = parts
        listen, _, text = listener.rpartition(":")
        port = _port(text)
        wrong = _name_problem(name, names)
        if not re.fullmatch(LOOPBACK, listen):
            wrong.append("the listen address must be in 127.0.0.0/8")
        if port is None:
            wrong.append("the listen port must be between 1 and 65535")
        if listener in listeners:
            wrong.append("the listen address and port are used twice")
        wrong += _remote_problem(remote)
        listeners.add(listener)
        problems += [f"entry {number}: {problem}" for problem in wrong]
        if port is not None and not wrong:
            found.append(Egress(name, listen, port, remote))
    return tuple(found), problems


def _name_problem(name: str, names: set[str]) -> list[str]:
    """List the faults of an entry's name, and remember it."""
    if not re.fullmatch(NAME, name):
        return ["the name must be 1 to 128 letters, digits, '-', '_' or '.'"]
    if name in names:
        return ["the name is used twice"]
    names.add(name)
    return []


def _remote_problem(remote: str) -> list[str]:
    host, colon, port = remote.rpartition(":")
    wrong = [] if colon and _port(port) is not None else ["the remote must end in :port, between 1 and 65535"]
    host = host if colon else remote
    numeric = re.fullmatch(r"[0-9.]+", host) is not None
    pattern = rf"{OCTET}(?:\.{OCTET}){{3}}" if numeric else HOST
    if len(host) > 253 or not (re.fullmatch(pattern, host) or re.fullmatch(IPV6, host)):
        wrong.append("the remote host must be a DNS name or an IP address")
    return wrong


def _port(text: str) -> int | None:
    """A port in plain decimal, or None."""
    if len(text) > 5 or not text.isascii() or not text.isdecimal() or text.startswith("0"):
        return None
    return int(text) if int(text) <= 65535 else None
