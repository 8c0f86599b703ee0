"""Input that is no text, no YAML, or YAML that two readers understand in two ways."""

from tests.failures.case import Table
from tests.failures.world import World

cases = Table()
STREAMS = ("post-render", "generate", "in-place", "output")
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"


@cases("CC0106", "line", "replicas", hint="keep one")
def the_same_key_twice(world: World) -> None:
    world.replace("web", "\nspec:\n", "\nspec:\n  replicas: 1\n  replicas: 2\n")


@cases("CC0106", "line", "kind", echoed=True)
def two_kinds_in_one_object(world: World) -> None:
    world.replace("web", "kind: Deployment\n", "kind: Deployment\nkind: Service\n")


@cases("CC0107", "line", hint="without a tag")
def a_tag_in_the_workload(world: World) -> None:
    world.replace("web", "runtimeClassName: ", "runtimeClassName: !!python/name:os.system ")


@cases("CC0101", "line", echoed=True)
def a_nul_byte(world: World) -> None:
    world.replace("web", "kind: Deployment", "kind: Deploy\0ment")


@cases("CC0102", "line", hint="UTF-8", echoed=True)
def invalid_utf_8(world: World) -> None:
    world.replace("web", "kind: Deployment", "kind: Deploy\udcffment")


@cases("CC0102", "", hint="UTF-8", hosts=STREAMS)
def a_utf_16_file(world: World) -> None:
    world.encoding = "utf-16"


@cases("CC0101", "line", "a carriage return without a line feed", echoed=True)
def lines_that_end_like_those_of_an_old_macintosh(world: World) -> None:
    world.raw("web", lambda text: text.replace("\n", "\r") + "\n")


@cases("CC0105", "line", "inside its own anchor")
def a_cyclic_alias(world: World) -> None:
    world["more"] = CONFIG_MAP + "data: &loop\n  again: *loop\n"


@cases("CC0105", "line", "an alias without an anchor", echoed=True)
def an_alias_without_an_anchor(world: World) -> None:
    world["more"] = CONFIG_MAP + "data: {key: *nowhere}\n"


@cases("CC0101", "line", echoed=True)
def a_tab_as_indentation(world: World) -> None:
    world["more"] = CONFIG_MAP + "data:\n\tkey: value\n"


@cases("CC0101", "line", echoed=True)
def a_quote_that_never_ends(world: World) -> None:
    world["zz"] = CONFIG_MAP + 'data:\n  key: "value\n'


@cases("CC0104", "line", echoed=True)
def a_deep_block_sequence(world: World) -> None:
    world["more"] = CONFIG_MAP + "data:\n  " + "- " * 5000 + "x\n"


@cases("CC0119", "line", "an unrendered template in {{ }}", hint="helm template")
def a_template_that_was_never_rendered(world: World) -> None:
    world["more"] = CONFIG_MAP + "data:\n  key: {{ .Values.key }}\n"


@cases("CC0119", "line", "an unrendered template in {{ }}", hint="helm template", echoed=True)
def a_template_in_a_line_of_its_own(world: World) -> None:
    world["more"] = CONFIG_MAP + "data:\n  {{- if .Values.key }}\n  key: value\n  {{- end }}\n"


@cases("CC0108", "line", "a key that is not a scalar")
def a_map_as_a_key(world: World) -> None:
    world["more"] = CONFIG_MAP + "data:\n  ? {key: value}\n  : value\n"


@cases("CC0101", "line", echoed=True)
def a_merge_conflict_left_in_the_file(world: World) -> None:
    world["more"] = CONFIG_MAP + "<<<<<<< HEAD\ndata: {key: a}\n=======\ndata: {key: b}\n>>>>>>> theirs\n"


@cases("CC0108", "line")
def an_original_annotation_that_is_no_record(world: World) -> None:
    world["web"]["metadata"]["annotations"]["contrast-krm.dev/original"] = "eyJub3QiOiAib3VycyJ9"


@cases("CC0108", "line")
def an_original_annotation_that_is_no_text(world: World) -> None:
    world["web"]["metadata"]["annotations"]["contrast-krm.dev/original"] = {"a": 1}
