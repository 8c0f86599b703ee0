"""The plan of an upgrade as text and JSON.

    from release v1.25.0 to v1.26.0: 2 workloads with their coordinator

    PLATFORM        HANDLER NOW                          HANDLER NEXT                         WORKLOADS
    metal-qemu-snp  contrast-cc-metal-qemu-snp-18a1a065  contrast-cc-metal-qemu-snp-28a1a065  2

    wave 1: render
      render once more with v1.25.0, ...
      kubectl:
        contrast-krm generate resources --config config -o deployed.yaml
      before wave 2:
        contrast-krm check rendered.yaml -> exit code 0

Rule of this file: what is the same for all hosts stands once. The JSON form is versioned; version 1 only ever gains
fields. Names come from the input, so their control characters are made visible.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from krm_function.report.order import on_one_line
from krm_function.upgrade.change import Change
from krm_function.upgrade.hosts import HOSTS
from krm_function.upgrade.progress import Seen
from krm_function.upgrade.waves import Wave


def upgrade_text(change: Change, planned: Sequence[Wave], seen: Mapping[str, Seen], again: str) -> str:
    """Write what changes, and each wave with its commands. again: the command that says how far it is."""
    lines = [_heading(change), "", *_platforms(change)]
    if change.images:
        lines.append(f"images of the release that are others: {len(change.images)}")
    if change.profiles[0] != change.profiles[1]:
        lines.append(f"policy profile {change.profiles[1] or 'of none'}, in place of {change.profiles[0] or 'none'}")
    lines.append(f"how far it is: {again}")
    lines.append(
        "HOST, NAME, OVERLAY, CHART and other words in capitals are yours to replace; nothing of this was run."
    )
    for number, wave in enumerate(planned, 1):
        lines += ["", f"wave {number}: {wave.name}", f"  {wave.what}"]
        state = seen.get(wave.name)
        if state is not None and (state.state != "unknown" or state.text):
            lines.append(f"  now: {state.state}{f', {state.text}' if state.text else ''}")
        lines += _commands(wave)
        if wave.gates:
            lines.append(f"  before wave {number + 1}:" if number < len(planned) else "  at the end:")
            for gate in wave.gates:
                lines += [f"    {gate.command}", f"      {gate.answer}"]
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def upgrade_json(change: Change, planned: Sequence[Wave], seen: Mapping[str, Seen], again: str) -> str:
    """Write `{"version": 1, "from": ..., "to": ..., "platforms": [...], "workloads": [...], "waves": [...]}`."""
    told = [
        {
            "wave": number,
            "name": wave.name,
            "what": wave.what,
            "commands": {host: [*commands] for host, commands in wave.commands.items()},
            "notes": dict(wave.notes),
            "before": [{"command": gate.command, "answer": gate.answer} for gate in wave.gates],
            "state": seen[wave.name].state if wave.name in seen else "unknown",
            "seen": on_one_line(seen[wave.name].text) if wave.name in seen else "",
        }
        for number, wave in enumerate(planned, 1)
    ]
    data = {
        "version": 1,
        "from": change.before,
        "to": change.after,
        "profiles": {"from": change.profiles[0], "to": change.profiles[1]},
        "platforms": [
            {
                "name": one.name,
                "from": one.before,
                "to": one.after,
                "otherReferenceValues": one.measured,
                "workloads": [f"{ref.kind}/{ref}" for ref in one.workloads],
            }
            for one in change.platforms
        ],
        "images": [*change.images],
        "coordinator": f"{change.coordinator.kind}/{change.coordinator}" if change.coordinator else None,
        "howFar": again,
        "waves": told,
    }
    return json.dumps(data, indent=2) + "\n"


def _heading(change: Change) -> str:
    count = len(change.workloads)
    whose = "with their coordinator" if change.coordinator else "whose coordinator is elsewhere"
    return f"from release {change.before} to {change.after}: {count} workload{'' if count == 1 else 's'} {whose}"


def _platforms(change: Change) -> Iterator[str]:
    rows = [("PLATFORM", "HANDLER NOW", "HANDLER NEXT", "REFERENCE VALUES", "WORKLOADS")]
    for one in change.platforms:
        values = "others" if one.measured else "the same"
        rows.append((one.name, one.before, one.after, values, str(len(one.workloads))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield from ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _commands(wave: Wave) -> Iterator[str]:
    """Yield the commands of each host; hosts with the same ones share them."""
    shared: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for host, commands in wave.commands.items():
        shared.setdefault((tuple(commands), wave.notes.get(host, "")), []).append(HOSTS[host].title)
    for (commands, note), titles in shared.items():
        if not commands and not note:
            continue
        yield f"  {', '.join(titles)}:"
        if note:
            yield f"    note: {note}"
        if any(" | " in line for line in commands):
            yield "    set -o pipefail"
        yield from (f"    {line}" for line in commands)
        if not commands:
            yield "    (with the next wave)"
