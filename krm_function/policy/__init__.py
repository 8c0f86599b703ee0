"""Generate execution policies: from a workload and the facts of its images to the initdata it is sealed with.

Rule of this package: no network, no clock, no randomness. What the generator does not know is a located finding, never
a policy that allows more.

    settings -> subject -> process, identity, capabilities, mounts, devices -> containers -> document -> initdata
"""

from krm_function.model.profiles import CONTRAST, DEFAULT, KATA, PROFILES, STRICT, Profile
from krm_function.policy.configured_initdata import base_initdata, unreadable
from krm_function.policy.document import read_policy_data, rego_document, rules_of
from krm_function.policy.initdata import (
    Initdata,
    annotation,
    decode_toml,
    digest,
    encode_toml,
    from_annotation,
    host_data,
)
from krm_function.policy.pod_metadata import is_bookkeeping
from krm_function.policy.references import References
from krm_function.policy.rules import load_rules, profile_of_rules
from krm_function.policy.seal import Policy, seal
from krm_function.policy.settings import Settings, default_settings, settings

__all__ = [
    "CONTRAST",
    "DEFAULT",
    "KATA",
    "PROFILES",
    "STRICT",
    "Initdata",
    "Policy",
    "Profile",
    "References",
    "Settings",
    "annotation",
    "base_initdata",
    "decode_toml",
    "default_settings",
    "digest",
    "encode_toml",
    "from_annotation",
    "host_data",
    "is_bookkeeping",
    "load_rules",
    "profile_of_rules",
    "read_policy_data",
    "rego_document",
    "rules_of",
    "seal",
    "settings",
    "unreadable",
]
