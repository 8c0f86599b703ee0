// Rule of this file: each line of standard input is one Kubernetes object as JSON; each line of standard output is the
// same object as the API server stores it: decoded into its type, defaulted, converted to the internal version and back.
//
// With `--service-variables` each line is a Service, and the answer a list of the variables that the kubelet makes of it.
//
// The functions are Kubernetes' own. Whatever has no type there, or does not fit it, is an error. `--version` prints the
// version of Kubernetes that is inside.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	core "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	"k8s.io/kubernetes/pkg/kubelet/envvars"
)

const (
	kubernetes = "k8s.io/kubernetes"
	longest    = 64 * 1024 * 1024 // bytes of a line
)

func stored(object []byte, out io.Writer) error {
	internal, kind, err := legacyscheme.Codecs.UniversalDecoder().Decode(object, nil, nil)
	if err != nil {
		return err
	}
	return legacyscheme.Codecs.LegacyCodec(kind.GroupVersion()).Encode(internal, out)
}

func variables(object []byte, out io.Writer) error {
	var service core.Service
	if err := json.Unmarshal(object, &service); err != nil {
		return err
	}
	pairs := []string{}
	for _, variable := range envvars.FromServices([]*core.Service{&service}) {
		pairs = append(pairs, variable.Name+"="+variable.Value)
	}
	return json.NewEncoder(out).Encode(pairs)
}

func run(answer func([]byte, io.Writer) error, in io.Reader, out *bufio.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		if err := answer(lines.Bytes(), out); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}

func version() string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, module := range built.Deps {
			if module.Path == kubernetes {
				return module.Version
			}
		}
	}
	return "unknown"
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(version())
		return
	}
	answer := stored
	if len(os.Args) == 2 && os.Args[1] == "--service-variables" {
		answer = variables
	}
	if err := run(answer, os.Stdin, bufio.NewWriter(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
