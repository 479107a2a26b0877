package proof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"reckon/domain/lean/check"
	"reckon/internal/private"
	"reckon/runners/jail"
)

const (
	// exitDeclines is the exit status of a program that has no opinion on an export, as the kernel arena has it.
	exitDeclines = 2
	// exitNanodaCannot is nanoda's exit status for a file or a configuration that it cannot read; what it refuses ends with 101.
	exitNanodaCannot = 1
	// exitSignal is the least exit status with which a shell says that a signal ended what it ran.
	exitSignal = 128
	// probeBudget is how long a program may take for an export of one declaration.
	probeBudget = 30 * time.Second
	// maxProgramPrinted is what a program may print; nobody reads more than the end of it.
	maxProgramPrinted = 1 << 20
	// maxProgramReason bounds what is kept of a program's own words.
	maxProgramReason = 500
	// nanodaPrefix begins the names of programs that take nanoda's configuration instead of an export.
	nanodaPrefix = "nanoda"
)

// nanodaConfig has nanoda check what it reads on standard input, whatever axioms there are: which of them are allowed is
// decided before it is asked.
const nanodaConfig = `{"use_stdin":true,"unpermitted_axiom_hard_error":false,"unsafe_permit_all_axioms":true,"nat_extension":true,"string_extension":true,"print_success_message":false}`

const (
	probeMeta = `{"meta":{"exporter":{"name":"lean4export","version":"3.1.0"},"lean":{"githash":"f72c35b3f637c8c6571d353742168ab66cc22c00","version":"4.29.1"},"format":{"version":"3.1.0"}}}
{"in":1,"str":{"pre":0,"str":"probe"}}
{"ie":0,"sort":0}
{"il":1,"succ":0}
{"ie":1,"sort":1}
`
	// rightProbe is def probe : Type := Prop, wrongProbe def probe : Prop := Type.
	rightProbe = probeMeta + `{"def":{"all":[1],"hints":"opaque","levelParams":[],"name":1,"safety":"safe","type":1,"value":0}}
`
	wrongProbe = probeMeta + `{"def":{"all":[1],"hints":"opaque","levelParams":[],"name":1,"safety":"safe","type":0,"value":1}}
`
)

// ProgramConfig names a kernel of the operator's.
type ProgramConfig struct {
	Path        string   // of the program
	Jail        []string // starts a process that calls jail.Enter
	SandboxOff  bool     // run with resource limits only
	MemoryBytes int64    // of addresses; 0: DefaultMemoryBytes
}

// Program is a kernel of the operator's: a program that reads an export and answers by its exit status. It runs within
// the walls of package jail, in an empty folder of its own.
type Program struct {
	config ProgramConfig
	path   string // without symbolic links
	nanoda bool
}

// NewProgram has the program judge a right and a wrong export. Its error says why the program is no kernel.
func NewProgram(ctx context.Context, c ProgramConfig) (*Program, error) {
	if c.MemoryBytes <= 0 {
		c.MemoryBytes = DefaultMemoryBytes
	}
	path, err := exec.LookPath(c.Path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, fmt.Errorf("--second-kernel: %w", err)
	}
	p := &Program{config: c, path: path, nanoda: strings.HasPrefix(filepath.Base(path), nanodaPrefix)}
	for _, probe := range []struct {
		export, means string
		want          check.Kernel
	}{{rightProbe, "a right one (def probe : Type := Prop)", check.Accepted}, {wrongProbe, "a wrong one (def probe : Prop := Type)", check.Refused}} {
		answer, reason, err := p.Ask(ctx, strings.NewReader(probe.export), probeBudget)
		if err != nil {
			return nil, fmt.Errorf("--second-kernel: %w", err)
		}
		if answer != probe.want {
			return nil, fmt.Errorf("--second-kernel: %s is no kernel: of two exports, asked about %s it should have answered %s, and the answer is %s; %s", c.Path, probe.means, probe.want, answer, reason)
		}
	}
	return p, nil
}

// Name is the program's name on certificates, which is none of the other kernels'.
func (p *Program) Name() string { return "program " + filepath.Base(p.config.Path) }

// Ask has the program judge an export within a budget. It answers accepted for exit status 0, undecided for 2, from 128 on,
// where it ran out of the budget and where a signal ended it, and refused for any other status; reason is in the program's own
// words where it has some. An error means that it could not be run.
func (p *Program) Ask(ctx context.Context, export io.Reader, budget time.Duration) (answer check.Kernel, reason string, err error) {
	folder, err := private.MakeTemporaryFolder("reckon-kernel-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file, err := os.OpenFile(filepath.Join(folder, fileName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = file.Close() }()
	if _, err = io.Copy(file, export); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", "", err
	}
	argument := file.Name()
	if p.nanoda {
		argument = filepath.Join(folder, "nanoda.json")
		if err := os.WriteFile(argument, []byte(nanodaConfig), 0o600); err != nil {
			return "", "", err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	ran, err := jail.Run(bounded, jail.Spec{
		Start: p.config.Jail, WallsOff: p.config.SandboxOff, Folder: folder, ReadOnly: []string{filepath.Dir(p.path), "/bin", "/usr/bin"},
		MemoryBytes: p.config.MemoryBytes, CPUTime: 4 * budget, Program: p.path, Arguments: []string{argument},
		Environment: []string{"PATH=/usr/bin:/bin", "HOME=" + folder, "TMPDIR=" + folder, "LANG=C.UTF-8"}, Input: file, MaxPrinted: maxProgramPrinted,
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", "", err
	}
	answer, reason = p.answerOf(ran, budget)
	return answer, reason, nil
}

func (p *Program) answerOf(ran jail.Ran, budget time.Duration) (answer check.Kernel, reason string) {
	words := strings.TrimSpace(string(ran.Complaints))
	if words == "" {
		words = strings.TrimSpace(string(ran.Printed))
	}
	if len(words) > maxProgramReason {
		words = words[:maxProgramReason]
	}
	words = strings.ToValidUTF8(words, "")
	status, exited := errors.AsType[*exec.ExitError](ran.Failure)
	switch {
	case ran.Stopped:
		return check.Undecided, fmt.Sprintf("it ran past its time of %v and was stopped", budget.Round(time.Millisecond))
	case ran.TooMuch:
		return check.Undecided, fmt.Sprintf("it printed more than %d MiB and was stopped", maxProgramPrinted>>20)
	case ran.Failure == nil:
		return check.Accepted, ""
	case !exited || status.ExitCode() < 0 || status.ExitCode() >= exitSignal:
		return check.Undecided, strings.TrimSpace(ran.Failure.Error() + " " + words)
	case p.nanoda && status.ExitCode() == exitNanodaCannot:
		return check.Undecided, strings.TrimSpace("it cannot read the export: " + words)
	case status.ExitCode() == exitDeclines:
		return check.Undecided, strings.TrimSpace("it declines (exit status 2) " + words)
	}
	return check.Refused, strings.TrimSpace(ran.Failure.Error() + " " + words)
}

// AddAnswer has the program judge what the kernels of this process have verified, in what is left of the budget. What it refuses
// is no longer verified; where it has no opinion, the report says so. file is what refusals call the export. An error means that it could not be run.
func (p *Program) AddAnswer(ctx context.Context, report *check.Report, export io.Reader, file string, budget time.Duration) error {
	if report.Verdict != check.Verified {
		return nil
	}
	answer, reason, err := p.Ask(ctx, export, max(time.Second, budget-time.Duration(report.ElapsedMS)*time.Millisecond))
	if err != nil {
		return fmt.Errorf("the second kernel (--second-kernel) could not be run: %w", err)
	}
	if answer == check.Refused {
		report.Disagree(p.Name(), reason, check.Refusal{File: file})
		return nil
	}
	report.Answered(p.Name(), answer, reason)
	return nil
}
