"""Check names as Kubernetes does: DNS names, label keys and values.

Rule of this file: each pattern is the one of apimachinery's validation package, written without `$` and matched whole,
and every text is capped first.
"""

import re

DNS_LABEL = r"[a-z0-9]+(?:-+[a-z0-9]+)*"  # 63 characters by itself, any length inside a subdomain
DNS_SUBDOMAIN = rf"{DNS_LABEL}(?:\.{DNS_LABEL})*"
LABEL_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
LABEL_KEY = rf"(?:{DNS_SUBDOMAIN}/)?{LABEL_NAME}"
LABEL_VALUE = rf"(?:{LABEL_NAME})?"
LONGEST_SUBDOMAIN = 253


def is_dns_label(text: str) -> bool:
    """Tell whether a text is 1 to 63 lower-case letters, digits and inner hyphens."""
    return len(text) <= 63 and re.fullmatch(DNS_LABEL, text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Tell whether a text is DNS labels joined by dots, at most 253 characters."""
    return len(text) <= LONGEST_SUBDOMAIN and re.fullmatch(DNS_SUBDOMAIN, text) is not None


def is_label_key(text: str) -> bool:
    """Tell whether a text is a qualified name: `name` or `dns.subdomain/name`."""
    return text.rfind("/") <= LONGEST_SUBDOMAIN and matches_label_key(text)


def matches_label_key(text: str) -> bool:
    """Tell whether a text matches LABEL_KEY, whose subdomain may have any length."""
    prefix, slash, name = text.rpartition("/")
    return (not slash or re.fullmatch(DNS_SUBDOMAIN, prefix) is not None) and re.fullmatch(LABEL_NAME, name) is not None


def is_label_value(text: str) -> bool:
    """Tell whether a text is empty, or 1 to 63 letters, digits, `-_.`, starting and ending with a letter or digit."""
    return len(text) <= 63 and re.fullmatch(LABEL_VALUE, text) is not None
