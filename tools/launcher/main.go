// Rule of this file: start the Python of a bundle with the bundle's own code, and let nothing else decide what runs.
//
//	ROOT/contrast-krm ARGUMENT...   is   ROOT/python/bin/python3 -I -S ROOT/start.py ARGUMENT...
//
// ROOT is where this program really is, whatever links lead to it. -I and -S keep PYTHON* variables, the current
// directory and other packages out. It opens no file, and becomes that Python: same process, same standard streams.
package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

const environment = 3 // the exit code for a machine that cannot run it

func main() {
	root, err := directory()
	if err != nil {
		fail("cannot find out where it is: " + err.Error())
	}
	python := filepath.Join(root, "python", "bin", "python3")
	arguments := append([]string{python, "-I", "-S", filepath.Join(root, "start.py")}, os.Args[1:]...)
	fail(python + ": " + syscall.Exec(python, arguments, os.Environ()).Error())
}

// directory asks the kernel for the path of this program, and its caller's words where there is no /proc.
func directory() (string, error) {
	path, err := os.Executable()
	if err != nil {
		if path, err = exec.LookPath(os.Args[0]); err != nil {
			return "", err
		}
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}

func fail(what string) {
	os.Stderr.WriteString("contrast-krm: " + what + "; nothing was written\n" +
		"  hint: unpack the whole archive on a machine with glibc, and link to the program instead of copying it\n")
	os.Exit(environment)
}
