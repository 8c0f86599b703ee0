"""Where a pod can hide from a renderer, and why somebody would put it there.

Rule of this file: one row a file of corpus/, which holds the input as bytes. Its pod asks for `contrast-cc`, and is
sealed, or the input is an error. `nothing`: no reader of Kubernetes sees a pod there either. The mutants of the
differential fuzzer begin with these files, so the ordinary shapes stand here, too.
"""

from pathlib import Path

from krm_function.record import NamedTuple

CORPUS = Path(__file__).parent / "corpus"


class Place(NamedTuple):
    """A file of the corpus. gives: a code, `sealed` or `nothing`; helm: the same of post-render, where it differs."""

    name: str
    why: str
    gives: str
    helm: str = ""

    @property
    def data(self) -> bytes:
        """The input."""
        return (CORPUS / f"{self.name}.yaml").read_bytes()


PLACES = (
    # ordinary shapes
    Place("pod", "a plain pod", "sealed"),
    Place("deployment", "a plain deployment", "sealed"),
    Place("cronjob", "the deepest pod template", "sealed"),
    Place("json", "JSON", "sealed"),
    Place("json-tabs", "JSON with tabs, as some tools write it", "sealed"),
    Place("stream", "separators with comments, empty documents", "sealed"),
    Place("crlf", "line ends of Windows", "sealed"),
    Place("bom", "a byte order mark", "sealed"),
    Place("list", "a List", "sealed"),
    Place("flow", "flow style", "sealed"),
    Place("quoted", "quoted keys and values", "sealed"),
    Place("comments", "comments everywhere", "sealed"),
    Place("directive", "a YAML directive", "sealed"),
    Place("document-end", "documents that end with three dots", "sealed"),
    # the header
    Place("kind-alias", "kind is an alias: a reader of events sees no kind", "sealed"),
    Place("kind-merged", "kind comes in by a merge key", "sealed"),
    Place("kind-merged-alias", "kind comes in by a merge key with an alias", "sealed"),
    Place("kind-merged-list", "the second source of a merge key has the kind", "sealed"),
    Place("kind-merged-below", "the merge key stands last", "sealed"),
    Place("all-merged", "everything comes in by a merge key", "sealed"),
    Place("kind-binary", "the value in base64", "sealed"),
    Place("kind-binary-block", "the value in base64, as a literal", "sealed"),
    Place("key-binary", "the key in base64", "CC0107"),
    Place("key-binary-question", "the key in base64, as a complex key", "CC0107"),
    Place("key-alias", "the key is an alias", "sealed"),
    Place("kind-tag-comma", "a comma that some parsers take for a part of the tag", "CC0107"),
    Place("list-items-map", "items that are a map, which kyaml reads as a list", "CC0207"),
    Place("key-alias-binary", "the key is an alias of base64", "CC0107"),
    Place("kind-merged-key-alias-binary", "the same in a merge source, beside a visible kind", "CC0107"),
    Place("class-binary-no-text", "the class is base64 of bytes that are no text", "CC0107"),
    Place("key-tagged", "the key has a tag", "sealed"),
    Place("key-nonspecific", "the key has the tag !", "sealed"),
    Place("value-tagged", "the value has a tag", "sealed"),
    Place("value-verbatim-tag", "the value has a verbatim tag", "sealed"),
    Place("value-foreign-tag", "a tag that Go ignores", "CC0107"),
    Place("second-kind-tagged", "a visible Service, and a tagged kind behind it", "CC0106"),
    Place("second-kind-binary", "a visible Service, and a kind in base64 behind it", "CC0107"),
    Place("second-kind-alias", "a visible Service, and an alias as the key behind it", "CC0106"),
    Place("second-kind-merged", "a visible Service, and a merge key below", "CC0106"),
    Place("second-kind-json", "JSON with kind twice: the last one counts", "CC0106"),
    Place("second-kind", "kind twice", "CC0106"),
    Place("kind-escaped", "escapes in key and value", "sealed"),
    Place("kind-folded", "an escaped line end in the value", "sealed"),
    Place("kind-literal", "the value as a literal", "sealed"),
    Place("kind-anchored", "an anchor at the value", "sealed"),
    Place("kind-question", "a complex key that is a scalar", "sealed"),
    Place("root-tagged", "a tag at the root", "sealed"),
    Place("root-tag-unknown", "an unknown tag at the root, which Go ignores", "CC0107"),
    Place("root-anchored", "an anchor at the root", "sealed"),
    Place("api-version-alias", "apiVersion is an alias", "sealed"),
    Place("metadata-alias", "metadata is an alias", "sealed"),
    Place("spec-alias", "the pod spec is an alias", "sealed"),
    Place("spec-merged", "the runtime class comes in by a merge key", "sealed"),
    # the runtime class
    Place("class-escaped", "an escape in the class: a search in the text does not find it", "sealed"),
    Place("class-key-escaped", "an escape in the key of the class", "sealed"),
    Place("class-binary", "the class in base64", "sealed"),
    Place("class-key-binary", "the key of the class in base64", "CC0107"),
    Place("class-alias", "the class is an alias", "sealed"),
    Place("class-folded", "the class goes on in the next line", "sealed"),
    Place("class-literal", "the class as a literal", "sealed"),
    Place("class-twice", "the class twice: which one counts differs", "CC0106"),
    # lists
    Place("items-in-configmap", "kubectl takes whatever has items for a list", "sealed"),
    Place("items-in-service", "a Service with items", "sealed"),
    Place("items-in-podlist", "a PodList", "sealed"),
    Place("items-in-podlist-bare", "members that take their kind from the PodList", "CC0113"),
    Place("items-in-lower-case", "kind: list", "sealed"),
    Place("items-in-foo", "any kind", "sealed"),
    Place("items-in-pod", "a pod of its own, and a list to kubectl", "CC0111"),
    Place("items-null-in-pod", "a pod that kubectl takes for an empty list", "CC0111"),
    Place("items-json", "items in JSON", "sealed"),
    Place("items-escaped", "an escape in the key", "sealed"),
    Place("items-binary", "the key in base64", "CC0107"),
    Place("items-alias", "the value is an alias", "sealed"),
    Place("items-merged", "items come in by a merge key", "sealed"),
    Place("items-deep", "lists in lists, deeper than anybody needs", "sealed"),
    Place("items-deep-configmap", "a list in a ConfigMap in a List", "sealed"),
    Place("items-member-alias", "a member whose kind is an alias", "sealed"),
    Place("resource-list", "a ResourceList is a list to kubectl", "sealed"),
    Place("resource-list-merged", "a ResourceList whose items come in by a merge key", "CC0108", helm="CC0106"),
    Place("resource-list-member-alias", "an item whose kind is an alias", "sealed"),
    Place("resource-list-second-kind", "an item with a second, tagged kind", "CC0106"),
    Place("resource-list-configmap", "an item that is a ConfigMap with items", "sealed"),
    Place("resource-list-second", "a ResourceList that is not alone in its stream", "sealed"),
    # where documents end
    Place("separator-literal", "a literal at the root, for a splitter a document", "CC0112"),
    Place("separator-folded-quote", "a string that goes on below its separator", "CC0112"),
    Place("separator-in-quotes", "a line in quotes that begins with ---: Go cuts there", "CC0112"),
    Place("separator-in-single-quotes", "the same in single quotes", "CC0112"),
    Place("separator-glued", "Helm cuts behind --- without a line end", "CC0112"),
    Place("separator-indented", "Helm takes the blanks at the start of a stream off, and then cuts", "CC0112"),
    Place("separator-ideographic-space", "a blank that Helm takes off, and that is text for YAML", "CC0112"),
    Place("first-ideographic-space", "the same at the start of a stream", "CC0112"),
    Place("kind-anchor-nested", "an anchor that is defined again inside of what it names", "sealed"),
    Place("separator-map", "a map behind the separator", "CC0112"),
    Place("separator-line-separator", "a comment that ends for YAML and not for Go", "CC0112"),
    Place("separator-next-line", "the same with U+0085", "CC0112"),
    Place("separator-no-break-space", "a blank for Go and text for YAML", "CC0112"),
    Place("separator-by-line-separator", "a separator behind U+2028", "sealed"),
    Place("second-bom", "a byte order mark at the start of a second document", "CC0112"),
    Place("second-bom-blank", "the same behind blanks, which Helm trims", "CC0112"),
    Place("line-bom", "a byte order mark at the beginning of a line, which libyaml skips", "CC0112"),
    Place("json-bom-in-a-line", "the same in JSON, where it hides the name", "CC0112"),
    Place("double-bom", "two byte order marks", "CC0112"),
    Place("document-end-only", "a second document without a separator", "CC0101"),
    Place("json-glued", "two objects of JSON one behind the other", "CC0101"),
    Place("json-lines", "an object of JSON a line", "CC0101"),
    Place("json-as-key", "JSON to kubectl, a complex key to YAML", "CC0108"),
    Place("json-as-key-below", "the same with the colon in the next line", "CC0108"),
    Place("json-then-yaml", "JSON, then YAML", "sealed"),
    Place("json-escaped", "escapes of JSON", "sealed"),
    Place("tag-handle", "a handle that means str", "sealed"),
    Place("comment-break", "a comment that ends for YAML, and for nobody else", "sealed"),
    Place("carriage-return", "a carriage return alone ends a line for YAML", "CC0101"),
    Place("tab-separator", "a tab behind the separator", "sealed"),
    # more of all of these
    Place("kind-merged-tag", "the tag of a merge key", "sealed"),
    Place("kind-merged-quoted", "a merge key in quotes is one to some", "nothing"),
    Place("kind-merged-nonspecific", "a merge key with the tag !", "CC0107"),
    Place("kind-merged-tag-only", "the tag of a merge key at another key", "CC0107"),
    Place("kind-merged-str", "a merge key with the tag of a string", "CC0107"),
    Place("kind-merged-tag-quoted", "the tag of a merge key at one in quotes", "CC0107"),
    Place("kind-merged-nested", "a merge key in a merge key", "sealed"),
    Place("kind-merged-null", "kind is null, and a merge key has another", "CC0106"),
    Place("kind-merged-key-binary", "the merged key in base64, kind: Service below", "CC0107"),
    Place("kind-anchor-twice", "the anchor is defined twice, the last one counts", "sealed"),
    Place("kind-alias-of-document", "the anchor is in the document above: Helm 4 sends that", "CC0105", helm="sealed"),
    Place("kind-alias-unknown", "an alias without an anchor", "CC0105"),
    Place("kind-alias-cycle", "an alias inside of its own anchor", "CC0105"),
    Place("kind-flow-question", "a complex key in flow style", "sealed"),
    Place("kind-block-key", "a literal as the key", "sealed"),
    Place("kind-capital", "a key in capitals is another key", "nothing"),
    Place("spec-twice", "the pod spec twice", "CC0106"),
    Place("spec-second-tagged", "the pod spec twice, once with a tag at the key", "CC0106"),
    Place("template-alias", "the pod template is an alias", "sealed"),
    Place("items-twice", "items twice", "CC0106"),
    Place("items-second-tagged", "an empty list, and one with a tag at the key", "CC0106"),
    Place("list-kind-binary", "the kind of a List in base64", "sealed"),
    Place("list-kind-alias", "the kind of a List is an alias", "sealed"),
    Place("list-without-kind", "items and nothing else", "sealed"),
    Place("items-in-runtime-class", "a RuntimeClass that is a list to kubectl", "CC0111"),
    Place("items-in-deployment-list-bare", "members that take their kind from a DeploymentList", "CC0113"),
    Place("nested-too-deep", "deeper than we read", "CC0104"),
    Place("data-is-no-pod", "a pod in a string is a string", "nothing"),
    Place("utf-16", "another encoding", "CC0102"),
    Place("long-key", "a key longer than a simple key may be", "CC0101"),
    Place("tab-indent", "tabs for blanks", "CC0101"),
    Place("sequence", "a list at the root", "nothing"),
    Place("hidden-behind-large", "a large stream, which is cut in the quick way", "sealed"),
    Place("hidden-items-large", "a large stream with a ConfigMap that has items", "sealed"),
)
