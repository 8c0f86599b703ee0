"""CC0684 to CC0689: variables of Services that a policy denies."""

from krm_function.findings.row import Row

_REMEDY = (
    "set enableServiceLinks: false in the pod template, unless its programs read variables of Services;"
    " with the patterns of the profiles for Contrast all Services are allowed"
)
_IPV6 = (
    "a policy profile for Contrast allows it; enableServiceLinks: false helps only where the Service of the API"
    " server has an IPv4 address"
)

ROWS: dict[str, Row] = {
    "CC0684": Row(
        "error",
        "the policy denies the variable {variable} that Service {service} gives each container: {problem}",
        _REMEDY,
        {
            "sctp": "a port with protocol SCTP",
            "digit": "a name that begins with a digit",
            "ipv6": ("an IPv6 address", _IPV6),
            "other": "no pattern of the policy settings fits it",
        },
    ),
}
