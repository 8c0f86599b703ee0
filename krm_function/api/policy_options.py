"""`policy` of ContrastGenerate: how execution policies are made.

Rule of this file: what a policy then allows is not decided here; these are the types and limits of what a user writes.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

from krm_function.api.document import NAMESPACE, SUBDOMAIN
from krm_function.api.strict_json import load_object
from krm_function.model.labels import LONGEST_SUBDOMAIN
from krm_function.model.profiles import DEFAULT, PROFILES, ProfileName
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.kinds import Choice, Field, JsonObject, ListOf, MapOf, Problems, Text
from krm_function.schema.table import EMPTY, table

INITDATA_FILE = r"(?!policy\.rego$)[A-Za-z0-9._-]+"
NAME_PATTERN = "[a-z0-9*](?:[a-z0-9.*-]*[a-z0-9*])?"


def rules_problem(text: str) -> str:
    """Return what keeps a text from being rules, or "": the guest would deny everything for want of its package."""
    if not re.search(r"^package agent_policy\b", text, re.MULTILINE):
        return "must be Rego of package agent_policy"
    if re.search(r"^policy_data\b", text, re.MULTILINE):
        return "holds policy_data, so it is a whole policy and not the rules alone"
    return ""


def _check_name(source: dict[str, Any]) -> Problems:
    if (source.get("name") is None) == (source.get("namePattern") is None):
        return (((), "needs either name or namePattern"),)
    return ()


def _pattern_problem(text: str) -> str:
    return "" if re.search("[a-z0-9]", text) else "stands for every name; write a part of the names"


class ExternalSource(NamedTuple):
    """ConfigMaps or Secrets that only the cluster has: variables that come from there may have any value.

    name or name_pattern: the other one is "". namespace: "" for that of the workload. keys: () for all that env names.
    variables: the names that they may have in a container, () for any.
    """

    kind: Annotated[Literal["Secret", "ConfigMap"], ""]
    namespace: Annotated[str, Field(NAMESPACE, "absent: that of the workload")] = ""
    name: Annotated[str, Field(SUBDOMAIN, "of the object")] = ""
    name_pattern: Annotated[  # as model.glob_pattern reads it
        str,
        Field(
            Text("a name with * for any text", NAME_PATTERN, LONGEST_SUBDOMAIN, "db-*", _pattern_problem),
            "of the whole name, in place of name; * stands for any text",
        ),
    ] = ""
    keys: Annotated[
        tuple[str, ...],
        Field(
            ListOf(Text("a key of a ConfigMap or Secret", "[-._a-zA-Z0-9]+", 253)),
            "the keys that are meant; absent: each that env of a pod names, and none for envFrom",
        ),
    ] = ()
    variables: Annotated[
        tuple[str, ...],
        Field(
            ListOf(Text("a name of a variable", "[^=\\0]+", 253)),
            "the names that a variable from there may have, the prefix of envFrom included; absent: any",
        ),
    ] = ()


PROFILE = Field(
    Choice(tuple(PROFILES)),
    "; ".join(f"{one.name}: {one.means}" for one in PROFILES.values()) + "; absent: the profile of the release",
    default=DEFAULT.name,  # that of every release that is known
)


class PolicyOptions(NamedTuple):
    """How execution policies are made.

    profile: None for that of the release. rules: Rego text, None for the project's own. settings: see policy.settings.
    initdata: file name -> file text.
    """

    engine: Annotated[Literal["native", "none"], "none leaves the initdata annotation alone", "short"] = "native"
    profile: Annotated[ProfileName | None, PROFILE] = None
    rules: Annotated[
        str | None, Field(Text("Rego rules", check=rules_problem), "rules in place of the project's own")
    ] = None
    settings: Annotated[
        Mapping[str, Any] | None,
        Field(JsonObject("a map or a JSON object", load_object), "settings in place of the release's"),
    ] = None
    initdata: Annotated[
        Mapping[str, str],
        Field(
            MapOf(Text("a file name other than policy.rego", INITDATA_FILE, 253), Text("the text of a file")),
            "more files for the guest, such as aa.toml, cdh.toml or imagepuller.toml; part of every policy digest",
        ),
    ] = EMPTY
    external_sources: Annotated[
        tuple[ExternalSource, ...],
        Field(
            ListOf(table(ExternalSource, _check_name)),
            "ConfigMaps and Secrets that only the cluster has: the host may give their variables any value",
        ),
    ] = ()


POLICY = table(PolicyOptions)
