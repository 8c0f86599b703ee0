// Rule of this file: evaluate Rego with OPA, one JSON line in, one JSON line out, and know nothing of policies.
//
//	{"policy": "package …", "v0": false}              -> {"loaded": true}      the policy of all lines after it
//	{"rule": "data.p.x", "state": {…}, "input": …}    -> {"value": …}          `state` is the document `data.pstate`
//	{"rule": …, "state": …, "input": …, "trace": true} -> {"value": …, "failed": […]}   lines on which something failed
//	{"conditions": "package …", "v0": false}          -> {"conditions": […]}   every expression of every body in the text
//
// Any may answer {"error": "…"}, and the second {"undefined": true}. A condition is {rule, row, offset, text}, in bytes.
// `--version` prints the version of OPA that is inside.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/version"
)

type request struct {
	Policy     *string         `json:"policy"`
	Conditions *string         `json:"conditions"`
	V0         bool            `json:"v0"`
	Rule       string          `json:"rule"`
	State      json.RawMessage `json:"state"`
	Input      any             `json:"input"`
	Trace      bool            `json:"trace"`
}

type condition struct {
	Rule   string `json:"rule"`
	Row    int    `json:"row"`
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

// engine holds one compiled policy, its state, and a prepared query for each rule that was asked for.
type engine struct {
	compiler *ast.Compiler
	store    storage.Store
	state    []byte
	prepared map[string]rego.PreparedEvalQuery
}

func parse(text string, v0 bool) (*ast.Module, error) {
	options := ast.ParserOptions{RegoVersion: ast.RegoV1}
	if v0 {
		options.RegoVersion = ast.RegoV0
	}
	return ast.ParseModuleWithOpts("policy.rego", text, options)
}

// conditions lists the bodies' expressions as they are written, those of comprehensions and of `every` among them.
func conditions(text string, v0 bool) ([]condition, error) {
	module, err := parse(text, v0)
	if err != nil {
		return nil, err
	}
	found := []condition{}
	for _, rule := range module.Rules {
		ast.WalkExprs(rule, func(expression *ast.Expr) bool {
			at := expression.Location
			if at != nil && !expression.Generated {
				found = append(found, condition{rule.Head.Ref().String(), at.Row, at.Offset, string(at.Text)})
			}
			return false
		})
	}
	return found, nil
}

func (e *engine) load(text string, v0 bool) error {
	*e = engine{}
	module, err := parse(text, v0)
	if err != nil {
		return err
	}
	compiler := ast.NewCompiler()
	compiler.Compile(map[string]*ast.Module{"policy.rego": module})
	if compiler.Failed() {
		return compiler.Errors
	}
	*e = engine{
		compiler: compiler,
		store:    inmem.NewFromObject(map[string]any{"pstate": map[string]any{}}),
		prepared: map[string]rego.PreparedEvalQuery{},
	}
	return nil
}

func (e *engine) put(state json.RawMessage) error {
	if bytes.Equal(state, e.state) {
		return nil
	}
	var value any
	if err := decode(state, &value); err != nil {
		return err
	}
	if err := storage.WriteOne(context.Background(), e.store, storage.ReplaceOp, storage.Path{"pstate"}, value); err != nil {
		return err
	}
	e.state = bytes.Clone(state)
	return nil
}

// failures notes the lines of the expressions that did not hold at some point of an evaluation.
type failures map[int]bool

func (f failures) Enabled() bool { return true }

func (f failures) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

func (f failures) TraceEvent(event topdown.Event) {
	if event.Op == topdown.FailOp && event.Location != nil {
		f[event.Location.Row] = true
	}
}

func (e *engine) ask(rule string, input any, trace bool) (map[string]any, error) {
	query, known := e.prepared[rule]
	if !known {
		made, err := rego.New(rego.Query(rule), rego.Compiler(e.compiler), rego.Store(e.store)).PrepareForEval(context.Background())
		if err != nil {
			return nil, err
		}
		e.prepared[rule], query = made, made
	}
	options := []rego.EvalOption{rego.EvalInput(input)}
	failed := failures{}
	if trace { // no short cut: whatever could fail is evaluated
		options = append(options, rego.EvalQueryTracer(failed), rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false))
	}
	found, err := query.Eval(context.Background(), options...)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"undefined": true}
	if len(found) > 0 {
		answer = map[string]any{"value": found[0].Expressions[0].Value}
	}
	if trace {
		answer["failed"] = slices.Sorted(maps.Keys(failed))
	}
	return answer, nil
}

func (e *engine) answer(line []byte) (map[string]any, error) {
	var asked request
	if err := decode(line, &asked); err != nil {
		return nil, err
	}
	if asked.Policy != nil {
		return map[string]any{"loaded": true}, e.load(*asked.Policy, asked.V0)
	}
	if asked.Conditions != nil {
		found, err := conditions(*asked.Conditions, asked.V0)
		return map[string]any{"conditions": found}, err
	}
	if e.compiler == nil {
		return nil, fmt.Errorf("no policy is loaded")
	}
	if err := e.put(asked.State); err != nil {
		return nil, err
	}
	return e.ask(asked.Rule, asked.Input, asked.Trace)
}

// decode keeps numbers as they are written.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func run(in io.Reader, out io.Writer) error {
	reader, writer := bufio.NewReader(in), bufio.NewWriter(out)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false) // what cannot be encoded, such as to_number("01"), is not written at all
	held := engine{}
	for {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := held.answer(line)
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		if err := encoder.Encode(answer); err != nil {
			if err := encoder.Encode(map[string]any{"error": err.Error()}); err != nil {
				return err
			}
		}
		if err := writer.Flush(); err != nil {
			return err
		}
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("v" + version.Version)
		return
	}
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
