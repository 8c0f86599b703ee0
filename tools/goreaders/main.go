package main

import (
	_ "k8s.io/apimachinery/pkg/api/meta"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	_ "k8s.io/apimachinery/pkg/runtime"
	_ "k8s.io/apimachinery/pkg/util/yaml"
	_ "sigs.k8s.io/kustomize/kyaml/kio"
	_ "sigs.k8s.io/yaml"
)

func main() {}
