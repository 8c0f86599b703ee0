// Rule of this file: the first argument names the program of a Kubernetes control plane that the rest is for.
//
// kube-apiserver, kube-scheduler, kube-controller-manager, kubectl and etcd share most of their code: one program of all
// five is compiled and linked once. The programs are Kubernetes' own; `--version` prints the version that is inside.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	etcd "go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var programs = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 kubectl.NewDefaultKubectlCommand,
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: kubernetes etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl ARGUMENT...")
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	program := programs[os.Args[0]]
	switch {
	case os.Args[0] == "--version":
		fmt.Println(version.Get().GitVersion)
	case os.Args[0] == "etcd":
		etcd.Main(os.Args)
	case program == nil:
		fmt.Fprintln(os.Stderr, "no such program:", os.Args[0])
		os.Exit(2)
	default:
		os.Exit(cli.Run(program()))
	}
}
