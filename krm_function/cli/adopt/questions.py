"""The questions of `adopt` on a terminal: the same decisions as its options, one after the other.

Rule of this file: nothing is assumed. An answer that is not understood is asked for again; without one, the answer is
no. What is asked is printed on standard error, because standard output has the report.
"""

import sys
from collections.abc import Callable, Iterator

from krm_function.adoption import Adoption, Request
from krm_function.findings import Ref
from krm_function.model.address import address_of
from krm_function.report.adoption import choice_lines
from krm_function.report.order import on_one_line

Ask = Callable[[str], str]


def ask(question: str) -> str:
    """Print a question, and return the line that answers it; "" at the end of standard input."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def ask_workloads(request: Request, plain: tuple[Ref, ...], asked: Ask = ask) -> Request:
    """Ask which pods that do not ask for Contrast are to be confidential, and why others are plain."""
    confidential, reasons = list(request.confidential), dict(request.plain)
    for ref in plain:
        name = on_one_line(address_of(ref))
        question = f"{name} does not ask for Contrast: confidential, plain, leave it, or leave all others? [c/p/L/q] "
        answer = _answer(question, "cpql", asked)
        if answer == "q":
            break
        if answer == "c":
            confidential.append(address_of(ref))
        elif answer == "p" and (reason := asked(f"why is {name} plain? ")):
            reasons[address_of(ref)] = reason
    return request._replace(confidential=tuple(confidential), plain=reasons)


def ask_choices(request: Request, adoption: Adoption, known: set[str], asked: Ask = ask) -> Request:
    """Ask for each choice that is offered, and for keys. known: what was asked before; it is added to."""
    keys = dict(request.keys)
    for kind, name in adoption.keys:
        if f"{kind}/{name}" not in known:
            known.add(f"{kind}/{name}")
            answer = asked(f"keys of {kind} {on_one_line(name)}, of which envFrom takes all (KEY,KEY): ")
            if named := tuple(key for one in answer.split(",") if (key := one.strip())):
                keys[kind, name] = named
    yes = set(request.yes)
    for choice in adoption.offered:
        if choice.name not in known:
            known.add(choice.name)
            sys.stderr.write("".join(f"{line}\n" for line in choice_lines(choice)))
            if _answer(f"{on_one_line(choice.name)}? [y/N] ", "yn", asked) == "y":
                yes.add(choice.name)
    return request._replace(yes=frozenset(yes), keys=keys)


def _answer(question: str, letters: str, asked: Ask) -> str:
    """Return the first letter of an answer; the last of `letters` without one."""
    for answer in _answers(question, asked):
        if answer[:1].lower() in letters:
            return answer[:1].lower() or letters[-1]
    return letters[-1]


def _answers(question: str, asked: Ask) -> Iterator[str]:
    while True:
        yield asked(question)
