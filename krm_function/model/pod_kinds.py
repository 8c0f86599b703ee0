"""The kinds that have pod templates, as one value: the eight, the shipped catalogue, and those of the configuration.

Rule of this file: a kind is known by its group and its name, and what the configuration says of it counts in place of
what the catalogue says. The catalogue is loaded when an object of one of its kinds is there, and not before.

    apiVersion and kind                         its pod templates are
    of one of the eight                         those of model/kinds.py, whatever the configuration says
    of an entry of spec.podTemplates            those of the entry, in the versions that it lists
    of an entry of the catalogue, not refused   those of the entry, in the versions that it lists
    of anything else                            none that a render seals
"""

from collections.abc import Mapping

from krm_function.findings import Path, Ref
from krm_function.model.kinds import CATALOGUED, KINDS, REFUSED, expand
from krm_function.model.pod_kind import EMPTY, PlacedTemplate, PodKind, PodTemplate


class Kinds:
    """All kinds with pod templates that one call knows. configured: by group and kind."""

    __slots__ = ("configured", "names")

    def __init__(self, configured: Mapping[tuple[str, str], PodKind] = EMPTY) -> None:  # type: ignore[assignment]
        """Index the kinds of a configuration. names: of all kinds of which an object may have pod templates."""
        self.configured = configured
        self.names = frozenset((*KINDS, *CATALOGUED, *(kind for _, kind in configured)))

    def of(self, ref: Ref) -> PodKind | None:
        """Return the kind of an object, None if no render seals its pods."""
        known = KINDS.get(ref.kind)
        if known is not None and ref.api_version == known[0]:
            return BUILT_IN[ref.kind]
        entry = self.entry(ref)
        version = ref.api_version.rpartition("/")[2]
        if entry is None or entry.refused or (entry.versions and version not in entry.versions):
            return None
        return entry

    def entry(self, ref: Ref) -> PodKind | None:
        """Return what configuration or catalogue say of the group and kind of an object, in whichever version."""
        group = ref.api_version.rpartition("/")[0]
        if (group, ref.kind) in self.configured:
            return self.configured[group, ref.kind]
        if group not in CATALOGUED.get(ref.kind, ()) and ref.kind not in REFUSED.get(group, ()):
            return None
        from krm_function.model.shipped_kinds import shipped

        return shipped(group, ref.kind)

    def templates(self, ref: Ref, value: object) -> list[PlacedTemplate]:
        """Return the pod templates of an object, present or not; none if no render seals it."""
        known = self.of(ref)
        if known is None:
            return []
        if known.source == "built-in":
            return [PlacedTemplate(path) for one in known.templates for path in expand(one.path, value)]
        from krm_function.model.template_names import placed_templates

        return placed_templates(known, value)

    def paths(self, ref: Ref, value: object) -> list[Path]:
        """Return the paths of the pod templates of an object, as `templates` does."""
        return [one.path for one in self.templates(ref, value)]


BUILT_IN = {kind: PodKind("", kind, tuple(map(PodTemplate, patterns))) for kind, (_, *patterns) in KINDS.items()}
SHIPPED = Kinds()
