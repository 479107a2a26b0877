package engine

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed requirements.txt
var requirements []byte

// Oldest Python that may run the engine.
const minPythonMinor = 11

// stampName is written last: a folder without it is half made.
const stampName = "reckon-environment"

// ErrNoPython says that the machine has no usable Python.
var ErrNoPython = errors.New("the engine needs Python 3.11 or later with its venv module on the PATH: install it " +
	"(Debian and Ubuntu: apt install python3 python3-venv) and start again")

// InstallError says which step of Install failed and what it printed.
type InstallError struct {
	Step   string // create, packages, check
	Output string // the end of what the step printed
	Err    error
}

func (e *InstallError) Error() string {
	advice := map[string]string{
		"create":   "Python could not make a virtual environment (Debian and Ubuntu: apt install python3-venv)",
		"packages": "pip could not install the pinned packages; it needs to reach the Python package index once (pip's own settings for proxies and mirrors apply)",
		"check":    "the installed packages do not run on this machine",
	}[e.Step]
	return fmt.Sprintf("make the engine's Python environment: %s: %v\n%s", advice, e.Err, e.Output)
}

func (e *InstallError) Unwrap() error { return e.Err }

// Python is the interpreter of an environment made by Install.
func Python(environment string) string { return filepath.Join(environment, "bin", "python") }

// Revision names the pinned packages: the environments of two revisions are not the same.
func Revision() string {
	sum := sha256.Sum256(requirements)
	return hex.EncodeToString(sum[:6])
}

// EnvironmentStatus is what there is of an environment.
type EnvironmentStatus struct {
	Folder   string   `json:"folder"`
	Ready    bool     `json:"ready"`
	Revision string   `json:"revision"` // wanted
	Packages []string `json:"packages"` // wanted, name==version
}

// Status tells whether Install has anything left to do.
func Status(folder string) EnvironmentStatus {
	return EnvironmentStatus{Folder: folder, Ready: ready(folder), Revision: Revision(), Packages: pinned()}
}

func pinned() []string {
	return regexp.MustCompile(`(?m)^[a-z-]+==[0-9.]+`).FindAllString(string(requirements), -1)
}

func ready(folder string) bool {
	stamp, err := os.ReadFile(filepath.Join(folder, stampName))
	if err != nil || string(stamp) != Revision() {
		return false
	}
	_, err = os.Stat(Python(folder)) // a link: gone when the machine's Python was replaced
	return err == nil
}

// Install makes the engine's private Python environment in the folder, unless it is there: a virtual environment
// with the packages of requirements.txt, each file checked against its pinned hash. A half-made one is made anew; processes
// that start together wait for the one that makes it. progress (may be nil) is told each step, for people.
func Install(ctx context.Context, folder string, progress func(string)) error {
	if ready(folder) {
		return nil
	}
	if progress == nil {
		progress = func(string) {}
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	unlock, err := lockFile(ctx, folder+".lock", func() { progress("waiting for another process that is making the engine's Python environment") })
	if err != nil {
		return err
	}
	defer unlock()
	if ready(folder) {
		return nil
	}
	python, err := findPython(ctx)
	if err != nil {
		return err
	}
	return build(ctx, folder, python, progress)
}

func build(ctx context.Context, folder, python string, progress func(string)) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	progress("making a private Python environment in " + folder)
	if err := step(ctx, "create", python, "-I", "-m", "venv", folder); err != nil {
		return err
	}
	list := filepath.Join(folder, "requirements.txt")
	if err := os.WriteFile(list, requirements, 0o644); err != nil {
		return err
	}
	progress("installing " + strings.Join(pinned(), " ") + " (about 30 MB, once)")
	err := step(ctx, "packages", Python(folder), "-m", "pip", "install", "--no-input", "--disable-pip-version-check",
		"--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", list)
	if err != nil {
		return err
	}
	progress("checking that the engine answers")
	if err := step(ctx, "check", Python(folder), "-I", "-c", "import woxi, sympy, flint; assert woxi.interpret('1+1') == '2'"); err != nil {
		return err
	}
	return writeStamp(folder)
}

// writeStamp declares the environment whole, by a rename so that a torn write cannot.
func writeStamp(folder string) error {
	path := filepath.Join(folder, stampName)
	if err := os.WriteFile(path+".new", []byte(Revision()), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func step(ctx context.Context, name, program string, arguments ...string) error {
	output := &tail{}
	command := exec.CommandContext(ctx, program, arguments...)
	command.Stdout, command.Stderr = output, output
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 5 * time.Second
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &InstallError{Step: name, Output: output.String(), Err: err}
	}
	return nil
}

// findPython looks for a new enough Python by the names it goes by, newest first among the numbered ones.
func findPython(ctx context.Context) (string, error) {
	names := []string{"python3"}
	for minor := 14; minor >= minPythonMinor; minor-- {
		names = append(names, "python3."+strconv.Itoa(minor))
	}
	for _, name := range append(names, "python") {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		check := fmt.Sprintf("import sys, venv, ensurepip; sys.exit(sys.version_info < (3, %d))", minPythonMinor)
		if exec.CommandContext(ctx, path, "-I", "-c", check).Run() == nil {
			return path, nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", ErrNoPython
}

// lockFile takes an exclusive lock that the system drops with the process. waiting is called once if another has it.
func lockFile(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	told := false
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !told {
			waiting()
			told = true
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
