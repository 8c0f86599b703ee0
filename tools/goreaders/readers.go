// The three readers. Each takes a whole stream, and what it has read before an error counts: kubectl applies it.
package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigs "sigs.k8s.io/yaml"
)

// Pod is an object that asks for a runtime class which may be Contrast's, in the pod spec of one of the eight kinds, or
// anywhere in an object of another kind. Group and Version are those that apimachinery parses out of APIVersion; an
// object whose APIVersion it refuses is none that an API server takes, and is not answered.
type Pod struct {
	Reader       string `json:"reader"`
	APIVersion   string `json:"apiVersion"`
	Group        string `json:"group"`
	Version      string `json:"version"`
	Kind         string `json:"kind"`
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	RuntimeClass string `json:"runtimeClassName"`
	Spec         any    `json:"spec,omitempty"`
}

var templates = map[string][]string{
	"Pod":                   {"spec"},
	"ReplicationController": {"spec", "template", "spec"},
	"Deployment":            {"spec", "template", "spec"},
	"DaemonSet":             {"spec", "template", "spec"},
	"StatefulSet":           {"spec", "template", "spec"},
	"ReplicaSet":            {"spec", "template", "spec"},
	"Job":                   {"spec", "template", "spec"},
	"CronJob":               {"spec", "jobTemplate", "spec", "template", "spec"},
}

// ReadAll answers what every reader finds. The word is looked for first: without it there is no such pod, unless it is
// written with escapes or in base64, and then there is a backslash or a tag.
func ReadAll(input []byte) []Pod {
	if !bytes.Contains(input, []byte("runtimeClassName")) && !bytes.ContainsAny(input, `\!`) {
		return nil
	}
	pods := byKubectl(input)
	for _, part := range bothSplits(string(input)) {
		pods = append(pods, byHelm([]byte(part))...)
	}
	return append(pods, byKustomize(input)...)
}

// byKubectl reads as kubectl's resource builder does.
func byKubectl(input []byte) (pods []Pod) {
	defer func() { _ = recover() }()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(input), 4096)
	for {
		raw := runtime.RawExtension{}
		if err := decoder.Decode(&raw); err != nil {
			return pods
		}
		pods = append(pods, ofJSON(raw.Raw, "kubectl")...)
	}
}

// ofJSON takes one document as JSON, flattening lists as kubectl does.
func ofJSON(data []byte, reader string) (pods []Pod) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.Equal(data, []byte("null")) {
		return nil
	}
	object, _, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, nil)
	if err != nil {
		return nil
	}
	pending := []runtime.Object{object}
	for len(pending) > 0 {
		one := pending[0]
		pending = pending[1:]
		if meta.IsListType(one) {
			_ = meta.EachListItem(one, func(member runtime.Object) error {
				pending = append(pending, member)
				return nil
			})
			continue
		}
		if found, ok := one.(*unstructured.Unstructured); ok {
			pods = appendPod(pods, found.Object, reader)
		}
	}
	return pods
}

var (
	helm3 = regexp.MustCompile("(?:^|\\s*\n)---\\s*")
	helm4 = regexp.MustCompile(`(?m)^---[ \t]*`)
)

// bothSplits answers the documents as Helm 3 and as Helm 4 cut them, each once.
// What Helm 3 takes off the end of a document it takes off before it is sent to us, so that stays.
func bothSplits(stream string) []string {
	var parts []string
	for _, part := range helm3.Split(strings.TrimLeftFunc(stream, unicode.IsSpace), -1) {
		parts = append(parts, strings.TrimLeftFunc(part, unicode.IsSpace))
	}
	known := len(parts)
	for at, part := range helm4.Split(strings.TrimLeftFunc(stream, unicode.IsSpace), -1) {
		part = strings.TrimLeftFunc(part, unicode.IsSpace)
		if at < known && strings.TrimRight(part, "\n") == strings.TrimRight(parts[at], "\n") && !strings.Contains(part, ": |") {
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

// byHelm reads one document with sigs.k8s.io/yaml.
func byHelm(part []byte) (pods []Pod) {
	defer func() { _ = recover() }()
	data, err := sigs.YAMLToJSON(part)
	if err != nil {
		return nil
	}
	return ofJSON(data, "helm")
}

// byKustomize reads with kyaml, and takes lists apart as kustomize and kpt do.
func byKustomize(input []byte) (pods []Pod) {
	defer func() { _ = recover() }()
	if bytes.Contains(input, []byte("*")) && !acyclic(input) {
		return nil // an alias inside its own anchor: kustomize dies of it, so nothing is hidden
	}
	nodes, err := kio.FromBytes(input)
	if err != nil {
		return nil
	}
	for _, node := range nodes {
		value, err := node.Map()
		if err != nil {
			continue
		}
		pods = appendAll(pods, value)
	}
	return pods
}

// acyclic tells whether a stream can be read without following an alias forever, or nearly so.
func acyclic(input []byte) bool {
	nodes, err := (&kio.ByteReader{Reader: bytes.NewReader(input), OmitReaderAnnotations: true}).Read()
	steps := 100_000
	for _, node := range nodes {
		if err == nil && !walk(node.YNode(), map[*kyaml.Node]bool{}, &steps) {
			return false
		}
	}
	return err == nil
}

func walk(node *kyaml.Node, open map[*kyaml.Node]bool, steps *int) bool {
	if *steps--; node == nil || open[node] || *steps < 0 {
		return node == nil
	}
	open[node] = true
	defer delete(open, node)
	for _, child := range node.Content {
		if !walk(child, open, steps) {
			return false
		}
	}
	return walk(node.Alias, open, steps)
}

func appendAll(pods []Pod, value map[string]any) []Pod {
	items, ok := value["items"].([]any)
	if !ok || !strings.HasSuffix(text(value["kind"]), "List") {
		return appendPod(pods, value, "kustomize")
	}
	for _, item := range items {
		if member, ok := item.(map[string]any); ok {
			pods = appendAll(pods, member)
		}
	}
	return pods
}

func appendPod(pods []Pod, object map[string]any, reader string) []Pod {
	kind, apiVersion := text(object["kind"]), text(object["apiVersion"])
	parsed, err := schema.ParseGroupVersion(apiVersion)
	if err != nil || kind == "" || isNoPod(parsed, kind) {
		return pods
	}
	metadata, _ := object["metadata"].(map[string]any)
	pod := Pod{reader, apiVersion, parsed.Group, parsed.Version, kind, text(metadata["namespace"]), text(metadata["name"]), "", nil}
	path, known := templates[kind]
	if !known {
		return appendClasses(pods, pod, withoutMembers(object))
	}
	spec := object
	for _, step := range path {
		var ok bool
		if spec, ok = spec[step].(map[string]any); !ok {
			return pods
		}
	}
	if pod.RuntimeClass = text(spec["runtimeClassName"]); !mayBeContrast(pod.RuntimeClass) {
		return pods
	}
	if _, err := json.Marshal(spec); err == nil {
		pod.Spec = spec
	}
	return append(pods, pod)
}

// isNoPod tells whether nothing can be made of an object: an API server takes nothing but texts for the data of a
// ConfigMap or Secret, and a ResourceList is what functions are sent, and not an object of a cluster.
func isNoPod(parsed schema.GroupVersion, kind string) bool {
	if kind == "ResourceList" {
		return parsed.Group == "config.kubernetes.io"
	}
	return parsed.Group == "" && parsed.Version == "v1" && (kind == "ConfigMap" || kind == "Secret")
}

// withoutMembers takes off what other readers, and we, take for the members of a list.
func withoutMembers(object map[string]any) map[string]any {
	if _, ok := object["items"].([]any); !ok {
		return object
	}
	kept := map[string]any{}
	for key, part := range object {
		if key != "items" {
			kept[key] = part
		}
	}
	return kept
}

// appendClasses answers an object once for each class that it asks for.
func appendClasses(pods []Pod, pod Pod, value any) []Pod {
	switch value := value.(type) {
	case map[string]any:
		for key, part := range value {
			if class := text(part); key == "runtimeClassName" && mayBeContrast(class) {
				pod.RuntimeClass = class
				pods = append(pods, pod)
			} else {
				pods = appendClasses(pods, pod, part)
			}
		}
	case []any:
		for _, part := range value {
			pods = appendClasses(pods, pod, part)
		}
	}
	return pods
}

func mayBeContrast(class string) bool {
	folded := strings.ToLower(strings.TrimSpace(class))
	return strings.HasPrefix(folded, "contrast") || strings.HasPrefix(folded, "kata-cc")
}

func text(value any) string {
	found, _ := value.(string)
	return found
}
