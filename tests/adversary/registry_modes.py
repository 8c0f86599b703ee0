# ruff: noqa: E501 (a table)
"""What a hostile or broken registry, or somebody on the way to it, does; why; and what `lock` has to say of it.

Each row is one mode. What is not about the mode is answered as it should be. code: of the one finding, "" when the image
is locked all the same.
"""

import gzip
import json
import socket
from typing import Any, NamedTuple

from tests.adversary.hostile_registry import Greet, Mode, Talk, go_on
from tests.lock.content import ACCOUNTS, MANIFEST, Image, config, digest, image, index, layer, part, tar
from tests.wording import wording

ELSEWHERE = "https://CANARY-user:CANARY-password@elsewhere.example/x"


class Row(NamedTuple):
    """A mode. says: part of the message; image: what the registry has; greet: before any request; https: how it is asked."""

    name: str
    why: str
    code: str
    says: str
    mode: Mode = Talk.good
    image: Image | None = None
    greet: Greet = go_on
    https: bool = False


def on(what: str, act: Mode) -> Mode:
    """Act so on requests with this in their path; answer all others well."""
    return lambda talk: act(talk) if what in talk.path else talk.good()


def raw(*data: bytes, end: bool = True) -> Mode:
    """Send exactly these bytes to whoever asks for the manifest, and close."""

    def act(talk: Talk) -> None:
        talk.send(*data)
        talk.hang() if not end else talk.reset() if data == (b"",) else talk.close()

    return on("/manifests/", act)


def then(head: bytes, act: Mode, what: str = "/manifests/") -> Mode:
    """Send these bytes and go on so."""

    def both(talk: Talk) -> None:
        talk.send(head)
        act(talk)

    return on(what, both)


def redirect(location: str | None, what: str = "/blobs/") -> Mode:
    """Redirect there."""
    return on(what, lambda talk: talk.answer(307, b"", **({} if location is None else {"Location": location})))


def challenge(value: str, token: Mode = Talk.good) -> Mode:
    """Want a login; `token` answers at /token."""

    def act(talk: Talk) -> None:
        if "/token" in talk.path:
            token(talk)
        elif b"authorization" in talk.head.lower():
            talk.good()
        else:
            talk.answer(401, b"", WWW_Authenticate=value.replace("SELF", f"http://{talk.server.address}"))

    return act


def manifest(**changes: Any) -> Image:
    """The good image with a manifest that is changed."""
    good = image()
    data = json.dumps({**json.loads(good.manifest), **changes}).encode()
    return Image(data, MANIFEST, good.blobs)


def text(data: bytes) -> Image:
    """An image whose manifest is this text."""
    return Image(data, MANIFEST, {})


def of_layer(data: bytes, plain: bytes = b"") -> Image:
    """An image of one gzip layer of these bytes."""
    made = part(data, "application/vnd.oci.image.layer.v1.tar+gzip")
    return image(made._replace(diff_id=digest(plain)))


def cut(talk: Talk, extra: bytes = b"", back: int = 0) -> None:
    body = talk.body()
    talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body[: len(body) - back], extra)
    talk.close()


def half(talk: Talk, act: Mode) -> None:
    body = talk.body()
    talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body[: len(body) // 2])
    act(talk)


def refuse(connection: socket.socket) -> bool:
    connection.close()
    return False


def mute(connection: socket.socket) -> bool:
    connection.recv(65536)
    connection.settimeout(60)
    connection.recv(1)
    return False


def plain(connection: socket.socket) -> bool:
    connection.sendall(b"HTTP/1.1 400 Bad\r\n\r\n")
    connection.recv(9)
    return False


def of_1996(talk: Talk) -> None:
    talk.send(b"HTTP/1.0 200 OK\r\n\r\n", talk.body())
    talk.close()


def thin(talk: Talk) -> None:
    body = talk.body()
    talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
    talk.drip(body[:10], 1)
    talk.send(body[10:])


def dripping_tls(connection: socket.socket) -> bool:
    connection.recv(65536)
    connection.sendall(b"\x16\x03\x03\x40\x00")
    for _ in range(3000):
        connection.sendall(b"\x02")
        if socket_wait(connection):
            break
    return False


def socket_wait(connection: socket.socket) -> bool:
    connection.settimeout(0.02)
    try:
        return not connection.recv(1)
    except TimeoutError:
        return False


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SLOW, NEVER, BROKE = "sends less than", "does not answer in time", wording("CC1250.broken")
GOOD = image()
NESTED = index([("linux/amd64", index([("linux/amd64", GOOD)]))])
DISGUISED = NESTED._replace(manifest=b"image.manifest.v1".join(NESTED.manifest.rsplit(b"image.index.v1", 1)))
TWO_WAYS = image(layer(tar([("lib/p", "x"), ("etc/passwd", "y")])))
JSON_BOMB = b'{"token": ' + b"[" * 200_000

ROWS: tuple[Row, ...] = (
    # --- the connection
    Row("takes a connection and closes it", "overload, or a scan", "CC1250", BROKE, greet=refuse),
    Row("takes a connection and is silent", "holds every worker of a build", "CC1250", NEVER, greet=mute),
    Row("never ends the TLS handshake", "the time-out of a read begins behind it", "CC1250", NEVER, greet=mute, https=True),
    Row("drips the TLS handshake", "each byte begins a new read", "CC1250", "", greet=dripping_tls, https=True),
    Row("speaks no TLS", "plain HTTP, or a captive portal", "CC1250", "TLS fails", https=True, greet=plain),
    Row("resets at the request", "a firewall on the way", "CC1250", BROKE, on("/manifests/", Talk.reset)),
    Row("resets inside of a body", "the same, later", "CC1250", BROKE, on("/blobs/", lambda talk: half(talk, Talk.reset))),
    Row("closes inside of a head", "a client may take it for a whole one", "CC1203", f"the manifest {wording('CC1203.other')}", raw(OK + b"Content-Le")),
    # --- the head
    Row("drips the status line", "a byte a second meets every time-out of a read", "CC1250", SLOW, then(b"HTTP/1.1 200 ", Talk.drip)),
    Row("drips a header", "the same", "CC1250", SLOW, then(OK + b"X: ", Talk.drip)),
    Row("drips headers without end", "the same, by line", "CC1250", SLOW, then(OK, lambda talk: talk.drip(b"A: b\r\n"))),
    Row("floods with headers", "memory", "CC1250", BROKE, then(OK, lambda talk: talk.flood(b"A: b\r\n"))),
    Row("a header line without end", "memory", "CC1250", BROKE, then(OK + b"A: ", lambda talk: talk.flood(b"b"))),
    Row("floods with 100 Continue", "a client passes over them without counting", "CC1250", wording("CC1250.endless"), then(b"", lambda talk: talk.flood(b"HTTP/1.1 100 Continue\r\n\r\n"))),
    Row("drips 100 Continue", "the same, slowly", "CC1250", SLOW, then(b"", lambda talk: talk.drip(b"HTTP/1.1 100 Continue\r\n\r\n"))),
    Row("one 100 Continue", "is allowed", "", "", then(b"HTTP/1.1 100 Continue\r\n\r\n", Talk.good)),
    Row("103 Early Hints without end", "an answer to a client that knows no hints", "CC1250", "answers 103", then(b"", lambda talk: talk.flood(b"HTTP/1.1 103 Early Hints\r\n\r\n"))),
    Row("no HTTP at all", "another service on the port", "CC1250", BROKE, raw(b"SSH-2.0-OpenSSH_9.9\r\n")),
    Row("an absurd status", "parsers differ", "CC1250", BROKE, raw(b"HTTP/1.1 99999 OK\r\n\r\n")),
    Row("204 for a manifest", "no content", "CC1250", "answers 204", on("/manifests/", lambda talk: talk.answer(204))),
    Row("206 for a layer", "a part that nobody asked for", "CC1250", "answers 206", on("/blobs/", lambda talk: talk.answer(206, talk.body()[:10]))),
    Row("HTTP/1.0 without a length", "old proxies", "", "", of_1996),
    Row("two lengths", "request smuggling", "CC1250", BROKE, raw(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}    ")),
    Row("a negative length", "parsers differ", "CC1203", "", raw(OK + b"Content-Length: -5\r\n\r\n{}")),
    Row("a length that is no number", "parsers differ", "CC1203", "", raw(OK + b"Content-Length: many\r\n\r\n{}")),
    Row("cookies", "to recognise a client; none is sent back", "", "", lambda talk: talk.good(Set_Cookie="CANARY=1; Domain=.example")),
    # --- the body
    Row("a body that never begins", "holds a worker", "CC1250", SLOW, then(OK + b"Content-Length: 500\r\n\r\n", Talk.hang)),
    Row("a body that stops", "holds a worker", "CC1250", SLOW, on("/blobs/", lambda talk: half(talk, Talk.hang))),
    Row("a body that drips", "a byte a second for ever", "CC1250", SLOW, then(OK + b"Content-Length: 500000\r\n\r\n", Talk.drip, "/blobs/")),
    Row("a slow body that is honest", "a thin line, faster than the least", "", "", on("/blobs/", thin)),
    Row("a body that is cut", "an unclean end", "CC1250", BROKE, on("/blobs/", lambda talk: cut(talk, back=1))),
    Row("a body longer than it says", "the rest would be the next answer", "", "", lambda talk: cut(talk, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL")),
    Row("a manifest without end", "memory", "CC1206", "the manifest has more than 4 MiB", then(OK + b"\r\n", lambda talk: talk.flood(b" "))),
    Row("a layer longer than the manifest says", "memory and disk", "CC1203", "is longer than its", then(OK + b"\r\n", lambda talk: talk.flood(b"\0"), "/blobs/")),
    Row("chunks of one byte with long extensions", "much work for little", "CC1250", wording("CC1250.endless"), then(CHUNKED, lambda talk: talk.flood(b"1;" + b"x" * 1000 + b"\r\n{\r\n"))),
    Row("a chunk size without end", "memory", "CC1250", BROKE, then(CHUNKED, lambda talk: talk.flood(b"1"))),
    Row("a negative chunk", "parsers differ", "CC1250", BROKE, raw(CHUNKED + b"-5\r\nhello\r\n")),
    Row("trailers without end", "a client throws them away without counting", "CC1250", wording("CC1250.endless"), then(CHUNKED + b"2\r\n{}\r\n0\r\n", lambda talk: talk.flood(b"A: b\r\n"))),
    Row("trailers that drip", "the same, slowly", "CC1250", SLOW, then(CHUNKED + b"2\r\n{}\r\n0\r\n", lambda talk: talk.drip(b"A: b\r\n"))),
    Row("a chunked body that is cut", "an unclean end", "CC1250", BROKE, raw(CHUNKED + b"ff\r\n{")),
    Row("a compressed manifest", "nobody asked for Content-Encoding", "CC1203", f"the manifest {wording('CC1203.other')}", on("/manifests/", lambda talk: talk.answer(200, gzip.compress(talk.body()), Content_Encoding="gzip"))),
    # --- where it sends us
    Row("a redirect to https://[", "a URL that does not parse", "CC1250", wording("CC1250.redirect"), redirect("https://[")),
    Row("a redirect to a broken address", "the same", "CC1250", wording("CC1250.redirect"), redirect("https://[::1%zz]:x/")),
    Row("a redirect to port 99999", "the same", "CC1250", wording("CC1250.redirect"), redirect("https://elsewhere.example:99999/x")),
    Row("a redirect with a login", "would be sent on, or be printed", "CC1250", wording("CC1250.redirect"), redirect(ELSEWHERE)),
    Row("a redirect with a backslash", "parsers differ on the host", "CC1250", wording("CC1250.redirect"), redirect("https://good.example\\@elsewhere.example/")),
    Row("a redirect with blanks", "parsers differ", "CC1250", wording("CC1250.redirect"), redirect("https://elsewhere.example/a b")),
    Row("a redirect in another alphabet", "looks like another host", "CC1250", wording("CC1250.redirect"), redirect("https://ex\xe4mple.example/")),
    Row("a redirect of 60 KB", "memory, logs", "CC1250", wording("CC1250.redirect"), redirect("https://elsewhere.example/" + "a" * 60_000)),
    Row("a redirect to nowhere", "no Location", "CC1250", wording("CC1250.redirect"), redirect(None)),
    Row("a redirect to a file", "reads what is here", "CC1253", "", redirect("file:///etc/passwd")),
    Row("a redirect to a script", "no web scheme", "CC1253", "", redirect("javascript:alert(1)")),
    Row("a redirect to plain HTTP", "anybody on the way could read along", "CC1253", "elsewhere.example", redirect("http://elsewhere.example/x?sig=CANARY")),
    Row("redirects in a circle", "never ends", "CC1250", "redirects too often", on("/blobs/", lambda talk: talk.answer(302, b"", Location=talk.path))),
    # --- logins
    Row("401 without a word", "no challenge", "CC1251", wording("CC1251.login-kind"), on("/manifests/", lambda talk: talk.answer(401))),
    Row("a realm that does not parse", "https://[ again", "CC1250", wording("CC1250.no-token-server"), challenge('Bearer realm="https://["')),
    Row("a realm with a login", "would be printed", "CC1250", wording("CC1250.no-token-server"), challenge(f'Bearer realm="{ELSEWHERE}"')),
    Row("a realm in plain HTTP", "the login could be read", "CC1253", "elsewhere.example", challenge('Bearer realm="http://elsewhere.example/token"')),
    Row("a token server that redirects", "the login would go along", "CC1250", "its token server answers 302", challenge('Bearer realm="SELF/token"', lambda talk: talk.answer(302, b"", Location="https://elsewhere.example/"))),
    Row("a token without end", "memory", "CC1250", wording("CC1250.token-endless"), challenge('Bearer realm="SELF/token"', then(OK + b"\r\n", lambda talk: talk.flood(b"["), "/token"))),
    Row("a token nested 200000 times", "recursion", "CC1250", wording("CC1250.token-json"), challenge('Bearer realm="SELF/token"', lambda talk: talk.answer(200, JSON_BOMB))),
    Row("a token that breaks the line", "a header of its own", "CC1251", "the token for it is malformed", challenge('Bearer realm="SELF/token"', lambda talk: talk.answer(200, b'{"token": "a\\r\\nX: CANARY"}'))),
    Row("a token server that drips", "holds a worker", "CC1250", SLOW, challenge('Bearer realm="SELF/token"', then(OK + b"Content-Length: 900\r\n\r\n", Talk.drip, "/token"))),
    Row("a challenge of 60 KB", "time", "CC1250", wording("CC1250.no-token-server"), challenge("Bearer " + "a=b," * 15_000)),
    # --- waiting
    Row("busy for ever", "holds a build", "CC1250", wording("CC1250.status-again", status="503"), on("/manifests/", lambda talk: talk.answer(503))),
    Row("come again in a year", "holds a build", "CC1250", "took more than", on("/manifests/", lambda talk: talk.answer(429, b"", Retry_After="31536000"))),
    Row("come again, but when", "a date that is none", "CC1250", wording("CC1250.status-again", status="503"), on("/manifests/", lambda talk: talk.answer(503, b"", Retry_After="soon\x01"))),
    Row("come again in 10^4000 s", "arithmetic", "CC1250", "took more than", on("/manifests/", lambda talk: talk.answer(503, b"", Retry_After="9" * 4000))),
    # --- what it has
    Row("another manifest", "exchanged on the way", "CC1203", f"the manifest {wording('CC1203.other')}", on("/manifests/", lambda talk: talk.answer(200, TWO_WAYS.manifest))),
    Row("another layer of the same length", "exchanged on the way", "CC1203", f"a layer {wording('CC1203.other')}", on(f"/blobs/{json.loads(GOOD.manifest)['layers'][0]['digest']}", lambda talk: talk.answer(200, bytes(len(talk.body())))), image=GOOD),
    Row("a manifest nested 200000 times", "recursion", "CC1204", "nested too deeply", image=text(b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}")),
    Row("a manifest with a key twice", "parsers differ", "CC1204", "a key twice", image=text(b'{"schemaVersion": 2, "schemaVersion": 2}')),
    Row("a manifest that is an index as well", "CVE-2021-41190", "CC1204", "as an image and as an index", image=manifest(manifests=[])),
    Row("an index that leads to an index", "a circle could not have a digest, a chain can", "CC1205", "only for a nested index", image=NESTED),
    Row("an index that calls an index a manifest", "the same, hidden", "CC1204", wording("CC1204.nested-index"), image=DISGUISED),
    Row("an index of 5000 platforms", "a message of its length", "CC1205", "and 4992 more", image=index([(f"linux/a{number}", GOOD) for number in range(5000)])),
    Row("1000 layers", "as many requests", "CC1206", "512 layers", image=manifest(layers=json.loads(GOOD.manifest)["layers"] * 1000)),
    Row("a layer of 2^70 bytes", "arithmetic, disk", "CC1206", "a layer has more than", image=manifest(layers=[{**json.loads(GOOD.manifest)["layers"][0], "size": 1 << 70}])),
    Row("a layer of -1 bytes", "arithmetic", "CC1204", "without mediaType or size", image=manifest(layers=[{**json.loads(GOOD.manifest)["layers"][0], "size": -1}])),
    Row("a digest with a path in it", "a path in the request", "CC1204", "a digest that is not sha256", image=manifest(config={**json.loads(GOOD.manifest)["config"], "digest": "sha256:../../../v2"})),
    Row("a configuration of another digest's layer", "the diffID is what the node checks", "CC1204", wording("CC1204.diff-id"), image=of_layer(gzip.compress(tar(ACCOUNTS)), b"other")),
    Row("a gzip bomb", "8 KB become 8 MB", "CC1206", "an uncompressed layer has more than", image=image(layer(bytes(8 << 20)))),
    Row("a zstd bomb", "the same", "CC1206", "an uncompressed layer has more than", image=image(layer(bytes(8 << 20), "zstd"))),
    Row("gzip that ends early", "an unclean end that has a digest", "CC1204", wording("CC1204.gzip-end"), image=of_layer(gzip.compress(tar(ACCOUNTS))[:-9], tar(ACCOUNTS))),
    Row("something behind the gzip", "parsers differ", "CC1204", wording("CC1204.gzip"), image=of_layer(gzip.compress(tar(ACCOUNTS)) + b"more", tar(ACCOUNTS))),
    Row("a layer of zeros without end", "an archive that never begins", "CC1206", "an uncompressed layer has more than", image=image(layer(bytes(2 << 20)))),
    Row("a configuration that is a list", "a shape", "CC1204", "not a JSON object", image=image(configuration=b"[]")),
    Row("a configuration for another system", "would be another image's", "CC1205", "windows/amd64", image=image(configuration=config((layer(tar(ACCOUNTS)),), os="windows"))),
)  # fmt: skip
