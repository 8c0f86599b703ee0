package main

import (
	"os"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// configured is a functionConfig of which only the schema of its definition is known.
type configured struct {
	schema *spec.Schema
}

func (one *configured) Schema() (*spec.Schema, error) {
	return one.schema, nil
}

// Configure reads a functionConfig as kyaml's framework does for a function with this KRMFunctionDefinition.
func Configure(definition, config string) error {
	text, err := os.ReadFile(definition)
	if err != nil {
		return err
	}
	node, err := yaml.ReadFile(config)
	if err != nil {
		return err
	}
	schema, err := framework.SchemaFromFunctionDefinition(resid.GvkFromNode(node), string(text))
	if err != nil {
		return err
	}
	return framework.LoadFunctionConfig(node, &configured{schema})
}
