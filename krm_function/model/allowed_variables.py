r"""Tables of the variables that a container may have although neither its pod nor its image sets them.

Each entry is a pattern of policy_data, about the whole of `NAME=VALUE`; the rules put the settings' `common` members
in place of their names. Which profile has which table is in profiles.py.
Sources: docs/facts/kata.md#default-settings, docs/facts/kubernetes.md#service-variables.

    table      what the kubelet makes of a Service                          host name, Job's index, TERM, Azure
    KATA       TCP and UDP, an IPv4 address, a name that begins with A-Z    all of them
    CONTRAST   every legal Service: SCTP, IPv6 and a leading digit, too     all of them
    STRICT     the same as CONTRAST                                         all but Azure

Rule of this file: data only, and nothing that is not anchored at both ends. STRICT allows a part of CONTRAST.
"""

_SERVICE, _PORT, _IPV4 = "$(svc_name_downward_env)", "$(ip_p)", "$(ipv4_a)"

_HOST_NAME = "^HOSTNAME=$(dns_label)$"
_INDEX = "^JOB_COMPLETION_INDEX=[0-9]+$"
# Azure's webhook for workload identity; the label that calls it is refused in a pod (CC0260), so STRICT has none
_AZURE = (
    "^AZURE_CLIENT_ID=[A-Fa-f0-9-]*$",
    "^AZURE_TENANT_ID=[A-Fa-f0-9-]*$",
    "^AZURE_FEDERATED_TOKEN_FILE=/var/run/secrets/azure/tokens/azure-identity-token$",
    r"^AZURE_AUTHORITY_HOST=https://login\.microsoftonline\.com/$",
)
_TERMINAL = "^TERM=xterm$"

# the name of a Service, in capitals and with underscores; Kata's settings want a letter first
NAME_OF_SERVICE = "[A-Z](?:[A-Z0-9_]{0,61}[A-Z0-9])?"
NAME_OF_ANY_SERVICE = "[A-Z0-9](?:[A-Z0-9_]{0,61}[A-Z0-9])?"
# the Service whose variables a pod with enableServiceLinks: false has, too
NAME_OF_API_SERVER = "KUBERNETES"

_GROUPS = "[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})"  # of an IPv6 address
_IPV6 = f"{_GROUPS}{{7}}|({_GROUPS}{{0,5}})?::({_GROUPS}{{0,5}})?"
_LINK = f"((_{_PORT}_TCP)?=tcp|(_{_PORT}_UDP)?=udp|(_{_PORT}_SCTP)?=sctp)"

OF_ANY_SERVICE = (
    rf"^{_SERVICE}_PORT{_LINK}://({_IPV4}|\[({_IPV6})\]):{_PORT}$",
    f"^{_SERVICE}_PORT_{_PORT}_(TCP_PROTO=tcp|UDP_PROTO=udp|SCTP_PROTO=sctp)$",
    f"^{_SERVICE}_PORT_{_PORT}_(TCP|UDP|SCTP)_PORT={_PORT}$",
    f"^{_SERVICE}_(SERVICE_HOST|PORT_{_PORT}_(TCP|UDP|SCTP)_ADDR)=({_IPV4}|{_IPV6})$",
    f"^{_SERVICE}_SERVICE_PORT(_{NAME_OF_ANY_SERVICE})?={_PORT}$",
)
CONTRAST = (_HOST_NAME, *OF_ANY_SERVICE, _INDEX, *_AZURE, _TERMINAL)
STRICT = (_HOST_NAME, *OF_ANY_SERVICE, _INDEX, _TERMINAL)
KATA = (
    _HOST_NAME,
    f"^{_SERVICE}_PORT_{_PORT}_(TCP|UDP)=(tcp|udp)://{_IPV4}:{_PORT}$",
    f"^{_SERVICE}_PORT_{_PORT}_(TCP|UDP)_PROTO=(tcp|udp)$",
    f"^{_SERVICE}_PORT_{_PORT}_(TCP|UDP)_PORT={_PORT}$",
    f"^{_SERVICE}_PORT_{_PORT}_(TCP|UDP)_ADDR={_IPV4}$",
    f"^{_SERVICE}_SERVICE_HOST={_IPV4}$",
    f"^{_SERVICE}_SERVICE_PORT={_PORT}$",
    f"^{_SERVICE}_SERVICE_PORT_$(dns_label)={_PORT}$",
    f"^{_SERVICE}_PORT=(tcp|udp)://{_IPV4}:{_PORT}$",
    _INDEX,
    *_AZURE,
    _TERMINAL,
)
