"""What a Node says of its machine in annotations: the versions of its firmware, and which chip it is.

Rule of this file: it reads and never judges. Kubernetes knows nothing of this, so whoever runs the machines writes it:
in annotations and not in labels, because a measurement is longer than a label may be. What is not said is unknown.
"""

import re
from collections.abc import Mapping
from typing import Any

from krm_function.findings import Cause
from krm_function.model.tcb import parse_tcb
from krm_function.record import NamedTuple

PREFIX = "node.contrast-krm.dev/"
PRODUCT, TCB, CHIP = PREFIX + "snp-product", PREFIX + "snp-tcb", PREFIX + "snp-chip-id"
SEAM, PIID = PREFIX + "tdx-mr-seam", PREFIX + "tdx-piid"
HEXADECIMAL = {
    CHIP: re.compile("[0-9a-fA-F]{128}"),
    SEAM: re.compile("[0-9a-fA-F]{96}"),
    PIID: re.compile("([0-9a-fA-F]{2})+"),
}


class Firmware(NamedTuple):
    """What is known of a machine. tcb: version by name, None when unknown; the texts are "" then, or lower-case hex.

    product: Milan or Genoa, as in the manifest's ProductName.
    """

    product: str = ""
    tcb: Mapping[str, int] | None = None
    chip_id: str = ""
    mr_seam: str = ""
    piid: str = ""

    def beside(self, other: "Firmware") -> "Firmware":
        """Return what either says; where both do, the other."""
        return Firmware(
            other.product or self.product,
            other.tcb or self.tcb,
            other.chip_id or self.chip_id,
            other.mr_seam or self.mr_seam,
            other.piid or self.piid,
        )


UNKNOWN = Firmware()


def read_firmware(annotations: Mapping[Any, Any]) -> tuple[Firmware, list[tuple[str, Cause]]]:
    """Read the annotations of a Node. Returns also the keys that are not valid, with their CC0314; they are unknown."""
    said = {str(key): value for key, value in annotations.items() if str(key).startswith(PREFIX)}
    faults: list[tuple[str, Cause]] = []
    texts: dict[str, str] = {}
    for key, value in said.items():
        if key not in {PRODUCT, TCB, *HEXADECIMAL}:
            faults.append((key, Cause("CC0314.fact", {"known": ", ".join((PRODUCT, TCB, *HEXADECIMAL))})))
        elif not isinstance(value, str):
            faults.append((key, Cause("CC0314.string")))
        elif key in HEXADECIMAL and not HEXADECIMAL[key].fullmatch(value):
            faults.append((key, Cause("CC0314.hexadecimal")))
        else:
            texts[key] = value.lower() if key in HEXADECIMAL else value
    tcb = parse_tcb(texts[TCB]) if TCB in texts else None
    if TCB in texts and tcb is None:
        faults.append((TCB, Cause("CC0314.tcb")))
    known = (texts.get(key, "") for key in (CHIP, SEAM, PIID))
    return Firmware(texts.get(PRODUCT, ""), tcb, *known), faults
