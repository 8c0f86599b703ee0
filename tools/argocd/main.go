// Rule of this file: the first argument is the program of Argo CD that the rest is for.
//
//	argocd argocd-cmp-server ARGUMENT...      the sidecar's server, as the image of Argo CD has it
//	argocd generate APPLICATION REPOSITORY    the objects that the repo-server gets for an Application of a repository on disk
//
// Both are Argo CD's own code. `generate` prints a JSON array; where the repo-server would report an error on the
// Application, it prints that error on standard error and exits 1. The version that is inside answers `--version`.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	cmpserver "github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands"
	"github.com/argoproj/argo-cd/v3/common"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v3/reposerver/repository"
	"github.com/argoproj/argo-cd/v3/util/config"
	"github.com/argoproj/argo-cd/v3/util/git"
	utilio "github.com/argoproj/argo-cd/v3/util/io"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	module   = "github.com/argoproj/argo-cd/v3"
	revision = "0123456789012345678901234567890123456789"
	patience = 60 * time.Second // the repo-server's own limit
)

func generate(path, root string) ([]json.RawMessage, error) {
	var app v1alpha1.Application
	if err := config.UnmarshalLocalFile(path, &app); err != nil {
		return nil, err
	}
	source := app.Spec.GetSource()
	request := &apiclient.ManifestRequest{
		AppName:           app.Name,
		Namespace:         app.Spec.Destination.Namespace,
		ProjectName:       app.Spec.Project,
		ApplicationSource: &source,
		Repo:              &v1alpha1.Repository{Repo: source.RepoURL},
		KubeVersion:       "1.36.3",
		AppLabelKey:       common.LabelKeyAppInstance,
		TrackingMethod:    string(v1alpha1.TrackingMethodAnnotation), // the default of Argo CD 3
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	made, err := repository.GenerateManifests(ctx, filepath.Join(root, source.Path), root, revision, request,
		false, git.NoopCredsStore{}, resource.MustParse("10M"), utilio.NewRandomizedTempPaths(os.TempDir()))
	if err != nil {
		return nil, err
	}
	objects := make([]json.RawMessage, 0, len(made.Manifests))
	for _, text := range made.Manifests {
		objects = append(objects, json.RawMessage(text))
	}
	return objects, nil
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

func fail(code int, values ...any) {
	fmt.Fprintln(os.Stderr, values...)
	os.Exit(code)
}

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "--version":
		fmt.Println(version())
	case len(os.Args) >= 2 && os.Args[1] == "argocd-cmp-server":
		os.Args = os.Args[1:]
		if err := cmpserver.NewCommand().Execute(); err != nil {
			os.Exit(1)
		}
	case len(os.Args) == 4 && os.Args[1] == "generate":
		objects, err := generate(os.Args[2], os.Args[3])
		if err != nil {
			fail(1, err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(objects); err != nil {
			fail(1, err)
		}
	default:
		fail(2, "usage: argocd argocd-cmp-server ARGUMENT... | argocd generate APPLICATION REPOSITORY")
	}
}
