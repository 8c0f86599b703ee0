"""Read a base manifest that the configuration takes from a ConfigMap of the input: `base: {configMap: NAME}`."""

from collections.abc import Sequence

from krm_function.api.base_manifest import names_config_map
from krm_function.api.records import Config
from krm_function.findings import Finding, has_errors
from krm_function.model.resource import Resource
from krm_function.stages.manifest_config_map import with_base
from krm_function.stages.read import read, read_values


def with_base_of_input(config: Config, resources: Sequence[Resource]) -> tuple[Config, tuple[Finding, ...]]:
    """Return the configuration with the manifest itself in place of the name, and findings about the ConfigMap."""
    if not config.generate.manifest.base or not names_config_map(config.generate.manifest.base):
        return config, ()
    found = read(resources, ("ConfigMap",))
    if has_errors(found.findings):
        return config, found.findings
    return with_base(config, list(read_values(found.resources)))
