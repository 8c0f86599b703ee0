"""What the control plane contradicts today: the one list of tests of this directory that are expected to fail.

Rule of this file: such a test states the right behaviour. It is strict: once the behaviour is right, the test fails
until its mark is taken away. A row that no test names is to be deleted.
"""

import pytest

CONTRADICTIONS = {
    "D1": "the DaemonSet controller chooses nodes by the template, without the selector and tolerations of the class",
    "D3": "`runtimeClasses: emit` of the example collides with the class of Contrast's own file",
    "D4": "the emitted RuntimeClass comes after the Pod that needs it",
    "D7": "annotations of kubectl in the pod raise a false alarm",
    "D8": "objects that a controller owns count as workloads",
    "D9": "a toleration of not-ready with a value keeps Kubernetes from adding its own",
    "D10": "an empty overhead needs a class with overhead",
    "D11": "validation of huge pages and of requests.* in a class",
    "D12": "a sysctl of the network beside hostNetwork",
    "D13": "the Namespace comes after what is in it",
}


def contradicted(item: str) -> pytest.MarkDecorator:
    """Expect a test to fail by an assertion; a control plane that does not start is no such failure."""
    return pytest.mark.xfail(raises=AssertionError, reason=f"{item}: {CONTRADICTIONS[item]}")
