"""The policy profiles, and the variables that they allow beside those of pod and image."""

from collections.abc import Sequence
from typing import Any, Literal

from krm_function.record import NamedTuple

# --- Tables of the variables that a container may have although neither its pod nor its image sets them
#
# Each entry is a pattern of policy_data, for the whole `NAME=VALUE`; the rules replace the names of the settings'
# `common` members by their values. The profiles below list their tables. Sources: docs/facts/kata.md#default-settings,
# docs/facts/kubernetes.md#service-variables.
#
#     table      variables that the kubelet makes for a Service              host name, Job's index, TERM, Azure
#     KATA       TCP and UDP, an IPv4 address, a name that begins with A-Z    all of them
#     CONTRAST   every legal Service: SCTP, IPv6 and a leading digit, too     all of them
#     STRICT     the same as CONTRAST                                         all but Azure
#
# Rule: data only, and every pattern is anchored at both ends. STRICT allows a part of CONTRAST.


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
CONTRAST_VARIABLES = (_HOST_NAME, *OF_ANY_SERVICE, _INDEX, *_AZURE, _TERMINAL)
STRICT_VARIABLES = (_HOST_NAME, *OF_ANY_SERVICE, _INDEX, _TERMINAL)
KATA_VARIABLES = (
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


# --- Table of the policy profiles
#
# A profile describes the node for which a policy is made: settings that differ from Kata 4.1.0, the generator's
# behaviour there, and the files of its rules. The next Contrast release is a new entry here, and new rules if they
# differ. Sources: docs/facts/contrast-node.md#differences, docs/facts/contrast-node.md#settings.
#
# Rule: data only. No code compares the name of a profile; it reads the profile's fields.


ProfileName = Literal["contrast-1.25", "strict", "kata-4.1"]


class Profile(NamedTuple):
    """A policy profile.

    release: the Contrast release whose nodes the policy is for, (1, 25); None for plain Kata.
    settings: JSON pointer into Kata's settings document -> the value that the nodes' own file has there instead.
    own_settings: the same, but ours: what every legal Service makes is allowed. left_out: JSON pointers to members
    that it does not have.
    rules: names of the files in policy/rules, in this order.
    """

    name: ProfileName
    means: str  # one sentence, for the schema and the pages
    release: tuple[int, int] | None
    settings: tuple[tuple[str, Any], ...]
    own_settings: tuple[tuple[str, Any], ...]
    left_out: tuple[str, ...]
    rules: tuple[str, ...]
    binds_images: bool  # each container's policy lists the image that its VM pulls, by digest
    refuses_volumes: bool  # an image's VOLUME without a mount: no policy
    propagates: bool  # an emptyDir on a block device or in memory has the mountPropagation that the pod asks for
    image_identity: bool  # the image supplies user and groups that the pod does not name; else they are refused
    sandbox_gpus: bool  # the sandbox gets the GPUs of all containers
    shared_gpus: bool  # the runtime announces all GPUs of a pod to a container with NVIDIA_VISIBLE_DEVICES=all
    narrowed: bool  # bound to the pod in everything else that a host could vary


_CONTRAST_1_25 = (
    ("/cluster_config/pause_container_image", "ghcr.io/edgelesssys/kubernetes/pause:3.6"),
    (
        "/devices/vfio/nvidia/pgpu_resource_keys",
        ("nvidia.com/pgpu", "nvidia.com/GB100_B200", "nvidia.com/GB110_B300_SXM6_AC", "nvidia.com/GH100_H100_PCIE"),
    ),
    ("/request_defaults/ReadStreamRequest", True),
)
_VARIABLES = "/request_defaults/CreateContainerRequest/allow_env_regex"
_ANY_SERVICE = ("/common/svc_name_downward_env", NAME_OF_ANY_SERVICE)

CONTRAST = Profile(
    name="contrast-1.25",
    means="what a node of Contrast 1.25 needs; images are bound to their digests",
    release=(1, 25),
    settings=_CONTRAST_1_25,
    own_settings=(_ANY_SERVICE, (_VARIABLES, CONTRAST_VARIABLES)),
    left_out=("/volumes/image_volume",),
    rules=("shared", "contrast-node", "as-kata"),
    binds_images=True,
    refuses_volumes=True,
    propagates=True,
    image_identity=True,
    sandbox_gpus=True,
    shared_gpus=True,
    narrowed=False,
)
STRICT = CONTRAST._replace(
    name="strict",
    means="contrast-1.25, and nothing that a host could choose",
    own_settings=(_ANY_SERVICE, (_VARIABLES, STRICT_VARIABLES)),
    rules=("shared", "contrast-node", "strict"),
    narrowed=True,
)
KATA = Profile(
    name="kata-4.1",
    means="what Kata's own rules allow, for nodes with plain Kata 4.1; images are not bound",
    release=None,
    settings=(),
    own_settings=(),
    left_out=(),
    rules=("shared", "kata-node", "as-kata"),
    binds_images=False,
    refuses_volumes=False,
    propagates=False,
    image_identity=False,
    sandbox_gpus=False,
    shared_gpus=False,
    narrowed=False,
)
PROFILES = {profile.name: profile for profile in (CONTRAST, STRICT, KATA)}
DEFAULT = CONTRAST
# the profiles of Contrast releases, oldest first
RELEASED: tuple[Profile, ...] = (CONTRAST,)


def states_users(chosen: ProfileName | None) -> bool:
    """Tell whether pods have to state every user but root. chosen: policy.profile, None for the release's."""
    return chosen is not None and not PROFILES[chosen].image_identity


def profile_of_release(version: str, released: Sequence[Profile] = RELEASED) -> tuple[Profile | None, bool]:
    """Return the profile of the nodes of a Contrast release, and whether the release is newer than all known ones.

    version: such as v1.25.3, of the form that a ContrastRelease allows. None for a release older than all known ones; a
    newer one has the newest profile. released: the profiles of Contrast releases, oldest first.
    """
    major, minor = (int(part) for part in version.removeprefix("v").split(".")[:2])
    profiles = [profile for profile in released if profile.release and profile.release <= (major, minor)]
    newest = released[-1].release or (0, 0)
    return (profiles[-1] if profiles else None), (major, minor) > newest
