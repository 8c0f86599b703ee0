// Rule of this file: OpenPGP for tests that need a throwaway key: make one, and clear-sign with it. Nothing is encrypted.
//
//	openpgp generate DIRECTORY NAME   writes secret.gpg and public.gpg, binary keyrings without a passphrase
//	openpgp clearsign SECRET          standard input with a signature by the only key of that keyring, to standard output
//
// `--version` prints the version of the library inside, which is the one that Helm verifies with.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
)

const library = "github.com/ProtonMail/go-crypto"

func generate(directory, name string) error {
	key, err := openpgp.NewEntity(name, "", "", nil)
	if err != nil {
		return err
	}
	secret, err := os.OpenFile(filepath.Join(directory, "secret.gpg"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	public, err := os.OpenFile(filepath.Join(directory, "public.gpg"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(key.SerializePrivate(secret, nil), key.Serialize(public), secret.Close(), public.Close())
}

func sign(keyring string) error {
	file, err := os.Open(keyring)
	if err != nil {
		return err
	}
	keys, err := openpgp.ReadKeyRing(file)
	if err != nil {
		return err
	}
	if len(keys) != 1 || keys[0].PrivateKey == nil {
		return errors.New("the keyring does not hold one secret key")
	}
	out, err := clearsign.Encode(os.Stdout, keys[0].PrivateKey, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, os.Stdin); err != nil {
		return err
	}
	return out.Close()
}

func version() error {
	information, _ := debug.ReadBuildInfo()
	for _, module := range information.Deps {
		if module.Path == library {
			fmt.Println(module.Version)
			return nil
		}
	}
	return errors.New(library + ": not inside")
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 1 && arguments[0] == "--version":
		return version()
	case len(arguments) == 3 && arguments[0] == "generate":
		return generate(arguments[1], arguments[2])
	case len(arguments) == 2 && arguments[0] == "clearsign":
		return sign(arguments[1])
	}
	return errors.New("usage: openpgp generate DIRECTORY NAME | clearsign SECRET | --version")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "openpgp:", err)
		os.Exit(1)
	}
}
