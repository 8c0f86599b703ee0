"""`contrast-krm policy replay`: the requests of a log against the policy that is sealed into one workload.

Rule of this file: the engine judges; a request that cannot be judged is counted, and is never reported as allowed.
"""

from argparse import Namespace
from functools import partial

from krm_function.cli.exits import exit_code_of_differences
from krm_function.cli.inputs import read_inputs
from krm_function.cli.messages import print_findings
from krm_function.cli.parser import Parser, add_findings, add_output_format, add_paths, add_render, add_workload
from krm_function.cli.sealed_policies import sealed_workload
from krm_function.cli.streams import write_out
from krm_function.findings import Finding, finding, has_errors
from krm_function.hosts.files import read_file
from krm_function.kubernetes.workload import Workload
from krm_function.operations.rego_engine import ALL_SECONDS, OutOfTime, rego_engine
from krm_function.operations.replay import Replay, Sealed, explain, name_of, replay, replay_json, replay_text
from krm_function.operations.replay_log import LONGEST, Denial, Log, Pod, Replayed, Sorted, meant, pods_of, read_log
from krm_function.policy.initdata import POLICY, decode_toml, digest, read_policy_data, rules_of, unreadable

DESCRIPTION = (
    "Shows the refused field of each request, and the field of the pod that decides it. The log comes from "
    "the agent at debug level, or is any text that quotes it. Needs OPA or regorus. Exit code 1 if a "
    "request is denied."
)


def add_arguments(parser: Parser) -> None:
    """Add the log, the engine, output, the workload, inputs, findings."""
    parser.add_argument("--log", metavar="FILE", required=True, help="a log with requests that the agent recorded")
    parser.add_argument(
        "--pod", metavar="NAME", default="", help="the pod of the log, as NAME or NAMESPACE/NAME (default: by its name)"
    )
    parser.add_argument(
        "--engine",
        metavar="PROGRAM",
        default="",
        help="opa, regorus, or the path to one (default: the first of the two on PATH)",
    )
    add_output_format(parser)
    add_workload(parser)
    add_paths(parser)
    add_render(parser, variable=False)
    add_findings(parser)


def run(options: Namespace) -> int:
    """Print which requests of a log the policy of one workload denies, and why."""
    workload, toml, _, findings = sealed_workload(options, read_inputs(options.paths))
    if workload is None or has_errors(findings):
        return print_findings(findings, options.format, options.report)
    log, problems = _read_file(options.log)
    if log is None:
        return print_findings((*findings, *problems), options.format, options.report)
    by_pod = pods_of(log)
    pods, problems = _choose_pods(by_pod, workload, options.pod)
    if problems:
        return print_findings((*findings, *problems), options.format, options.report)
    try:
        initdata = decode_toml(toml)
        rego = initdata.data.get(POLICY, "")
        sealed = Sealed(workload, rules_of(rego), read_policy_data(rego))
    except ValueError as problem:
        return print_findings((*findings, unreadable(workload, problem)), options.format, options.report)
    replayed: list[Replayed] = []
    engine = ""
    if pods:
        try:
            with rego_engine(options.engine, rego, sealed.data) as (ask, engine, problems):
                if ask is None:
                    return print_findings((*findings, *problems), options.format, options.report)
                for pod in pods:
                    judged = replay(pod.requests, ask, partial(explain, sealed, ask))
                    replayed.append(Replayed(pod, tuple(judged)))
        except OutOfTime:
            slow = finding("CC1006.slow", seconds=ALL_SECONDS)
            return print_findings((*findings, slow), options.format, options.report)
    outcome = Replay(
        workload.ref,
        digest(toml, initdata.algorithm),
        engine,
        log,
        tuple(replayed),
        sum(len(pod.requests) for pod in by_pod.pods) - sum(len(pod.requests) for pod in pods),
        len(by_pod.unknown),
        _find_without_request(log),
        _find_contradicted(log, replayed) if len(by_pod.pods) == 1 else (),
    )
    write_out((replay_json(outcome) if options.output == "json" else replay_text(outcome)).encode("utf-8"))
    allowed = all(request.allowed for pod in outcome.pods for request in pod.judged)
    code = print_findings(findings, options.format, options.report)
    return exit_code_of_differences(
        code, differ=not allowed or bool(outcome.denials or outcome.contradicted or log.unreadable)
    )


def _read_file(path: str) -> tuple[Log | None, tuple[Finding, ...]]:
    try:
        log = read_log(read_file(path, most=LONGEST + 1))
    except ValueError as problem:
        return None, (finding("CC0909.log-long", option="--log", error=str(problem)),)
    if not (log.requests or log.denials or log.unreadable):
        return None, (finding("CC0909.log-empty", option="--log"),)
    return log, ()


def _choose_pods(by_pod: Sorted, workload: Workload, name: str) -> tuple[tuple[Pod, ...], tuple[Finding, ...]]:
    pods = meant(by_pod.pods, workload, name)
    if pods or not (by_pod.pods or name):
        return pods, ()
    names = ", ".join(dict.fromkeys(name_of(pod) for pod in by_pod.pods if pod.name)) or "none"
    if name:
        return (), (finding("CC0909.log-no-pod", option="--pod", text=name, known=names),)
    return (), (finding("CC0909.log-pods", option="--log", known=names),)


def _find_contradicted(log: Log, replayed: list[Replayed]) -> tuple[Denial, ...]:
    """Return the denials whose request, the last one of the kind before them, is allowed."""
    judged = [request for pod in replayed for request in pod.judged]
    last: dict[str, bool] = {}
    contradicted, position = [], 0
    for denial in log.denials:
        while position < len(judged) and judged[position].request.line < denial.line:
            last[judged[position].request.kind] = judged[position].allowed
            position += 1
        if last.get(denial.kind):
            contradicted.append(denial)
    return tuple(contradicted)


def _find_without_request(log: Log) -> tuple[Denial, ...]:
    """Return the denials of a kind without an earlier request."""
    first: dict[str, int] = {}
    for request in log.requests:
        first.setdefault(request.kind, request.line)
    return tuple(denial for denial in log.denials if first.get(denial.kind, denial.line) >= denial.line)
