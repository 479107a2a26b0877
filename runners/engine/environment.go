package engine

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"reckon/internal/disk"
)

//go:embed requirements.txt
var requirements []byte

// Packages is a list of pinned packages of which Install makes one Python environment.
type Packages struct {
	Name         string // for people: "the engine"
	Requirements []byte // versions and the SHA-256 of every file, as pip reads them
	Check        string // a Python program that fails where they do not run
	// Bytes of an installation: what is downloaded, and what it is on disk with the downloads beside it. They differ a little between machines.
	DownloadBytes, DiskBytes int64
}

// Core is the packages of the first engine and of the independent checker, which every installation has.
var Core = Packages{
	Name: "the engine", Requirements: requirements, Check: "import woxi, flint; assert woxi.interpret('1+1') == '2'",
	DownloadBytes: 35_000_000, DiskBytes: 128_000_000,
}

// layout changes when Install makes something else of the same packages.
const layout = "2"

// Oldest Python that may run the engine.
const minPythonMinor = 11

// ErrNoPython says that the machine has no Python of a version that can run the engine.
var ErrNoPython = errors.New("the engine needs Python 3.11 or later with its venv module on the PATH: install it " +
	"(Debian and Ubuntu: apt install python3 python3-venv) and start again")

// InstallStep names a step of Install.
type InstallStep string

// Steps of Install, in order.
const (
	StepCreate   InstallStep = "create"   // the virtual environment
	StepPackages InstallStep = "packages" // download and install them
	StepCheck    InstallStep = "check"    // the engine answers
)

// Cause is why a step of Install failed, as far as its output tells.
type Cause string

// Causes.
const (
	CauseDiskFull    Cause = "disk full"
	CauseUnreachable Cause = "unreachable"    // the package index
	CauseOtherFiles  Cause = "other files"    // than the pinned ones
	CauseNoBuild     Cause = "no build"       // of a package for this machine
	CauseEndless     Cause = "endless"        // longer or more than the packages are
	CauseUnknown     Cause = "something else" // the output says what
)

// causes are looked for in this order: what fails for want of space or network says other things too.
var causes = []struct {
	is     Cause
	says   *regexp.Regexp
	advice string
}{
	{CauseDiskFull, regexp.MustCompile(`(?i)no space left|errno 28|disk quota exceeded|errno 122`),
		"the disk is full: about {disk} MB are needed in {folder}; free some, or choose another folder with --data"},
	{CauseEndless, regexp.MustCompile(regexp.QuoteMeta(errEndless.Error())),
		"the download did not end, and the pinned packages are {download} MB: look at this machine's network, or at the mirror that pip is configured to use, and start again"},
	{CauseOtherFiles, regexp.MustCompile(`(?i)do not match the hashes|hash mismatch|expected sha256`),
		"the package index serves other files than the ones this version was made with, so nothing was installed: look at the mirror that pip is configured to use"},
	{CauseUnreachable, regexp.MustCompile(`(?i)failed to establish|name resolution|name or service not known|connection refused|connection reset|timed out|max retries|proxyerror|network is unreachable|connection broken`),
		"the Python package index cannot be reached, and it is needed once: look at this machine's network, or at pip's own settings for a proxy or a mirror (PIP_INDEX_URL, PIP_PROXY, pip.conf), and start again"},
	{CauseNoBuild, regexp.MustCompile(`(?i)no matching distribution|not a supported wheel|could not find a version`),
		"there is no build of a pinned package for this machine and this Python: the engine runs on Linux (x86_64, aarch64) and macOS with Python 3.11 or later"},
}

// InstallError says which step of Install failed, why, and what it printed.
type InstallError struct {
	Step   InstallStep
	Cause  Cause
	Folder string
	Output string // the end of what the step printed
	Err    error

	packages Packages
}

func newInstallError(packages Packages, step InstallStep, folder, output string, err error) *InstallError {
	e := &InstallError{Step: step, Cause: CauseUnknown, Folder: folder, Output: output, Err: err, packages: packages}
	for _, c := range causes {
		if c.says.MatchString(output) || c.says.MatchString(err.Error()) {
			e.Cause = c.is
			break
		}
	}
	return e
}

func (e *InstallError) Error() string {
	advice := map[InstallStep]string{
		StepCreate:   "Python could not make a virtual environment (Debian and Ubuntu: apt install python3-venv)",
		StepPackages: "pip could not install the pinned packages",
		StepCheck:    "the installed packages do not run on this machine",
	}[e.Step]
	for _, c := range causes {
		if c.is == e.Cause {
			megabytes := func(bytes int64) string { return strconv.FormatInt(bytes/1_000_000, 10) }
			advice = strings.NewReplacer("{folder}", filepath.Dir(e.Folder), "{disk}", megabytes(2*e.packages.DiskBytes), "{download}", megabytes(e.packages.DownloadBytes)).Replace(c.advice)
		}
	}
	said := fmt.Sprintf("make the Python environment of %s: %s (%v)", e.packages.Name, advice, e.Err)
	if e.Output != "" {
		said += "; the end of what was printed:\n" + strings.TrimRight(e.Output, "\n")
	}
	return said
}

func (e *InstallError) Unwrap() error { return e.Err }

// Python is the interpreter of an environment made by Install.
func Python(environment string) string { return filepath.Join(environment, "bin", "python") }

// Revision names the pinned packages and how they are laid out: the environments of two revisions are not the same.
func (p Packages) Revision() string {
	sum := sha256.Sum256(append([]byte("layout "+layout+"\n"), p.Requirements...))
	return hex.EncodeToString(sum[:6])
}

// EnvironmentStatus is what there is of an environment.
type EnvironmentStatus struct {
	Folder   string   `json:"folder"`
	Ready    bool     `json:"ready"`
	Damage   string   `json:"damage,omitempty"` // the first difference from what was installed, where something was
	Revision string   `json:"revision"`         // wanted
	Packages []string `json:"packages"`         // wanted, name==version
}

// Status tells whether Install has anything left to do. It reads every file of the environment.
func (p Packages) Status(folder string) EnvironmentStatus {
	status := EnvironmentStatus{Folder: folder, Revision: p.Revision(), Packages: p.pinned()}
	err := p.verify(folder)
	status.Ready = err == nil
	if damage, ok := errors.AsType[*damageError](err); ok {
		status.Damage = damage.Error()
	}
	return status
}

// pinned lists name==version of each.
func (p Packages) pinned() []string {
	return regexp.MustCompile(`(?m)^[a-z-]+==[0-9.]+`).FindAllString(string(p.Requirements), -1)
}

// Install makes a private Python environment of the packages in the folder, unless it is there: a virtual environment with them, each file checked against its pinned hash. It is made beside the folder and renamed when it
// is whole; one that is not what was installed is replaced. Processes that start together wait for the one that makes it, and
// for what a killed one left running. report (may be nil) is called several times a second, by one goroutine at a time.
func (p Packages) Install(ctx context.Context, folder string, report func(Report)) error {
	if p.verify(folder) == nil {
		return nil
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if err := disk.MakeFolder(filepath.Dir(folder)); err != nil {
		return err
	}
	making := folder + ".new"
	reports := newReporter(report, making, p.DiskBytes)
	lock, err := lockFile(ctx, folder+".lock", func() {
		reports.notice("waiting for another process that is making the Python environment of %s in %s", p.Name, folder)
	})
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	err = p.verify(folder)
	if err == nil {
		return nil
	}
	if damage, ok := errors.AsType[*damageError](err); ok {
		reports.notice("the Python environment of %s is damaged (%s): it is made anew", p.Name, damage)
	}
	python, err := findPython(ctx)
	if err != nil {
		return err
	}
	reports.notice("making the Python environment of %s, once: %s (%s), a download of %d MB that takes up to %d MB of disk, in %s",
		p.Name, modules(len(p.pinned())), strings.Join(p.pinned(), ", "), p.DownloadBytes/1_000_000, p.DiskBytes/1_000_000, folder)
	bounded, cancel := context.WithTimeoutCause(ctx, maxInstallTime, errEndless)
	defer cancel()
	return installer{packages: p, folder: folder, making: making, lock: lock, reports: reports}.install(bounded, python)
}

// modules is a number of modules in words.
func modules(n int) string {
	if n == 1 {
		return "1 module"
	}
	return strconv.Itoa(n) + " modules"
}

// installer makes one environment; it holds the lock.
type installer struct {
	packages       Packages
	folder, making string
	lock           *os.File
	reports        *reporter
}

func (in installer) install(ctx context.Context, python string) (err error) {
	old := in.folder + ".old"
	if err := errors.Join(os.RemoveAll(in.making), os.RemoveAll(old)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(in.making) // the disk may be full: free what this attempt took
		}
	}()
	if err := os.Mkdir(in.making, 0o700); err != nil {
		return in.stepError(StepCreate, "", err)
	}
	if err := in.build(ctx, python); err != nil {
		return err
	}
	if err := in.packages.writeManifest(in.making); err != nil {
		return in.stepError(StepCheck, "", err)
	}
	if err := os.Rename(in.folder, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(in.making, in.folder); err != nil {
		return err
	}
	in.reports.notice("the Python environment of %s is made: %s, %d MB, %.0f s", in.packages.Name, modules(len(in.packages.pinned())), bytesBelow(in.folder)/1_000_000, time.Since(in.reports.begun).Seconds())
	return os.RemoveAll(old)
}

// runPip runs the pip that every Python carries for its virtual environments, in this one process: none of its own would be
// left in the environment, and there is no child of a child that a killed server could leave behind.
const runPip = `
import ensurepip, glob, os, runpy, sys, sysconfig
folders = [sysconfig.get_config_var("WHEEL_PKG_DIR"), os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"), "/usr/share/python-wheels"]
wheels = [wheel for folder in folders if folder for wheel in sorted(glob.glob(os.path.join(folder, "pip-*.whl")))]
if not wheels:
    sys.exit("this Python carries no pip (Debian and Ubuntu: apt install python3-venv)")
sys.path.insert(0, wheels[0])
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`

func (in installer) build(ctx context.Context, python string) error {
	temporary := filepath.Join(in.making, "tmp") // on the disk that is to hold the environment, and gone with it
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return in.stepError(StepCreate, "", err)
	}
	in.reports.doing("making a virtual environment")
	if err := in.runStep(ctx, StepCreate, temporary, python, "-I", "-m", "venv", "--without-pip", in.making); err != nil {
		return err
	}
	list := filepath.Join(in.making, "requirements.txt")
	if err := os.WriteFile(list, in.packages.Requirements, 0o600); err != nil {
		return in.stepError(StepPackages, "", err)
	}
	in.reports.doing("asking the package index")
	err := in.runStep(ctx, StepPackages, temporary, Python(in.making), "-I", "-c", runPip, "install", "--no-input", "--disable-pip-version-check",
		"--progress-bar", "off", "--retries", "2", "--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", list)
	if err != nil {
		return err
	}
	in.reports.doing("checking that it answers")
	err = in.runStep(ctx, StepCheck, temporary, Python(in.making), "-I", "-B", "-c", in.packages.Check)
	if err != nil {
		return err
	}
	return in.removeUnneeded(temporary)
}

// removeUnneeded deletes what the engine does not need and takes every permission from all but the owner.
func (in installer) removeUnneeded(temporary string) error {
	if err := os.RemoveAll(temporary); err != nil {
		return err
	}
	programs, err := filepath.Glob(filepath.Join(in.making, "bin", "*"))
	if err != nil {
		return err
	}
	for _, program := range programs { // all but the interpreter name the folder they were made in
		if !strings.HasPrefix(filepath.Base(program), "python") {
			if err := os.Remove(program); err != nil {
				return err
			}
		}
	}
	return filepath.WalkDir(in.making, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&0o700)
	})
}

func (in installer) stepError(step InstallStep, output string, err error) error {
	return newInstallError(in.packages, step, in.folder, output, err)
}

// measureEvery is how often the size of what is being made is looked at.
const measureEvery = 200 * time.Millisecond

// runStep runs a program that ends with this process. Its standard input is the lock's file, so that the lock is held until the
// program, too, has ended.
func (in installer) runStep(ctx context.Context, name InstallStep, temporary, program string, arguments ...string) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	output := &outputTail{}
	lines, told := io.Pipe()
	command := exec.CommandContext(ctx, program, arguments...)
	command.Stdin, command.Stdout = in.lock, io.MultiWriter(output, told)
	command.Stderr = command.Stdout
	command.Env = append(os.Environ(), "TMPDIR="+temporary)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 5 * time.Second
	dieWithParent(command)
	telling := make(chan struct{})
	go func() {
		defer close(telling)
		in.follow(lines, end)
	}()
	runtime.LockOSThread() // the parent in the kernel's eyes is the thread that starts a process: it must not end before it
	err := command.Run()
	runtime.UnlockOSThread()
	_ = told.Close() // a pipe's never fails
	<-telling
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errEndless):
		return in.stepError(name, output.String(), cause)
	case cause != nil:
		return cause
	case err != nil:
		return in.stepError(name, output.String(), err)
	}
	return nil
}

// follow reads what a step prints and looks at the disk until the step has ended, and once more then. It ends the step where that is too
// much.
func (in installer) follow(output io.Reader, end context.CancelCauseFunc) {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines <- strings.TrimSpace(scanner.Text())
		}
		_, _ = io.Copy(io.Discard, output) // behind a line too long to be one
	}()
	ticker := time.NewTicker(measureEvery)
	defer ticker.Stop()
	for {
		select {
		case line, more := <-lines:
			if !more {
				in.measure(end) // it may have ended between two looks
				return
			}
			in.reports.heard(line)
		case <-ticker.C:
			in.measure(end)
		}
	}
}

func (in installer) measure(end context.CancelCauseFunc) {
	if err := in.reports.measure(); err != nil {
		end(err)
	}
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

// lockFile takes an exclusive lock that the system drops with the last process that has the file open. waiting is called once
// if another has it.
func lockFile(ctx context.Context, path string, waiting func()) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	told := false
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return file, nil
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
