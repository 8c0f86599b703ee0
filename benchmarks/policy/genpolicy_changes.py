"""The changes of one field of a pod that two generators may read in different ways.

Rule of this file: a change takes a random source, the pod spec and one of its containers, and alters these two in
place. Its name without underscores says what it does. Some bring in a field that a generator ends at.
"""

import random
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Change = Callable[[random.Random, Json, Json], object]


def _a_variable(rng: random.Random, _: Json, container: Json) -> None:
    _set(container, rng.choice(["FIRST", "PATH", "HOME"]), rng.choice(["", "x", "a=b", "grün", "{}'''"]))


def _two_variables_of_a_name(_: random.Random, __: Json, container: Json) -> None:
    _set(container, "FIRST", "one")
    _set(container, "FIRST", "two")


def _a_reference(rng: random.Random, _: Json, container: Json) -> None:
    _set(container, "FIRST", "one")
    texts = ["$(FIRST)", "$(NOBODY) $(FIRST)", "$$(FIRST)", "$(THIRD)", "$(FIRST)$(FIRST)", "a=$(FIRST)", "$(HOSTNAME)"]
    _set(container, "SECOND", rng.choice(texts))
    _set(container, "THIRD", "three")


def _a_reference_in_args(rng: random.Random, _: Json, container: Json) -> None:
    _set(container, "FIRST", "one")
    container["args"] = [rng.choice(["$(FIRST)", "$(NOBODY) $(FIRST)", "$$(FIRST)", "100$", "$(POD)"])]


def _a_field(rng: random.Random, _: Json, container: Json) -> None:
    paths = ["metadata.name", "metadata.namespace", "metadata.uid", "status.hostIP", "status.podIP", "status.podIPs"]
    paths += ["spec.nodeName", "spec.serviceAccountName", "metadata.labels['app']", "metadata.annotations['nothing']"]
    _from(container, "POD", {"fieldRef": {"fieldPath": rng.choice(paths)}})


def _a_resource(rng: random.Random, _: Json, container: Json) -> None:
    _from(container, "CPUS", {"resourceFieldRef": {"resource": rng.choice(["limits.cpu", "requests.memory"])}})


def _a_key(rng: random.Random, _: Json, container: Json) -> None:
    key = rng.choice(["COLOUR", "RULE", "REFERS", "missing"])
    _from(container, "LOOK", {"configMapKeyRef": {"name": "changed", "key": key, "optional": rng.random() < 0.5}})


def _a_secret_key(_: random.Random, __: Json, container: Json) -> None:
    _from(container, "TOKEN", {"secretKeyRef": {"name": "changed", "key": "TOKEN"}})


def _env_from(rng: random.Random, _: Json, container: Json) -> None:
    source: Json = rng.choice([{"configMapRef": {"name": "changed"}}, {"secretRef": {"name": "changed"}}])
    prefix = rng.choice(["", "", "LOOK_"])
    container.setdefault("envFrom", []).append(source | ({"prefix": prefix} if prefix else {}))
    if rng.random() < 0.5:
        _set(container, "FIRST", "one")


def _command(rng: random.Random, _: Json, container: Json) -> None:
    words = rng.choice([["/bin/sh"], ["/bin/sh", "-c", "it's"], [], ["/web", ""]])
    container[rng.choice(["command", "args"])] = words


def _no_command(rng: random.Random, _: Json, container: Json) -> None:
    container.pop(rng.choice(["command", "args"]), None)


def _user(rng: random.Random, spec: Json, container: Json) -> None:
    context = rng.choice([spec, container]).setdefault("securityContext", {})
    for key in rng.choice([("runAsUser",), ("runAsGroup",), ("runAsUser", "runAsGroup")]):
        context[key] = rng.choice([0, 1000, 65534])


def _groups(rng: random.Random, spec: Json, _: Json) -> None:
    key, value = rng.choice(
        [("fsGroup", 2000), ("supplementalGroups", [10, 3000]), ("supplementalGroupsPolicy", "Strict")]
    )
    spec.setdefault("securityContext", {})[key] = value


def _privileges(rng: random.Random, _: Json, container: Json) -> None:
    keys = ["privileged", "readOnlyRootFilesystem", "allowPrivilegeEscalation", "runAsNonRoot"]
    container.setdefault("securityContext", {})[rng.choice(keys)] = rng.random() < 0.5


def _capabilities(rng: random.Random, _: Json, container: Json) -> None:
    names = [["NET_ADMIN"], ["ALL"], ["CHOWN", "KILL"], ["CAP_SYS_TIME"], ["net_raw"]]
    capabilities = {rng.choice(["add", "drop"]): rng.choice(names)}
    if rng.random() < 0.3:
        capabilities = {"drop": ["ALL"], "add": rng.choice(names)}
    container.setdefault("securityContext", {})["capabilities"] = capabilities


def _volume(rng: random.Random, spec: Json, container: Json) -> None:
    sources: list[Json] = [
        {"emptyDir": {}},
        {"emptyDir": {"medium": "Memory"}},
        {"configMap": {"name": "changed"}},
        {"secret": {"secretName": "changed"}},
        {"hostPath": {"path": rng.choice(["/srv", "/dev/fuse"])}},
        {"persistentVolumeClaim": {"claimName": "files"}},
        {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}},
        {"nfs": {"server": "nfs.example.com", "path": "/x"}},
    ]
    spec.setdefault("volumes", []).append({"name": "changed", **rng.choice(sources)})
    places = ["/mnt/a.b-c", "/changed", "/etc/hosts", "/dev/shm", "/deep/er/"]  # noqa: S108
    mount: Json = {"name": "changed", "mountPath": rng.choice(places)}
    if rng.random() < 0.3:
        mount["readOnly"] = True
    if rng.random() < 0.3:
        mount["mountPropagation"] = rng.choice(["HostToContainer", "Bidirectional", "None"])
    if rng.random() < 0.1:
        mount["subPath"] = "x"
    container.setdefault("volumeMounts", []).append(mount)


def _a_mount_less(_: random.Random, __: Json, container: Json) -> None:
    container["volumeMounts"] = container.get("volumeMounts", [])[1:]


def _a_device(_: random.Random, spec: Json, container: Json) -> None:
    spec.setdefault("volumes", []).append({"name": "block", "persistentVolumeClaim": {"claimName": "block"}})
    container.setdefault("volumeDevices", []).append({"name": "block", "devicePath": "/dev/changed"})


def _probe(rng: random.Random, _: Json, container: Json) -> None:
    _set(container, "FIRST", "one")
    command = rng.choice([["/web", "health"], ["/web", "$(FIRST)"], ["sh", "-c", "$$(FIRST)"]])
    place = rng.choice(["livenessProbe", "readinessProbe", "startupProbe"])
    container[place] = {"exec": {"command": command}}


def _hook(rng: random.Random, _: Json, container: Json) -> None:
    command = rng.choice([["/web", "stop"], ["/web", "$(FIRST)"]])
    container["lifecycle"] = {rng.choice(["postStart", "preStop"]): {"exec": {"command": command}}}


def _limits(rng: random.Random, _: Json, container: Json) -> None:
    amounts = rng.choice([{"cpu": "2"}, {"nvidia.com/pgpu": 1}, {"nvidia.com/pgpu": "2"}])
    container["resources"] = {"limits": amounts}


def _terminal(rng: random.Random, _: Json, container: Json) -> None:
    container[rng.choice(["tty", "stdin", "stdinOnce"])] = True


def _message_path(_: random.Random, __: Json, container: Json) -> None:
    container["terminationMessagePath"] = "/dev/last"


def _directory(_: random.Random, __: Json, container: Json) -> None:
    container["workingDir"] = "/srv"


def _pod(rng: random.Random, spec: Json, _: Json) -> None:
    fields: list[Json] = [{"shareProcessNamespace": True}, {"hostname": "other"}, {"serviceAccountName": "robot"}]
    fields += [{"automountServiceAccountToken": False}, {"hostPID": True}]
    spec.update(rng.choice(fields))


def _sysctl(rng: random.Random, spec: Json, _: Json) -> None:
    one = {"name": rng.choice(["net.core.somaxconn", "net/core/somaxconn"]), "value": "1024"}
    spec.setdefault("securityContext", {})["sysctls"] = [one]


CHANGES: tuple[Change, ...] = (
    *(_a_variable, _two_variables_of_a_name, _a_reference, _a_reference_in_args, _a_field, _a_resource, _a_key),
    *(_a_secret_key, _env_from, _command, _no_command, _user, _groups, _privileges, _capabilities, _volume),
    *(_volume, _a_mount_less, _a_device, _probe, _hook, _limits, _terminal, _message_path, _directory, _pod, _sysctl),
)


def _set(container: Json, name: str, value: str) -> None:
    container.setdefault("env", []).append({"name": name, "value": value})


def _from(container: Json, name: str, source: Json) -> None:
    container.setdefault("env", []).append({"name": name, "valueFrom": source})
