// Rule of this file: `flux KUSTOMIZATION SOURCE` prints what Flux's kustomize-controller would apply.
//
// KUSTOMIZATION is the file of a Flux Kustomization, SOURCE the directory that its sourceRef stands for. The three steps
// are those of the controller, from its own library: a kustomization.yaml out of the Kustomization where the directory
// has none, its patches and name rules into it; a build without plugins and without remote bases; the substitution of
// postBuild. The source's files are changed by the first, as the controller changes its copy of them. `--version`
// prints the version of the controller that has them.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const module = "github.com/fluxcd/kustomize-controller/api"

func read(path string) (kustomizev1.Kustomization, unstructured.Unstructured, error) {
	var typed kustomizev1.Kustomization
	text, err := os.ReadFile(path)
	if err != nil {
		return typed, unstructured.Unstructured{}, err
	}
	if err := yaml.UnmarshalStrict(text, &typed); err != nil {
		return typed, unstructured.Unstructured{}, err
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	return typed, unstructured.Unstructured{Object: object}, err
}

func build(path, source string) ([]byte, error) {
	typed, object, err := read(path)
	if err != nil {
		return nil, err
	}
	directory := filepath.Join(source, typed.Spec.Path)
	if _, err := kustomize.NewGenerator(source, object).WriteFile(directory); err != nil {
		return nil, err
	}
	resources, err := kustomize.SecureBuild(source, directory, false)
	if err != nil {
		return nil, err
	}
	if typed.Spec.PostBuild != nil {
		for _, each := range resources.Resources() {
			made, err := kustomize.SubstituteVariables(context.Background(), nil, object, each, kustomize.SubstituteWithDryRun(true))
			if err != nil {
				return nil, err
			}
			if made != nil {
				if _, err := resources.Replace(made); err != nil {
					return nil, err
				}
			}
		}
	}
	return resources.AsYaml()
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if each.Path == module {
			return each.Version
		}
	}
	return "unknown"
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(version())
		return
	}
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: flux KUSTOMIZATION SOURCE")
		os.Exit(2)
	}
	made, err := build(os.Args[1], os.Args[2])
	if err == nil {
		_, err = os.Stdout.Write(made)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
