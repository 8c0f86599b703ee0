// Rule of this file: every document of standard input through yaml.Node and back, and nothing else: what the YAML
// library of kustomize, kpt and Helm takes to read and write without losing a comment.
//
// `--version` prints the version of the library that is inside.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"gopkg.in/yaml.v3"
)

const library = "gopkg.in/yaml.v3"

func identity(in io.Reader, out io.Writer) error {
	decoder, encoder := yaml.NewDecoder(in), yaml.NewEncoder(out)
	encoder.SetIndent(2)
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return encoder.Close()
		}
		if err != nil {
			return err
		}
		if err := encoder.Encode(&document); err != nil {
			return err
		}
	}
}

func version() string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, module := range built.Deps {
			if module.Path == library {
				return module.Version
			}
		}
	}
	return "unknown"
}

func run() error {
	writer := bufio.NewWriter(os.Stdout)
	if err := identity(bufio.NewReader(os.Stdin), writer); err != nil {
		return err
	}
	return writer.Flush()
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(version())
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
