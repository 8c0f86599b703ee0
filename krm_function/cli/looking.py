"""Verbs that look at a render before anyone applies it: explain and diff.

Rule of this file: as in arguments.py, nothing is done here, and a verb's module is imported when the verb is used.
"""

from argparse import Namespace
from collections.abc import Callable
from typing import Any


def add(verbs: Any, verb: Callable[..., Any], options: tuple[Callable[[Any], None], ...]) -> None:
    """Add the verbs. verb: makes one; options: what every one of them takes (configuration, form of the findings)."""
    for parser in (_explain(verbs, verb), _diff(verbs, verb)):
        for option in options:
            option(parser)


def _explain(verbs: Any, verb: Callable[..., Any]) -> Any:
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

    def run(options: Namespace) -> int:
        from krm_function.cli.explain import run_explain

        if not options.address:
            parser.error("name a workload as KIND/NAME")
        return run_explain(options)

    parser.set_defaults(run=run)
    return parser


def _diff(verbs: Any, verb: Callable[..., Any]) -> Any:
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

    def run(options: Namespace) -> int:
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
    return parser
