"""Verbs that look and write nothing: plan, explain, diff, check, policy.

Rule of this file: as in arguments.py, nothing is done here, and a verb's module is imported when the verb is used.
"""

import argparse

from krm_function.cli.parser import Parser, Verbs, config, genpolicy, say, verb
from krm_function.cli.plan_output import Outputs


def plan(verbs: "Verbs[Parser]") -> None:
    """`plan`."""
    parser = verb(
        verbs,
        "plan",
        "what a render would do, one line a workload; no resource is written",
        "Given nodes, also which of them take each pod, and why the others do not; a pod that fits none is an error.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files or directories (default: standard input)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FORM|FILE",
        choices=Outputs(),
        action="append",
        default=[],
        help="text (default), json, mermaid or html, or a file whose name ends in .txt, .json, .mmd or .html",
    )
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument(
        "--nodes",
        metavar="FILE",
        action="append",
        default=[],
        help="what `kubectl get nodes -o yaml` printed (repeatable, - is standard input); replaces Nodes among PATH",
    )
    nodes.add_argument(
        "--cluster",
        action="store_true",
        help="ask the cluster of the current kubeconfig context for its nodes (needs contrast-krm[cluster])",
    )
    config(parser)
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.plan import run_plan

        return run_plan(options)

    parser.set_defaults(run=run)


def explain(verbs: "Verbs[Parser]") -> None:
    """`explain`."""
    parser = verb(
        verbs,
        "explain",
        "why each edit of one workload, or why there is none; nothing is written",
        "Every edit in order, with its rule, its reason and where that is documented.",
    )
    what = "the workload: KIND/NAME or KIND/NAMESPACE/NAME, such as deploy/web or Deployment/shop/web"
    parser.add_argument("address", metavar="KIND/NAME", nargs="?", default="", help=what)
    parser.add_argument("paths", metavar="FILE", nargs="*", help="files or directories (default: standard input)")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the story")

    config(parser)
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.explain import run_explain

        if not options.address:
            parser.error("name a workload as KIND/NAME")
        return run_explain(options)

    parser.set_defaults(run=run)


def diff(verbs: "Verbs[Parser]") -> None:
    """`diff`."""
    parser = verb(
        verbs,
        "diff",
        "what a render would change, or what differs between the policies of two outputs; nothing is written",
        "Secrets, values of variables and long annotations are masked. On an error nothing is printed. With --policy, "
        "one line a difference with the verdict weaker, stronger or different; what is not known counts as weaker.",
    )
    parser.add_argument("paths", metavar="FILE", nargs="*", help="files or directories (default: standard input)")
    parser.add_argument(
        "--policy",
        nargs=2,
        metavar=("OLD", "NEW"),
        help="compare policies instead: files or directories with rendered output; - is standard input",
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the differences")
    parser.add_argument(
        "--exit-code",
        action="store_true",
        help="exit 1 when anything would change or differs; an error exits 1, 2 or 3 as well, but prints no diff",
    )

    config(parser)
    say(parser)

    def run(options: argparse.Namespace) -> int:
        if options.policy:
            from krm_function.cli.policy_diff import run_policy_diff

            if options.paths or options.config:
                parser.error("--policy takes two outputs and nothing else")
            return run_policy_diff(options)
        from krm_function.cli.diff import run_diff

        if options.output != "text":
            parser.error("-o json is for --policy")
        return run_diff(options)

    parser.set_defaults(run=run)


def check(verbs: "Verbs[Parser]") -> None:
    """`check`."""
    parser = verb(
        verbs,
        "check",
        "verify rendered output: placeholders, policies, images, manifest",
        "Looks at what will be applied; needs no configuration. With one it also renders again and compares, which "
        "finds what no policy can tell: a command that was removed, a cpu limit on TDX.",
    )
    config(parser)
    parser.add_argument("paths", metavar="FILE", nargs="*", help="rendered output (default: standard input)")
    parser.add_argument("--manifest", metavar="FILE", default="", help="manifest.json, when it is not in the output")
    parser.add_argument(
        "--no-weaker",
        metavar="OLD",
        default="",
        help="rendered output of before: an error for every line by which a policy is weaker than there",
    )
    say(parser)

    def run(options: argparse.Namespace) -> int:
        from krm_function.cli.check import run_check

        return run_check(options)

    parser.set_defaults(run=run)


def policy(verbs: "Verbs[Parser]") -> None:
    """`policy`."""
    parser = verb(verbs, "policy", "print the policy of one workload, or compare it with genpolicy's")
    parts = parser.add_subparsers(title="parts", metavar="PART", parser_class=Parser, required=True)
    named = "KIND/NAME or KIND/NAMESPACE/NAME, such as Deployment/web"
    show = verb(
        parts,
        "show",
        "print the policy that is sealed into a workload",
        "Out of rendered output; with a configuration the input is rendered first.",
    )
    show.add_argument(
        "-o",
        "--output",
        choices=("rego", "data", "initdata", "digest", "host-data"),
        default="rego",
        help="the policy document, its data as JSON, the initdata TOML, its digest as the manifest names it, or that "
        "digest as SNP and TDX report it (default: rego)",
    )
    compare = verb(
        parts,
        "compare",
        "the native policy beside the one that genpolicy makes of the same pod, field by field",
        "Both get our rules and settings. genpolicy pulls the pod's images.",
    )
    compare.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the differences")
    genpolicy(compare, required=True)
    for one in (show, compare):
        one.add_argument("workload", metavar="WORKLOAD", help=named)
        one.add_argument("paths", metavar="FILE", nargs="*", help="files or directories (default: standard input)")
        config(one)
        say(one)

    def run_show(options: argparse.Namespace) -> int:
        from krm_function.cli.policy import run_show

        return run_show(options)

    def run_compare(options: argparse.Namespace) -> int:
        from krm_function.cli.policy import run_compare

        return run_compare(options)

    show.set_defaults(run=run_show)
    compare.set_defaults(run=run_compare)
