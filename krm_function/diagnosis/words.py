"""Tables of what a cluster says: pattern of its words -> code of the cause.

Sources: docs/facts/pod-status.md#admission, docs/facts/pod-status.md#scheduling, docs/facts/pod-status.md#images,
docs/facts/pod-status.md#sandbox, docs/facts/pod-status.md#volumes.

Rule of this file: data, and the one function that reads it. Of several rows the first that fits counts; a group `by` is
the name of what refuses. A table without a row for everything leaves the message to the next table.
"""

import re
from collections.abc import Iterable

from krm_function.findings import Cause

LONGEST = 300  # characters of a server's words in a sentence

Table = tuple[tuple[str, str], ...]

# why the API server refused to create a pod
ADMISSION: Table = (
    (r'admission webhook "(?P<by>[^"]{1,253})" denied the request', "CC1160.webhook"),
    (r"ValidatingAdmissionPolicy '(?P<by>[^']{1,253})' (with binding '[^']*' )?denied request", "CC1160.policy"),
    (r'failed calling webhook "(?P<by>[^"]{1,253})"', "CC1160.webhook-down"),
    (r'violates PodSecurity "(?P<by>[^"]{1,253})"', "CC1160.pod-security"),
    (r"exceeded quota: (?P<by>[^, ]{1,253})", "CC1160.quota"),
    (r"failed quota: (?P<by>[^: ]{1,253})", "CC1160.quota-unset"),
    (r"(maximum|minimum) \S+ usage per (Container|Pod) is", "CC1160.limit-range"),
    (r'RuntimeClass "(?P<by>[^"]{1,253})" not found', "CC1160.no-class"),
    (r"pod rejected: .*(RuntimeClass|[Oo]verhead|node selector)", "CC1160.class"),
    (r'serviceaccount "(?P<by>[^"]{1,253})" not found', "CC1160.account"),
    (r"no PriorityClass with name (?P<by>\S{1,253}) was found", "CC1160.priority"),
    (r"", "CC1160.other"),
)

# why the scheduler found no node: reasons of which each stands for a number of nodes
SCHEDULING: Table = (
    (r"node affinity/selector|node selector", "CC1161.selector"),
    (r"untolerated taint", "CC1161.taint"),
    (r"volume node affinity|persistentvolumeclaim|PersistentVolumeClaim|available persistent volumes", "CC1161.volume"),
    (r"Insufficient |Too many pods", "CC1161.resources"),
    (r"", "CC1161.other"),
)

# reason of a pod in phase Failed, which the kubelet or a controller gave
REFUSED: Table = (
    (r"UnexpectedAdmissionError", "CC1162.device"),
    (r"NodeAffinity|NodeName|OutOf[a-z]+|NodePorts|TopologyAffinityError", "CC1162.fit"),
    (r"Evicted|NodeShutdown|Terminated|Preempting", "CC1162.evicted"),
    (r"DeadlineExceeded", "CC1162.deadline"),
    (r"", "CC1162.other"),
)

# `reason: message` of a container that waits for its image
IMAGES: Table = (
    (r"^InvalidImageName", "CC1163.name"),
    (r"^ErrImageNeverPull", "CC1163.never"),
    (
        r"unexpected (commit )?digest|digest mismatch|does not match.*digest|content digest .* not found",
        "CC1163.digest",
    ),
    (r"\b(401|403)\b|[Uu]nauthorized|authorization failed|denied|no basic auth credentials", "CC1163.login"),
    (r"manifest unknown|not found|\b404\b|does not exist", "CC1163.absent"),
    (r"dial tcp|no such host|timeout|connection refused|i/o|TLS|x509|EOF", "CC1163.network"),
    (r"", "CC1163.other"),
)

# messages of the runtime about a sandbox or a container
SANDBOX: Table = (
    (r'no runtime for "(?P<by>[^"]{1,253})" is configured', "CC1166.handler"),
    (r'RuntimeHandler "(?P<by>[^"]{1,253})" not supported', "CC1166.handler"),
    (r'runtimeclass\.node\.k8s\.io "(?P<by>[^"]{1,253})" not found', "CC1166.class"),
    (r'RuntimeClass "(?P<by>[^"]{1,253})" not found', "CC1166.class"),
    (
        r"SNP_LAUNCH|LAUNCH_FINISH|LAUNCH_UPDATE|[Ii][Dd][- _]?[Bb]lock|SEV-SNP.*(fail|error)|TDX.*(fail|error)",
        "CC1166.measured",
    ),
    (r"[Cc]annot allocate memory|set up guest memory|not enough memory|os error 12|ENOMEM", "CC1166.memory"),
    (r"vfio|VFIO|no such device|cold.?plug", "CC1166.device"),
    (
        (
            r"failed to create shim( task)?: not found|containerd-shim-\S+\":"
            r" (file|executable file)? ?(does not exist|not found)|invalid runtime name"
        ),
        "CC1166.shim",
    ),
    (r"vsock|grpc server is working|DeadlineExceeded|deadline exceeded|[Tt]imed out|timeout", "CC1166.timeout"),
    (r"failed to (setup|set up) network|plugin type=|\bcni\b|CNI", "CC1166.network"),
    (r"", "CC1166.other"),
)
# a pull inside of the VM fails when the container is made
GUEST_PULL = re.compile(
    r"(image_guest_pull|guest.?pull|pull(ing)? (the )?image|pull manifest|image-rs|confidential-data-hub)",
    re.IGNORECASE,
)

CONFIG = re.compile(r'(?P<kind>configmap|secret) "(?P<name>[^"]{1,253})" not found')
KEY = re.compile(r"couldn't find key (?P<key>\S{1,253}) in (?P<kind>ConfigMap|Secret) (?P<name>\S{1,507})")


def cause_of(message: str, table: Iterable[tuple[str, str]]) -> Cause | None:
    """Return the cause that a table has for a message; `by` and `said` are among its values. None without a row."""
    for pattern, code in table:
        match = re.search(pattern, message)
        if match:
            return Cause(code, {"by": match.groupdict().get("by") or "", "said": quoted(message)})
    return None


def quoted(message: str) -> str:
    """Return a server's words, cut; what follows a denial by a policy is left out, because values may stand there."""
    text = re.sub(r"(is blocked by policy).*", r"\1", message)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
