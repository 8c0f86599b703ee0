"""The helpers as a third party has them: installed from the wheel, with PyYAML alone, typed."""

import re
from pathlib import Path

from tests.krm.third_party import Environment

TYPES = {
    'item.get_str(("a",))': "str | None",
    'item.get_str(("a",), "x")': "str",
    'item.get_int(("a",))': "int | None",
    'item.get_int(("a",), 1)': "int",
    'item.get_float(("a",))': "float | None",
    'item.get_bool(("a",), False)': "bool",
    'item.get_list(("a",))': "list[Any] | None",
    'item.get_map(("a",))': "dict[str, Any] | None",
    'item.get_strings(("a",))': "list[str] | None",
    'item.get_string_map(("a",))': "dict[str, str] | None",
    'item.sub_objects(("a",))': "tuple[krm_function.krm.fields.SubObject, ...]",
    'item.sub_object(("a",))': "krm_function.krm.fields.SubObject | None",
    'item.setdefault(("a",), [])': "list[Any]",
    'item.setdefault(("a",), {})': "dict[str, Any]",
    'item.setdefault(("a",), 1)': "int",
    "item.name": "str",
    'item.labels["a"]': "str",
    "item.annotations": "krm_function.krm.fields.StringMap",
    'item.result("x")': "Result",
    "item.same_id(item)": "bool",
    "resources.items": "tuple[krm_function.krm.kube_object.KubeObject, ...]",
    "read_config(resources.function_config, Form)": "Form",
    'where(resources.items, is_kind("A"))': "tuple[krm_function.krm.kube_object.KubeObject, ...]",
    "run(function, b'')": "tuple[bytes, krm_function.krm.results.Results]",
    "as_main(function)": "int",
}
HEAD = """\
from typing import NamedTuple

from krm_function.krm import ResourceList, as_main, is_kind, read_config, run, where


class Form(NamedTuple):
    name: str


def function(resources: ResourceList) -> None:
    item = resources.items[0]
"""
WRONG = {
    'item.set_nested("spec.replicas", 1)': 'incompatible type "str"',
    'item.get_str("kind")': "No overload variant",
    'item.get_str(("kind",)).lower()': 'Item "None"',
    'item.get_list(("a",)).append(1)': 'Item "None"',
    'item.labels["a"] = 1': 'Incompatible types in assignment (expression has type "int"',
    "item.name = None": "Incompatible types in assignment",
    'resources.results.info("%s", 1)': "incompatible type",
}


def test_the_types_of_the_getters_reach_a_third_party(tmp_path: Path, environment: Environment) -> None:
    lines = [f"    reveal_type({expression})\n" for expression in TYPES]
    (tmp_path / "function.py").write_text(HEAD + "".join(lines))
    said = re.findall(r'Revealed type is "(.*)"', environment.mypy(tmp_path, "function.py"))
    plain = [re.sub(r"builtins\.|typing\.|function\.(?=Form)", "", one) for one in said]
    short = [re.sub(r"tuple\[.*fallback=(?:[\w.]+\.)?(\w+)\]", r"\1", one) for one in plain]
    assert dict(zip(TYPES, short, strict=True)) == TYPES


def test_what_would_fail_is_an_error_of_types(tmp_path: Path, environment: Environment) -> None:
    (tmp_path / "function.py").write_text(HEAD + "".join(f"    {line}\n" for line in WRONG))
    said = environment.mypy(tmp_path, "function.py")
    first = HEAD.count("\n") + 1
    for number, (line, problem) in enumerate(WRONG.items(), first):
        assert re.search(rf"function\.py:{number}: error: .*{re.escape(problem)}", said), (line, said)


def test_the_helpers_need_pyyaml_and_nothing_else(tmp_path: Path, environment: Environment) -> None:
    code = (
        "import sys, krm_function.krm as krm\n"
        "from krm_function.krm import read_config\n"
        "item = krm.KubeObject('kind: A\\nspec: {a: [1, 2]}\\n')\n"
        "item.value['spec']['a'].reverse()\n"
        "print(item.text, sorted({name.partition('.')[0] for name in sys.modules} & {\n"
        "    'cryptography', 'urllib3', 'jinja2', 'tqdm', 'jsonpatch', 'shtab', 'backports'}))\n"
    )
    done = environment.run(code, tmp_path)
    assert (done.stdout, done.stderr) == ("kind: A\nspec: {a: [2, 1]}\n []\n", "")


def test_the_environment_is_not_the_working_tree(tmp_path: Path, environment: Environment) -> None:
    done = environment.run("import krm_function; print(krm_function.__file__)", tmp_path)
    assert done.stdout.startswith(str(environment.python.parents[1]))
    assert environment.run("import cryptography", tmp_path).returncode == 1
