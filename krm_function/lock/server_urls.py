"""Parse and bound the URLs that servers send: of a redirect, of a token server.

Rule of this file: one parser, that of the library which opens the connection, decides what the host is. A text that
another parser could read differently, or that has a login, is refused as a URL.
"""

import re
from urllib.parse import urljoin

from urllib3.exceptions import HTTPError
from urllib3.util import Url, parse_url

LONGEST = 8192  # characters; storage puts long signatures there
LONGEST_HOST = 255


def is_url(text: str) -> bool:
    """Tell whether a text is an absolute URL that all parsers read alike: no login, nothing to be escaped."""
    parsed = _parsed(text)
    host = parsed.netloc or ""
    return _is_plain(text) and parsed.scheme in ("http", "https") and 0 < len(host) <= LONGEST_HOST and not parsed.auth


def redirected(url: str, location: str) -> str:
    """Return where a redirect leads, "" for what is no URL; of other schemes than HTTP's the URL as it is."""
    try:
        target = urljoin(url, location)
    except ValueError:
        return ""
    web = target[:5].lower() in ("http:", "https")
    return target if location and _is_plain(target) and (is_url(target) or not web) else ""


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of a URL."""
    parsed = _parsed(url)
    scheme = parsed.scheme or ""
    return scheme, parsed.host or "", parsed.port or (443 if scheme == "https" else 80)


def host_of(url: str) -> str:
    """Write `host` or `host:port`, as a reference writes it: no user, no path."""
    return _parsed(url).netloc or ""


def _is_plain(text: str) -> bool:
    return len(text) <= LONGEST and bool(re.fullmatch(r"""(?![^"<>\\]*["<>\\])[!-~]+""", text))


def _parsed(url: str) -> Url:
    try:
        return parse_url(url)
    except (HTTPError, ValueError):
        return Url()
