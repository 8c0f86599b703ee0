"""Which nodes attestation refuses: by the truth table of `contrast/firmware.py`, and over random machines."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.contrast.firmware import attested_nodes, entries_of, judge
from krm_function.contrast.platforms import PLATFORMS
from krm_function.kubernetes.nodes import CHIP, PIID, PRODUCT, SEAM, TCB, VERSIONS, Firmware, Node, read_nodes
from krm_function.kubernetes.objects import reference
from krm_function.kubernetes.workload import workloads_of
from tests.stages.deployment import an_object, pod_spec

SNP, TDX = PLATFORMS["metal-qemu-snp"], PLATFORMS["metal-qemu-tdx"]
CHIPS = ["ab" * 64, "cd" * 64]
SEAMS = ["ab" * 48, "cd" * 48]


def tcb(*numbers: int | None) -> dict[str, Any]:
    return dict(zip(VERSIONS, numbers, strict=True))


def snp(product: str, *least: int | None, chips: Any = None) -> dict[str, Any]:
    return {"Platform": SNP.marker, "ProductName": product, "MinimumTCB": tcb(*least), "AllowedChipIDs": chips}


def tdx(seam: str, piids: Any = None) -> dict[str, Any]:
    return {"Platform": TDX.marker, "MrSeam": seam, "AllowedPIIDs": piids}


MILAN, GENOA = snp("Milan", 4, 0, 24, 219), snp("Genoa", 10, 0, 23, 84)
GOOD_GENOA, BAD_GENOA = tcb(10, 0, 23, 84), tcb(10, 0, 23, 83)


@pytest.mark.parametrize(
    ("firmware", "entries", "refused", "unknown"),
    [
        (Firmware("Genoa", GOOD_GENOA), [MILAN, GENOA], (), ()),
        (Firmware("Genoa", tcb(255, 255, 255, 255)), [MILAN, GENOA], (), ()),
        (Firmware("Genoa", BAD_GENOA), [MILAN, GENOA], ("MicrocodeVersion is 83, at least 84 is wanted",), ()),
        (
            Firmware("Genoa", tcb(9, 0, 22, 84)),
            [GENOA],
            ("BootloaderVersion is 9, at least 10 is wanted", "SNPVersion is 22, at least 23 is wanted"),
            (),
        ),
        (Firmware("Genoa", BAD_GENOA), [GENOA, snp("Genoa", 9, 0, 21, 70)], (), ()),
        (Firmware("Turin", GOOD_GENOA), [MILAN, GENOA], ("ProductName is Turin, not Genoa or Milan",), ()),
        (Firmware("Genoa"), [MILAN, GENOA], (), (TCB,)),
        (Firmware(), [MILAN, GENOA], (), (PRODUCT, TCB)),
        (Firmware("", tcb(10, 0, 23, 84)), [MILAN, GENOA], (), (PRODUCT,)),
        (Firmware("", tcb(10, 0, 24, 219)), [MILAN, GENOA], (), ()),
        (Firmware("", tcb(3, 0, 23, 84)), [MILAN, GENOA], ("BootloaderVersion is 3, at least 10 is wanted",), ()),
        (
            Firmware("Genoa", GOOD_GENOA),
            [snp("Genoa", 10, 0, 23, None)],
            (),
            ("MinimumTCB.MicrocodeVersion of the manifest",),
        ),
        (
            Firmware("Genoa", tcb(9, 0, 23, 84)),
            [snp("Genoa", 10, 0, 23, None)],
            ("BootloaderVersion is 9, at least 10 is wanted",),
            (),
        ),
        (Firmware("Genoa", GOOD_GENOA), [snp("Genoa", 10, 0, 23, 84, chips=CHIPS)], (), (CHIP,)),
        (Firmware("Genoa", GOOD_GENOA, CHIPS[1]), [snp("Genoa", 10, 0, 23, 84, chips=CHIPS)], (), ()),
        (
            Firmware("Genoa", GOOD_GENOA, "ef" * 64),
            [snp("Genoa", 10, 0, 23, 84, chips=CHIPS)],
            ("efefefefefef… is not in AllowedChipIDs",),
            (),
        ),
    ],
)
def test_snp(firmware: Firmware, entries: Any, refused: tuple[str, ...], unknown: tuple[str, ...]) -> None:
    assert judge(firmware, SNP, entries) == (refused, unknown)


@pytest.mark.parametrize(
    ("firmware", "entries", "refused", "unknown"),
    [
        (Firmware(mr_seam=SEAMS[0]), [tdx(SEAMS[0].upper())], (), ()),
        (Firmware(mr_seam=SEAMS[1]), [tdx(SEAMS[0])], ("MrSeam is cdcdcdcdcdcd…, not abababababab…",), ()),
        (Firmware(mr_seam=SEAMS[1]), [tdx(SEAMS[0]), tdx(SEAMS[1])], (), ()),
        (Firmware(), [tdx(SEAMS[0])], (), (SEAM,)),
        (Firmware(mr_seam=SEAMS[0]), [tdx("")], (), ("MrSeam of the manifest",)),
        (Firmware(mr_seam=SEAMS[0]), [tdx(SEAMS[0], ["01ab"])], (), (PIID,)),
        (Firmware(mr_seam=SEAMS[0], piid="01ab"), [tdx(SEAMS[0], ["01AB"])], (), ()),
        (Firmware(mr_seam=SEAMS[0], piid="02"), [tdx(SEAMS[0], ["01AB"])], ("02 is not in AllowedPIIDs",), ()),
    ],
)
def test_tdx(firmware: Firmware, entries: Any, refused: tuple[str, ...], unknown: tuple[str, ...]) -> None:
    assert judge(firmware, TDX, entries) == (refused, unknown)


NUMBERS = st.tuples(*[st.integers(0, 2)] * 4)


@given(
    st.sampled_from(["", "Milan", "Genoa"]),
    st.none() | NUMBERS,
    st.lists(st.tuples(st.sampled_from(["Milan", "Genoa"]), NUMBERS), min_size=1, max_size=3),
)
def test_a_node_is_accepted_only_if_every_machine_that_it_may_be_is(
    product: str, numbers: Any, least: list[tuple[str, Any]]
) -> None:
    """Unknown product: it may be each one of the manifest; unknown versions: they may be any."""
    entries = [snp(name, *minimum) for name, minimum in least]
    products = [product] if product else sorted({name for name, _ in least})
    machines = [(one, held) for one in products for held in ([numbers] if numbers else [(0,) * 4, (2,) * 4])]
    accepted = [
        any(name == one and all(map(int.__ge__, held, minimum)) for name, minimum in least) for one, held in machines
    ]
    verdict = judge(Firmware(product, tcb(*numbers) if numbers else None), SNP, entries)
    if verdict.refused:
        assert not any(accepted)
    elif not verdict.unknown:
        assert all(accepted)
    elif numbers and product:
        pytest.fail("all is known")


def test_the_reference_values_of_a_platform_alone() -> None:
    values = {"snp": [MILAN, GENOA, {**GENOA, "Platform": "Metal-QEMU-SNP-GPU"}], "tdx": [tdx(SEAMS[0])]}
    manifest = json.dumps({"ReferenceValues": values}).encode()
    assert [len(entries_of(manifest, PLATFORMS[name])) for name in ("metal-qemu-snp", "metal-qemu-snp-gpu")] == [2, 1]
    assert len(entries_of(manifest, TDX)) == 1
    assert entries_of(b"", TDX) == []


def test_a_workload_that_only_refused_nodes_take_is_an_error() -> None:
    value = an_object(spec=pod_spec())
    (workload,) = workloads_of(value, (), reference(value))
    manifest = json.dumps({"ReferenceValues": {"snp": [MILAN, GENOA]}}).encode()
    nodes = [Node("bad", {}, firmware=Firmware("Genoa", BAD_GENOA)), Node("silent", {}), Node("unused", {})]
    nodes.append(Node("good", {}, firmware=Firmware("Genoa", GOOD_GENOA)))
    some = attested_nodes([(workload, SNP.name, {"bad", "silent", "good"})], nodes, manifest)
    assert [(one.code, one.ref and one.ref.name) for one in some] == [("CC0326", "bad"), ("CC0327", None)]
    assert "silent" in some[1].message
    lost = attested_nodes([(workload, SNP.name, {"bad"})], nodes, manifest)
    assert [one.code for one in lost] == ["CC0326", "CC0328"]
    assert lost[1].ref == workload.ref
    assert attested_nodes([(workload, SNP.name, set())], nodes, manifest) == []


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (TCB, "BootloaderVersion=9", "CC0314.tcb"),
        (TCB, "BootloaderVersion=9,TEEVersion=0,SNPVersion=21,MicrocodeVersion=256", "CC0314.tcb"),
        (TCB, 9, "CC0314.string"),
        (SEAM, "abc", "CC0314.hexadecimal"),
        (CHIP, "zz" * 64, "CC0314.hexadecimal"),
        (PIID, "abc", "CC0314.hexadecimal"),
        ("node.contrast-krm.dev/snp-tbc", "", "CC0314.fact"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_said_and_unknown(key: str, value: Any, code: str) -> None:
    read = read_nodes({"kind": "Node", "metadata": {"name": "a", "annotations": {key: value, "other/key": 1}}})
    assert [(path[-1], cause.code) for _, path, cause in read[1]] == [(key, code)]
    assert read[0] == (Node("a", {}),)
