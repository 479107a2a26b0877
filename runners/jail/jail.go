package jail

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// failed is the exit status of a process that could not restrict itself as its policy says.
const failed = 125

// policy is what a jailed process may do. It travels as the last argument.
type policy struct {
	ReadOnly    []string `json:"read_only"`  // files and folders
	ReadWrite   string   `json:"read_write"` // the folder it works in
	MemoryBytes int64    `json:"memory_bytes"`
	CPUSeconds  int64    `json:"cpu_seconds"`
	FileBytes   int64    `json:"file_bytes"`
	OpenFiles   int64    `json:"open_files"`
	WallsOff    bool     `json:"walls_off"` // limits only
	Program     string   `json:"program"`
	Arguments   []string `json:"arguments"`
}

const (
	maxFileBytes      = 256 << 20
	maxOpenFiles      = 256
	maxComplaintBytes = 8 << 10 // of what a program writes to standard error
)

// systemFolders are what programs of most distributions need to start.
var systemFolders = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/urandom", "/nix/store"}

// Spec is a program and what it may do.
type Spec struct {
	Start       []string      // starts a process that calls Enter with one more argument
	WallsOff    bool          // resource limits only
	Folder      string        // the folder it works in, and the only one it writes
	ReadOnly    []string      // files and folders that it may read beside the system's libraries; those that are not there are left out
	MemoryBytes int64         // of addresses
	CPUTime     time.Duration // of all its threads
	Program     string
	Arguments   []string
	Environment []string  // all it sees of one
	Input       io.Reader // nil: nothing
	MaxPrinted  int       // bytes; a program that prints more is killed
}

// Ran is what became of a program.
type Ran struct {
	Printed, Complaints []byte // standard output and the beginning of standard error
	TooMuch             bool   // it printed more than it may
	Stopped             bool   // the context ended first
	Failure             error  // of the exit; nil: exit status 0
}

// Run runs the program until it ends or the context does. An error means that it could not be started, or not within its walls.
func Run(ctx context.Context, s Spec) (Ran, error) {
	command, err := s.command()
	if err != nil {
		return Ran{}, err
	}
	kill := func() { _ = command.Process.Kill() }
	printed, complaints := &bounded{left: s.MaxPrinted, full: kill}, &bounded{left: maxComplaintBytes, full: func() {}}
	command.Stdin, command.Stdout, command.Stderr = s.Input, printed, complaints
	command.WaitDelay = time.Second // a grandchild may hold the pipes
	if err := command.Start(); err != nil {
		return Ran{}, fmt.Errorf("start %s: %w", filepath.Base(s.Program), err)
	}
	stop := context.AfterFunc(ctx, kill)
	defer stop()
	err = command.Wait()
	ran := Ran{Printed: printed.kept.Bytes(), Complaints: complaints.kept.Bytes(), TooMuch: printed.over, Stopped: ctx.Err() != nil, Failure: err}
	if !ran.TooMuch && !ran.Stopped && command.ProcessState.ExitCode() == failed {
		return Ran{}, fmt.Errorf("the walls do not stand: %s", complaints.kept.String())
	}
	return ran, nil
}

// command is the program, to be run in its folder, restricted by a policy.
func (s Spec) command() (*exec.Cmd, error) {
	p := policy{
		ReadWrite: s.Folder, MemoryBytes: s.MemoryBytes, CPUSeconds: int64(s.CPUTime/time.Second) + 1, FileBytes: maxFileBytes, OpenFiles: maxOpenFiles,
		WallsOff: s.WallsOff, Program: s.Program, Arguments: s.Arguments,
	}
	for _, path := range append(append([]string{}, systemFolders...), s.ReadOnly...) {
		if _, err := os.Stat(path); err == nil {
			p.ReadOnly = append(p.ReadOnly, path)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	command := exec.Command(s.Start[0], append(s.Start[1:len(s.Start):len(s.Start)], string(text))...)
	command.Dir, command.Env = s.Folder, s.Environment
	isolate(command, s.WallsOff)
	return command, nil
}

// Enter restricts this process as a policy says and replaces it by the policy's program.
// It returns only if that fails: an exit status.
func Enter(text string) int {
	var p policy
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = enter(p)
	}
	fmt.Fprintln(os.Stderr, "jail:", err)
	return failed
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	kept bytes.Buffer // not embedded: its ReadFrom knows no bound
	left int
	over bool
	full func() // called when more is written than is kept
}

// Write is io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.left)]
	b.left -= len(kept)
	if len(kept) < len(p) && !b.over {
		b.over = true
		b.full()
	}
	_, _ = b.kept.Write(kept) // never fails
	return len(p), nil
}
