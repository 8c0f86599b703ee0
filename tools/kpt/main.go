// Rule of this file: kpt's own command groups `fn` and `live`, and nothing that they do not bring along.
//
// kpt's root command also has `alpha`, which needs a module (kpt/rollouts) that the module proxy does not serve, so the
// program of the release cannot be built from a pin. The groups that render and apply can. Flags, printer, environment and
// the text of errors are those of kpt's root; help texts are printed without a pager, and git is not asked for. `version`
// prints the version of the module. What differs between releases: docs/facts/kpt.md#versions.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/kptdev/kpt/commands/fn"
	"github.com/kptdev/kpt/commands/live"
	"github.com/kptdev/kpt/pkg/lib/errors"
	"github.com/kptdev/kpt/pkg/lib/errors/resolver"
	"github.com/kptdev/kpt/pkg/printer"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	kubectl "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/kustomize/kyaml/commandutil"
)

var version = "unknown" // set by the linker

func main() {
	klog.InitFlags(nil)
	command := root()
	if err := command.Execute(); err != nil {
		fail(err)
	}
}

func root() *cobra.Command {
	os.Setenv(commandutil.EnableAlphaCommmandsEnvName, "true") // functions inherit it
	command := &cobra.Command{Use: "kpt", SilenceUsage: true, SilenceErrors: true}
	command.PersistentFlags().AddGoFlagSet(flag.CommandLine)
	command.PersistentFlags().BoolVar(&printer.TruncateOutput, "truncate-output", true, "Enable the truncation for output")
	ctx := printer.WithContext(context.Background(), printer.New(os.Stdout, os.Stderr))
	command.AddCommand(fn.GetCommand(ctx, "kpt"), live.GetCommand(ctx, "kpt", version), &cobra.Command{
		Use:   "version",
		Short: "Print the version number of kpt",
		Args:  cobra.NoArgs,
		Run:   func(*cobra.Command, []string) { fmt.Println(version) },
	})
	return command
}

// fail prints an error as kpt does: as its resolvers word it, else unwrapped, else as kubectl would.
func fail(err error) {
	if known, resolved := resolver.ResolveError(err); resolved {
		if known.Message != "" {
			fmt.Fprintf(os.Stderr, "%s \n", known.Message)
		}
		os.Exit(known.ExitCode)
	}
	var own *errors.Error
	if !errors.As(err, &own) {
		kubectl.CheckErr(err) // exits
	}
	cause := error(own)
	if unwrapped, found := errors.UnwrapErrors(own); found {
		cause = fmt.Errorf("Error: %w", unwrapped)
	}
	fmt.Fprintf(os.Stderr, "%s \n", cause)
	os.Exit(1)
}
