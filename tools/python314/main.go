// Rule of this file: unpack CPython, as the module that the pin names carries it, into the directory that is named.
//
//	pythonNNN DIRECTORY     the interpreter is DIRECTORY/bin/python3
//	pythonNNN --version     prints the version of the module
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/kluctl/go-embed-python/python"
)

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/kluctl/go-embed-python" {
			return module.Version
		}
	}
	return "unknown"
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pythonNNN DIRECTORY | --version")
		os.Exit(2)
	}
	if os.Args[1] == "--version" {
		fmt.Println(version())
		return
	}
	if _, err := python.NewEmbeddedPythonWithTmpDir(os.Args[1], false); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
