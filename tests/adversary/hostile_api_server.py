# ruff: noqa: E501 (a table)
"""What a hostile or broken API server, or somebody on the way to it, answers, and what `--cluster` has to say of it.

Each row is one mode, for the lists whose paths end in `at`; all other lists are answered well, with one node, one
RuntimeClass and nothing else. says: part of the message, "" where the answer is taken as it is: then only the end of the run counts.
"""

import gzip
import json
import zlib
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from krm_function.config.document import TOO_LARGE
from tests.adversary.hostile_registry import Mode, Talk
from tests.cli.test_check_cluster import list_head

HANDLER = "contrast-cc-metal-qemu-snp-18a1a065"
BOMB = gzip.compress(gzip.compress(b"0" * (1 << 28)))
ESCAPE = "\x1b]0;owned\x07\x1b[31m"
INITDATA = "io.katacontainers.config.hypervisor.cc_init_data"


class Row(NamedTuple):
    """A mode. at: of which lists; slow: whether it is ended by time, or by many bytes."""

    name: str
    mode: Mode
    says: str = ""
    at: tuple[str, ...] = ("nodes", "deployments")


def path_of(talk: Talk) -> str:
    return urlsplit(talk.path).path


def page(talk: Talk, items: Any, **head: Any) -> bytes:
    """A list as the API server writes it."""
    return json.dumps(
        {**list_head(path_of(talk)), "metadata": {"resourceVersion": "1"}, "items": items, **head}
    ).encode()


def good(talk: Talk) -> None:
    """Answer well: a dry run with the pod that was sent."""
    if talk.sent:
        talk.answer(201, talk.sent, Content_Type="application/json")
        return
    if path_of(talk).rpartition("/")[0].endswith("/namespaces"):
        talk.answer(404)
        return
    what = path_of(talk).rpartition("/")[2]
    lists = {"runtimeclasses": [{"metadata": {"name": HANDLER}, "handler": HANDLER}], "nodes": [node()]}
    talk.answer(200, page(talk, lists.get(what, [])), Content_Type="application/json")


def on(at: tuple[str, ...], act: Mode) -> Mode:
    """Act so on these lists; answer all others well."""
    return lambda talk: act(talk) if path_of(talk).endswith(at) and not talk.sent else good(talk)


def raw(*data: bytes, end: bool = True) -> Mode:
    def act(talk: Talk) -> None:
        talk.send(*data)
        talk.close() if end else talk.hang()

    return act


def head(*lines: str, status: str = "200 OK") -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status}", "Content-Type: application/json", *lines, "", "")).encode("latin-1")


def text(body: bytes, **headers: str) -> Mode:
    return lambda talk: talk.answer(200, body, **{"Content_Type": "application/json", **headers})


def items(*values: Any, **more: Any) -> Mode:
    return lambda talk: talk.answer(200, page(talk, list(values), **more), Content_Type="application/json")


def status(number: int, body: bytes = b"", **headers: str) -> Mode:
    return lambda talk: talk.answer(number, body, **headers)


def edited(old: bytes, new: bytes, *values: Any) -> Mode:
    """A list whose text is changed once it is written."""

    def act(talk: Talk) -> None:
        talk.answer(200, page(talk, list(values)).replace(old, new), Content_Type="application/json")

    return act


def flood(before: bytes, again: bytes) -> Mode:
    def act(talk: Talk) -> None:
        talk.send(before)
        talk.flood(again)

    return act


def dripping(before: bytes, again: bytes = b"x") -> Mode:
    def act(talk: Talk) -> None:
        talk.send(before)
        talk.drip(again)

    return act


def named(name: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "shop"}}


def node(**parts: Any) -> dict[str, Any]:
    return {"metadata": {"name": "n1"}, "spec": {}, "status": {}, **parts}


def pages(token: Any, *, full: bool = True, size: int = 0) -> Mode:
    """Pages without end. token: of each, or what makes one of a number."""
    numbers = count()

    def act(talk: Talk) -> None:
        number = next(numbers)
        metadata = {"continue": token(number) if callable(token) else token}
        space = {} if path_of(talk).endswith("nodes") else {"namespace": "shop"}
        values = [{"metadata": {"name": f"n{number}", **space, "annotations": {"a": "x" * size}}}] if full else []
        talk.answer(200, page(talk, values, metadata=metadata), Content_Type="application/json")

    return act


def patient(talk: Talk) -> None:
    """A promise of much, and nothing of it."""
    talk.send(head("Content-Length: 1000000"))
    talk.hang()


def template(part: Any) -> dict[str, Any]:
    return {**named("web"), "spec": {"template": part}}


def sealed(annotation: Any) -> dict[str, Any]:
    return template({"metadata": {"annotations": {INITDATA: annotation}}, "spec": {"runtimeClassName": HANDLER}})


NESTED: Any = []
for _ in range(400):
    NESTED = [NESTED]

BROKEN = "no answer ("
DEPLOYMENTS, NODES, CLASSES, MAPS = ("deployments",), ("nodes",), ("runtimeclasses",), ("configmaps",)

ROWS = [
    # --- the connection
    Row("closes at once", lambda talk: talk.close(), BROKEN),
    Row("resets", lambda talk: talk.reset(), BROKEN),
    Row("says nothing", lambda talk: talk.hang(), BROKEN),
    Row("drips its head", dripping(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "arrives too slowly"),
    Row("drips its body", dripping(head("Content-Length: 100000000")), "arrives too slowly"),
    Row("drips chunks", dripping(head("Transfer-Encoding: chunked"), b"1\r\nx\r\n"), "arrives too slowly"),
    Row("promises a body and hangs", patient, BROKEN),
    Row("has headers without end", flood(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), BROKEN),
    Row("has a header line without end", flood(b"HTTP/1.1 200 OK\r\nX: ", b"y"), BROKEN),
    Row("says 100 Continue for ever", flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "has more than"),
    Row("says 103 Early Hints for ever", flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), "103"),
    Row("switches protocols", raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), "101"),
    Row("has a body without end", flood(head(), b'{"items":[' + b"0," * 1000), "has more than 64 MiB"),
    Row("has chunks without end", flood(head("Transfer-Encoding: chunked"), b"ffff\r\n" + b"0" * 0xFFFF + b"\r\n"), "has more than 64 MiB"),
    Row("has small chunks without end", flood(head("Transfer-Encoding: chunked"), b"1\r\n0\r\n"), "took more than 6 s"),
    Row("has a trailer without end", flood(head("Transfer-Encoding: chunked") + b"0\r\n", b"X: y\r\n"), ""),
    Row("has a chunk extension without end", flood(head("Transfer-Encoding: chunked") + b"5;", b"x"), BROKEN),
    Row("breaks off", raw(head("Content-Length: 100"), b'{"items"'), BROKEN),
    Row("breaks off in a chunk", raw(head("Transfer-Encoding: chunked"), b'ff\r\n{"items"'), BROKEN),
    Row("has a chunk size that is no number", raw(head("Transfer-Encoding: chunked"), b"zz\r\n{}\r\n"), BROKEN),
    Row("has a chunk of a negative size", raw(head("Transfer-Encoding: chunked"), b"-5\r\n{}\r\n"), BROKEN),
    Row("has a negative length", raw(head("Content-Length: -5"), b"{}"), ""),
    Row("has a length that is no number", raw(head("Content-Length: many"), b"{}"), ""),
    Row("has two lengths", raw(head("Content-Length: 2", "Content-Length: 4"), b"{}{}"), BROKEN),
    Row("has a length of 5 000 digits", raw(head(f"Content-Length: {'9' * 5000}"), b"{}"), ""),
    Row("answers garbage", raw(b"\x00\xff\x00\xff\r\n\r\n"), BROKEN),
    Row("answers as in 1991", raw(b'{"items": []}'), BROKEN),
    Row("answers in TLS", raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), BROKEN),
    Row("has a status that is no number", raw(b"HTTP/1.1 abc OK\r\n\r\n"), BROKEN),
    Row("has status 99999", raw(b"HTTP/1.1 99999 OK\r\n\r\n"), BROKEN),
    Row("has status 799", raw(head("Content-Length: 0", status="799 ok")), "it answered 799 to the request for"),
    Row("has control characters in its status", raw(head("Content-Length: 0", status=f"403 {ESCAPE}")), "403 Forbidden"),
    Row("has control characters in its type", raw(b"HTTP/1.1 200 OK\r\nContent-Type: " + ESCAPE.encode() + b"\r\nContent-Length: 0\r\n\r\n"), "is not JSON"),
    # --- what it answers in place of a list
    Row("redirects to itself", lambda talk: talk.answer(302, b"", Location=talk.path), "302 Found"),
    Row("redirects elsewhere", status(307, Location="https://elsewhere.example/"), "307 Temporary Redirect"),
    Row("redirects to a file", status(301, Location="file:///etc/passwd"), "301 Moved Permanently"),
    Row("has no content", raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "is not JSON"),
    Row("says that nothing changed", status(304), "304 Not Modified"),
    Row("wants a login", status(401, WWW_Authenticate='Basic realm="CANARY"'), "401 Unauthorized"),
    Row("wants the login of a proxy", status(407), "407 Proxy Authentication Required"),
    Row("does not have it", status(404), "404 Not Found"),
    Row("has lost the page", status(410), "410 Gone"),
    Row("has too much to do", status(429, Retry_After="86400"), "429 Too Many Requests"),
    Row("fails", status(500), "500 Internal Server Error"),
    Row("is away", status(503, Retry_After="86400"), "503 Service Unavailable"),
    Row("fails without end", flood(head(status="500 Bad"), b"x"), "500 Internal Server Error"),
    Row("fails with a bomb", status(500, BOMB, Content_Encoding="gzip, gzip"), "500 Internal Server Error"),
    Row("refuses slowly", dripping(head("Content-Length: 100000", status="403 Forbidden")), "403 Forbidden"),
    Row("compresses", lambda talk: talk.answer(200, gzip.compress(page(talk, [])), Content_Type="application/json", Content_Encoding="gzip"), "is compressed"),
    Row("answers a bomb of gzip", text(gzip.decompress(BOMB), Content_Encoding="gzip"), "is compressed"),
    Row("answers a bomb of two gzips", text(BOMB, Content_Encoding="gzip, gzip"), "is compressed"),
    Row("answers a bomb of deflate", text(zlib.compress(b"0" * (1 << 26)), Content_Encoding="deflate"), "is compressed"),
    Row("answers brotli", text(b"\x0b\x02\x80", Content_Encoding="br"), "is compressed"),
    Row("shows a page for people", text(b"<html>log in</html>", Content_Type="text/html"), "its type is text/html"),
    Row("says no type", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), "its type is none"),
    Row("answers protobuf", text(b"k8s\x00", Content_Type="application/vnd.kubernetes.protobuf"), "is not JSON"),
    Row("answers YAML", text(b"items: []", Content_Type="application/yaml"), "is not JSON"),
    # --- its text
    Row("answers nothing", text(b""), "is not JSON"),
    Row("answers white space", text(b" " * 1000), "is not JSON"),
    Row("answers a comment", text(b"// {}"), "is not JSON"),
    Row("answers two texts", edited(b"]}", b"]}{}"), "is not JSON"),
    Row("answers half a text", edited(b'"items": []}', b'"items": ['), "is not JSON"),
    Row("answers Latin-1", edited(b"[]", b'[{"a":"\xe9"}]'), "is not UTF-8"),
    Row("answers UTF-16", lambda talk: talk.answer(200, page(talk, []).decode().encode("utf-16"), Content_Type="application/json"), "is not UTF-8"),
    Row("answers half a surrogate", edited(b"[]", b'[{"a":"\\ud800"}]'), "must be valid Unicode"),
    Row("answers a byte order mark", lambda talk: talk.answer(200, b"\xef\xbb\xbf" + page(talk, []), Content_Type="application/json"), "is not JSON"),
    Row("answers NUL", edited(b"[]", b'[{"a":"\x00"}]'), "is not JSON"),
    Row("answers NaN", edited(b"[]", b"[NaN]"), "contains NaN"),
    Row("answers infinity", edited(b"[]", b"[-Infinity]"), "contains -Infinity"),
    Row("answers a number of 5 000 digits", edited(b"[]", b"[" + b"9" * 5000 + b"]"), TOO_LARGE),
    Row("answers a number of 4 000 digits", edited(b'"S"', b"9" * 4000, {**node(), "spec": {"unschedulable": "S"}}), TOO_LARGE, NODES),
    Row("answers an exponent of 9 digits", edited(b'"S"', b"1e999999999", {**node(), "status": {"allocatable": {"cpu": "S"}}}), TOO_LARGE, NODES),
    Row("answers a key twice", edited(b'"items"', b'"items": [], "items"'), "has a key twice"),
    Row("answers brackets without end", text(b"[" * 1_000_000), "is nested too deeply"),
    Row("answers a deep object", text(b'{"a":' * 200_000 + b"1" + b"}" * 200_000), "is nested too deeply"),
    Row("answers more than a page may have", text(b'"' + b"x" * (70 << 20) + b'"'), "has more than 64 MiB"),
    Row("answers three million values", text(b"[" + b"0," * 3_000_000 + b"0]"), "has more than 2000000 values"),
    Row("answers three million maps", text(b"[" + b"{}," * 3_000_000 + b"0]"), "has more than 2000000 values"),
    # --- its list
    Row("answers null", text(b"null"), "is not a "),
    Row("answers true", text(b"true"), "is not a "),
    Row("answers 42", text(b"42"), "is not a "),
    Row("answers a string", text(b'"items"'), "is not a "),
    Row("answers an array", text(b"[]"), "is not a "),
    Row("answers an empty object", text(b"{}"), "is not a "),
    Row("answers a Status with success", text(b'{"kind":"Status","apiVersion":"v1","status":"Success"}'), "is not a "),
    Row("answers another kind", items(kind="SecretList"), "is not a "),
    Row("answers another version", items(apiVersion="v2"), "is not a "),
    Row("answers a kind that is a number", items(kind=5), "is not a "),
    Row("answers a kind that is a list", items(kind=["DeploymentList"]), "is not a "),
    Row("answers no items", lambda talk: talk.answer(200, json.dumps(list_head(path_of(talk))).encode(), Content_Type="application/json"), "has no list of items"),
    Row("answers items that are an object", edited(b"[]", b'{"0":{}}'), "has no list of items"),
    Row("answers items that are text", edited(b"[]", b'"many"'), "has no list of items"),
    Row("answers metadata that are a list", items(metadata=[]), "has no list of items"),
    Row("answers items that are null, as Go does", edited(b"[]", b"null"), ""),
    Row("answers a token that is a number", items(metadata={"continue": 5}), "has no list of items"),
    Row("answers one token again and again", pages("again"), "does not end"),
    Row("answers new tokens again and again", pages(str), "does not end"),
    Row("answers empty pages", pages(str, full=False), "does not end"),
    Row("answers long tokens", pages(lambda number: f"{number}{'x' * 100_000}"), "has no list of items"),
    Row("answers large pages again and again", pages(str, size=10 << 20), "have more than 70 MiB", DEPLOYMENTS),
    # --- its objects
    Row("lists null", items(None), "item 1 of its answer"),
    Row("lists an array", items([]), "item 1 of its answer"),
    Row("lists a string", items("web"), "item 1 of its answer"),
    Row("lists an object without metadata", items({}), "item 1 of its answer"),
    Row("lists metadata that are null", items({"metadata": None}), "item 1 of its answer"),
    Row("lists metadata that are an array", items({"metadata": ["name"]}), "item 1 of its answer"),
    Row("lists no name", items({"metadata": {}}), "item 1 of its answer"),
    Row("lists a name that is a number", items(named(5)), "item 1 of its answer"),
    Row("lists an empty name", items(named("")), "item 1 of its answer"),
    Row("lists a name that controls a terminal", items(named(ESCAPE)), "item 1 of its answer"),
    Row("lists a name of two lines", items(named("a\nerror CC0000")), "item 1 of its answer"),
    Row("lists a name that leads elsewhere", items(named("../secrets")), "item 1 of its answer"),
    Row("lists a name that is written backwards", items(named("\u202ebew")), "item 1 of its answer"),
    Row("lists a name of 300 characters", items(named("x" * 300)), "item 1 of its answer"),
    Row("lists another namespace", items({"metadata": {"name": "web", "namespace": "other"}}), "contains web, which is of another"),
    Row("lists no namespace", items({"metadata": {"name": "web"}}), "contains web, which is of another", DEPLOYMENTS),
    Row("lists a namespace that is an array", items({"metadata": {"name": "web", "namespace": ["shop"]}}), "contains web, which is of another"),
    Row("lists another kind", items({**named("web"), "kind": "Secret"}), "contains web, which is of another"),
    Row("lists another version", items({**named("web"), "apiVersion": "evil/v1"}), "contains web, which is of another"),
    Row("lists one object twice", items(named("web"), named("web")), "contains web twice", DEPLOYMENTS),
    Row("lists one node twice", items(node(), node()), "contains n1 twice", NODES),
    # --- the inside of its objects: what is taken as it is, and must do no harm
    Row("lists nothing in an object", items(named("web")), "", DEPLOYMENTS),
    Row("lists a spec that is null", items({**named("web"), "spec": None}), "", DEPLOYMENTS),
    Row("lists a spec that is an array", items({**named("web"), "spec": [1]}), "", DEPLOYMENTS),
    Row("lists a spec that is deep", items({**named("web"), "spec": NESTED}), "", DEPLOYMENTS),
    Row("lists a template that is text", items(template("x")), "", DEPLOYMENTS),
    Row("lists a template with a deep spec", items(template({"spec": {"runtimeClassName": HANDLER, "containers": NESTED}})), "", DEPLOYMENTS),
    Row("lists containers that are an object", items(template({"spec": {"runtimeClassName": HANDLER, "containers": {"a": 1}}})), "", DEPLOYMENTS),
    Row("lists containers that are null", items(template({"spec": {"runtimeClassName": HANDLER, "containers": [None]}})), "", DEPLOYMENTS),
    Row("lists annotations that are an array", items(template({"metadata": {"annotations": []}, "spec": {"runtimeClassName": HANDLER}})), "", DEPLOYMENTS),
    Row("lists a class that is an object", items(template({"spec": {"runtimeClassName": {}}})), "", DEPLOYMENTS),
    Row("lists a class that controls a terminal", items(template({"spec": {"runtimeClassName": f"contrast-cc-{ESCAPE}"}})), "", DEPLOYMENTS),
    Row("lists a policy that is a number", items(sealed(5)), "", DEPLOYMENTS),
    Row("lists a policy that is garbage", items(sealed("H4sI" + "A" * 100)), "", DEPLOYMENTS),
    Row("lists a policy that is a bomb", items(sealed(__import__("base64").b64encode(gzip.decompress(BOMB)).decode())), "", DEPLOYMENTS),
    Row("lists owners that are text", items({"metadata": {**named("web")["metadata"], "ownerReferences": "x"}}), "", DEPLOYMENTS),
    Row("lists an object that owns itself", items({"metadata": {**named("web")["metadata"], "uid": "u", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": True}]}}), "", DEPLOYMENTS),
    Row("lists data that are text", items({**named("contrast-manifest"), "data": "x"}), "", MAPS),
    Row("lists a manifest that is no text", items({**named("contrast-manifest"), "data": {"manifest.json": 5}}), "", MAPS),
    Row("lists a manifest that is no JSON", items({**named("contrast-manifest"), "data": {"manifest.json": "{"}}), "", MAPS),
    Row("lists a manifest that is deep", items({**named("contrast-manifest"), "data": {"manifest.json": "[" * 100_000}}), "", MAPS),
    Row("lists a manifest with a long number", items({**named("contrast-manifest"), "data": {"manifest.json": '{"Policies": ' + "9" * 5000 + "}"}}), "", MAPS),
    Row("lists a class without a handler", items({"metadata": {"name": HANDLER}}), "", CLASSES),
    Row("lists a handler that is a list", items({"metadata": {"name": HANDLER}, "handler": [1]}), "", CLASSES),
    Row("lists an overhead that is text", items({"metadata": {"name": HANDLER}, "handler": HANDLER, "overhead": "x"}), "", CLASSES),
    Row("lists an overhead that is a bomb", items({"metadata": {"name": HANDLER}, "handler": HANDLER, "overhead": {"podFixed": {"memory": "1e999999999"}}}), "", CLASSES),
    Row("lists a scheduling that is a list", items({"metadata": {"name": HANDLER}, "handler": HANDLER, "scheduling": [1]}), "", CLASSES),
    Row("lists tolerations that are null", items({"metadata": {"name": HANDLER}, "handler": HANDLER, "scheduling": {"tolerations": [None]}}), "", CLASSES),
    Row("refuses classes without end", flood(head(status="403 Forbidden"), b"x"), "warning CC1121", CLASSES),
    Row("lists a node without anything", items({"metadata": {"name": "n1"}}), "", NODES),
    Row("lists labels that are a list", items(node(metadata={"name": "n1", "labels": [1]})), "", NODES),
    Row("lists a label that controls a terminal", items(node(metadata={"name": "n1", "labels": {ESCAPE: 5}})), "", NODES),
    Row("lists taints that are text", items(node(spec={"taints": "x"})), "", NODES),
    Row("lists a taint that is null", items(node(spec={"taints": [None]})), "", NODES),
    Row("lists quantities that are bombs", items(node(status={"allocatable": {"cpu": "1e999999999", "memory": "9" * 60 + "Ei"}})), "", NODES),
    Row("lists a quantity that is a list", items(node(status={"allocatable": {"cpu": [1]}})), "", NODES),
    Row("lists a status that is text", items(node(status="x")), "", NODES),
    Row("lists handlers that are null", items(node(status={"runtimeHandlers": [None, {"name": [1]}]})), "", NODES),
]  # fmt: skip


def token_of(talk: Talk) -> str:
    return "".join(parse_qs(urlsplit(talk.path).query).get("continue", ()))
