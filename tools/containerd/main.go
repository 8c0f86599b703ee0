// Rule of this file: what containerd's own code makes of an image: who a process runs as, and which files its layers
// make together. Nothing else.
//
// Each line of standard input is one of two questions, and gives one line, {"error"} if it cannot be answered:
//
//	{"root": directory, "user": text, "member": text or null}: the unpacked image, the user string for WithUser, and the
//	user whose groups WithAdditionalGIDs looks up. {"uid", "gid", "groups": after WithUser, "more": after
//	WithAdditionalGIDs, null without a member}.
//
//	{"layers": [base64 of an uncompressed tar archive, ...], "files": [path, ...]}: layers, lowest first, for Apply, one
//	after the other into one new directory. {"files": [base64 of what the path leads to inside of it, null without a
//	regular file there]}.
//
// `--version` prints the version of the library that is inside.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/archive"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/containerd/continuity/fs"
)

const library = "github.com/containerd/containerd/v2"

type request struct {
	Root   string  `json:"root"`
	User   string  `json:"user"`
	Member *string `json:"member"`

	Layers [][]byte `json:"layers"`
	Files  []string `json:"files"`
}

type answer struct {
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups"`
	More   []uint32 `json:"more"`
}

// look applies both options as the CRI plugin does; a container without a snapshot is looked up where its root is.
func look(asked request) (any, error) {
	bundle, err := json.Marshal(map[string]any{"root": map[string]string{"path": asked.Root}, "linux": map[string]any{}})
	if err != nil {
		return nil, err
	}
	made := &oci.Spec{}
	if err := json.Unmarshal(bundle, made); err != nil {
		return nil, err
	}
	container := &containers.Container{}
	if err := oci.WithUser(asked.User)(context.Background(), nil, container, made); err != nil {
		return nil, err
	}
	user := made.Process.User
	found := answer{UID: user.UID, GID: user.GID, Groups: user.AdditionalGids}
	if asked.Member != nil {
		if err := oci.WithAdditionalGIDs(*asked.Member)(context.Background(), nil, container, made); err != nil {
			return nil, err
		}
		found.More = made.Process.User.AdditionalGids
	}
	return found, nil
}

// unpack applies layers as a snapshotter does that keeps whole directories; owners stay ours, so that anybody may run it.
func unpack(asked request) (any, error) {
	root, err := os.MkdirTemp("", "layers")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	for _, layer := range asked.Layers {
		if _, err := archive.Apply(context.Background(), root, bytes.NewReader(layer), archive.WithNoSameOwner()); err != nil {
			return nil, err
		}
	}
	found := make([][]byte, len(asked.Files))
	for index, name := range asked.Files {
		path, err := fs.RootPath(root, name)
		if err != nil {
			return nil, err
		}
		if status, err := os.Lstat(path); err == nil && status.Mode().IsRegular() {
			if found[index], err = os.ReadFile(path); err != nil {
				return nil, err
			}
		}
	}
	return map[string]any{"files": found}, nil
}

func run(in io.Reader, out io.Writer) error {
	decoder, encoder := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var asked request
		if err := decoder.Decode(&asked); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		answered := look
		if asked.Files != nil {
			answered = unpack
		}
		found, err := answered(asked)
		if err != nil {
			found = map[string]string{"error": err.Error()}
		}
		if err := encoder.Encode(found); err != nil {
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

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(version())
		return
	}
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
