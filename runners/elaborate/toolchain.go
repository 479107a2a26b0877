package elaborate

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"reckon/commands"
	"reckon/internal/private"
	"reckon/runners/jail"
)

//go:embed theorems.lean
var theoremsSource []byte

const (
	defaultTimeout = time.Minute
	// defaultMemoryBytes bounds the addresses of a process; Lean maps its libraries into them.
	defaultMemoryBytes = 8 << 30
	maxPrintedBytes    = 4 << 20
	maxExportBytes     = commands.MaxExportBytes + 1 // one more than is taken, so that too much is seen
)

// Options configure a toolchain.
type Options struct {
	Lean        string        // a toolchain's folder, or its lean
	Exporter    string        // lean4export built with that toolchain; empty: beside its lean
	Jail        []string      // starts a process that calls jail.Enter
	SandboxOff  bool          // run with resource limits only
	Timeout     time.Duration // of one elaboration, all steps; 0: one minute
	MemoryBytes int64         // addresses of each process; 0: 8 GiB
	Concurrency int           // elaborations at a time; 0: one
	ReadOnly    []string      // folders that may be read beside the toolchain and the system's libraries
}

// Toolchain is commands.Elaborator.
type Toolchain struct {
	Options
	Version string // as lean says it
	root    string
	lean    string
	places  chan struct{}
}

// New finds the toolchain and runs it once inside its walls: what does not work
// then would not work later.
func New(ctx context.Context, o Options) (*Toolchain, error) {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = defaultMemoryBytes
	}
	t := &Toolchain{Options: o, places: make(chan struct{}, max(1, o.Concurrency))}
	if err := t.find(ctx); err != nil {
		return nil, err
	}
	folder, err := private.MakeTemporaryFolder("reckon-lean-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	r, err := t.run(ctx, folder, maxPrintedBytes, t.lean, "--version")
	if err != nil || r.failed != "" {
		return nil, fmt.Errorf("lean does not run inside its walls: %w", errors.Join(err, errors.New(r.failed+" "+clip(string(r.errors)))))
	}
	t.Version = strings.TrimSpace(string(r.printed))
	return t, nil
}

// find resolves the toolchain's folder, through a version manager's shim too.
func (t *Toolchain) find(ctx context.Context) error {
	lean := t.Lean
	if info, err := os.Stat(lean); err != nil {
		return fmt.Errorf("--lean: %w", err)
	} else if info.IsDir() {
		lean = filepath.Join(lean, "bin", "lean")
	}
	bounded, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	prefix, err := exec.CommandContext(bounded, lean, "--print-prefix").Output()
	if err != nil {
		return fmt.Errorf("--lean: %s --print-prefix: %w", lean, err)
	}
	if t.root, err = filepath.Abs(strings.TrimSpace(string(prefix))); err != nil {
		return err
	}
	if t.root, err = filepath.EvalSymlinks(t.root); err != nil {
		return fmt.Errorf("--lean: %w", err)
	}
	t.lean = filepath.Join(t.root, "bin", "lean")
	if t.Exporter == "" {
		t.Exporter = filepath.Join(t.root, "bin", "lean4export")
	}
	if t.Exporter, err = filepath.Abs(t.Exporter); err != nil {
		return err
	}
	for _, program := range []string{t.lean, t.Exporter} {
		if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("--lean needs %s; build lean4export with this toolchain and name it with --lean-exporter", program)
		}
	}
	return nil
}

// Elaborate is commands.Elaborator.
func (t *Toolchain) Elaborate(ctx context.Context, source, module string, declarations []string) (commands.Elaborated, error) {
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	case <-ctx.Done():
		return commands.Elaborated{}, commands.ErrSaturated
	}
	folder, err := private.MakeTemporaryFolder("reckon-lean-")
	if err != nil {
		return commands.Elaborated{}, fmt.Errorf("%w: %w", commands.ErrElaborationUnavailable, err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	bounded, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	result, err := t.elaborate(bounded, folder, source, module, declarations)
	switch {
	case ctx.Err() != nil:
		return commands.Elaborated{}, ctx.Err()
	case err != nil:
		return commands.Elaborated{}, fmt.Errorf("%w: %w", commands.ErrElaborationUnavailable, err)
	}
	return result, nil
}

func (t *Toolchain) elaborate(ctx context.Context, folder, source, module string, declarations []string) (result commands.Elaborated, err error) {
	file := filepath.FromSlash(strings.ReplaceAll(module, ".", "/"))
	if err := os.MkdirAll(filepath.Join(folder, filepath.Dir(file)), 0o700); err != nil {
		return result, err
	}
	if err := os.WriteFile(filepath.Join(folder, file+".lean"), []byte(source), 0o600); err != nil {
		return result, err
	}
	compiled, err := t.run(ctx, folder, maxPrintedBytes, t.lean, "--json", "-R", ".", "-o", file+".olean", file+".lean")
	if err != nil {
		return result, err
	}
	list := messages(compiled.printed)
	if compiled.failed != "" || len(ofSeverity(list, commands.SeverityError)) > 0 {
		if len(ofSeverity(list, commands.SeverityError)) == 0 {
			list = append(list, serviceError(compiled.why("the elaboration")))
		}
		result.Messages = list
		return result, nil
	}
	result.Messages = ofSeverity(list, commands.SeverityWarning)
	if len(declarations) == 0 {
		if declarations, err = t.theorems(ctx, folder, module); err != nil {
			return result, err
		}
	}
	if len(declarations) == 0 {
		return commands.Elaborated{Messages: append(list, serviceError("the source declares no theorem or lemma; name what to export in declarations"))}, nil
	}
	result.Declarations = declarations
	exported, err := t.run(ctx, folder, maxExportBytes, t.Exporter, append([]string{module, "--"}, declarations...)...)
	switch {
	case err != nil:
		return result, err
	case exported.failed != "":
		return commands.Elaborated{Messages: append(list, serviceError(exported.why("the export")))}, nil
	}
	result.Export = exported.printed
	return result, nil
}

// theorems lists what a compiled module proves, in the order of its own table.
func (t *Toolchain) theorems(ctx context.Context, folder, module string) ([]string, error) {
	const lister = "reckon-theorems.lean" // no module can have this name
	if err := os.WriteFile(filepath.Join(folder, lister), theoremsSource, 0o600); err != nil {
		return nil, err
	}
	listed, err := t.run(ctx, folder, maxPrintedBytes, t.lean, "--run", lister, module)
	if err != nil {
		return nil, err
	}
	if listed.failed != "" {
		return nil, errors.New(listed.why("listing the theorems"))
	}
	var names []string
	for line := range bytes.Lines(listed.printed) {
		if name := strings.TrimSpace(string(line)); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// ran is what became of a process.
type ran struct {
	printed, errors []byte
	failed          string // how it ended, when not well
}

// why explains a failure in the toolchain's own words where it has some.
func (r ran) why(what string) string {
	text := strings.TrimSpace(string(r.errors))
	if text == "" {
		text = strings.TrimSpace(string(r.printed))
	}
	return strings.TrimSpace(what + " " + r.failed + "\n" + clip(text))
}

// run runs one program in the folder, inside the walls. An error means that it
// could not be started.
func (t *Toolchain) run(ctx context.Context, folder string, maxBytes int, program string, arguments ...string) (ran, error) {
	r, err := jail.Run(ctx, jail.Spec{
		Start: t.Jail, WallsOff: t.SandboxOff, Folder: folder, ReadOnly: append([]string{t.root, filepath.Dir(t.Exporter)}, t.ReadOnly...),
		MemoryBytes: t.MemoryBytes, CPUTime: 4 * t.Timeout, Program: program, Arguments: arguments, Environment: t.environment(folder), MaxPrinted: maxBytes,
	})
	result := ran{printed: r.Printed, errors: r.Complaints}
	switch {
	case err != nil:
		return ran{}, err
	case r.TooMuch:
		return ran{failed: fmt.Sprintf("printed more than %d bytes", maxBytes)}, nil
	case r.Stopped:
		return ran{failed: fmt.Sprintf("ran past its time of %v and was stopped", t.Timeout)}, nil
	case r.Failure != nil:
		result.failed = "failed (" + r.Failure.Error() + ")"
	}
	return result, nil
}

// environment is all a program sees of ours: nothing.
func (t *Toolchain) environment(folder string) []string {
	return []string{
		"PATH=" + filepath.Join(t.root, "bin"), "HOME=" + folder, "TMPDIR=" + folder, "LANG=C.UTF-8",
		"LEAN_SYSROOT=" + t.root, "LEAN_PATH=" + folder, "LEAN_ABORT_ON_PANIC=0",
	}
}
