// Rule of this program: what Go's readers of Kubernetes make of a stream, and nothing of our own. It answers the pods
// that ask for a Contrast runtime class, so that a test can hold our reading against theirs.
//
//	goreaders --version                             the version of apimachinery that is inside
//	goreaders read < STREAM                         what each reader finds in one stream, as one line of JSON
//	goreaders definition DEFINITION CONFIG          whether kyaml takes a functionConfig by a KRMFunctionDefinition
//	goreaders fuzz CORPUS SEED RUNS SECONDS         mutants of a corpus in which some reader finds such a pod
//
// Each line is one input: {"input": base64, "pods": [...]}. The last line of `fuzz` is {"executions": N}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

const library = "k8s.io/apimachinery"

// Found is one input and what was read from it.
type Found struct {
	Input []byte `json:"input"`
	Pods  []Pod  `json:"pods"`
}

// Done closes a run.
type Done struct {
	Executions int `json:"executions"`
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

func fuzz(corpus string, seed uint64, runs int, limit time.Duration) error {
	mutator, err := NewMutator(corpus, seed)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	encoder := json.NewEncoder(out)
	start := time.Now()
	done := 0
	for ; done < runs && (done%256 != 0 || time.Since(start) < limit); done++ {
		input := mutator.Input(done)
		if pods := ReadAll(input); len(pods) > 0 && mutator.New(input) {
			if err := encoder.Encode(Found{input, pods}); err != nil {
				return err
			}
		}
	}
	if err := encoder.Encode(Done{done}); err != nil {
		return err
	}
	return out.Flush()
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 1 && arguments[0] == "--version":
		_, err := fmt.Println(version())
		return err
	case len(arguments) == 1 && arguments[0] == "read":
		input, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(Found{input, ReadAll(input)})
	case len(arguments) == 3 && arguments[0] == "definition":
		return Configure(arguments[1], arguments[2])
	case len(arguments) == 5 && arguments[0] == "fuzz":
		seed, wrong := strconv.ParseUint(arguments[2], 10, 64)
		runs, bad := strconv.Atoi(arguments[3])
		seconds, odd := strconv.Atoi(arguments[4])
		if wrong == nil && bad == nil && odd == nil {
			return fuzz(arguments[1], seed, runs, time.Duration(seconds)*time.Second)
		}
	}
	return fmt.Errorf("usage: goreaders --version | read | definition DEFINITION CONFIG | fuzz CORPUS SEED RUNS SECONDS")
}

func main() {
	debug.SetGCPercent(400)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
