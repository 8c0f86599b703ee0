// Rule of this file: `trainer --port PORT --certificates DIRECTORY` runs the controllers of Kubeflow's Trainer.
//
// The controllers, their runtimes and their webhooks are those of the module. What stands here is the start alone: the
// module's own program keeps its certificate at a fixed place of the machine and waits until a Secret has it. The cluster
// is that of KUBECONFIG.
package main

import (
	"flag"
	"fmt"
	"os"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	"github.com/kubeflow/trainer/v2/pkg/controller"
	runtimes "github.com/kubeflow/trainer/v2/pkg/runtime/core"
	"github.com/kubeflow/trainer/v2/pkg/webhooks"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	options "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	plugins "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
)

func run(port int, certificates string) error {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, trainer.AddToScheme, jobset.AddToScheme, plugins.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:                 scheme,
		Client:                 client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		WebhookServer:          webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates}),
	})
	if err != nil {
		return err
	}
	context := ctrl.SetupSignalHandler()
	known, err := runtimes.New(context, manager.GetClient(), manager.GetFieldIndexer())
	if err != nil {
		return err
	}
	if name, err := controller.SetupControllers(manager, known, options.Options{}); err != nil {
		return fmt.Errorf("controller %s: %w", name, err)
	}
	if name, err := webhooks.Setup(manager, known); err != nil {
		return fmt.Errorf("webhook %s: %w", name, err)
	}
	return manager.Start(context)
}

func main() {
	port := flag.Int("port", 0, "of the webhooks")
	certificates := flag.String("certificates", "", "directory of tls.crt and tls.key")
	flag.Parse()
	if err := run(*port, *certificates); err != nil {
		fmt.Fprintln(os.Stderr, "trainer:", err)
		os.Exit(1)
	}
}
