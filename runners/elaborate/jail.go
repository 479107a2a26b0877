package elaborate

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// jailFailed is the exit status of a process that could not restrict itself as its policy says.
const jailFailed = 125

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
	maxFileBytes = 256 << 20
	maxOpenFiles = 256
)

// systemFolders are what programs of most distributions need to start.
var systemFolders = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/urandom", "/nix/store"}

// command is a program that is to run in a folder, restricted by a policy.
func (t *Toolchain) command(folder, program string, arguments []string) (*exec.Cmd, error) {
	p := policy{
		ReadWrite: folder, MemoryBytes: t.MemoryBytes, CPUSeconds: int64(4*t.Timeout/time.Second) + 1, FileBytes: maxFileBytes, OpenFiles: maxOpenFiles,
		WallsOff: t.SandboxOff, Program: program, Arguments: arguments,
	}
	for _, path := range append(append([]string{t.root, filepath.Dir(t.Exporter)}, systemFolders...), t.ReadOnly...) {
		if _, err := os.Stat(path); err == nil {
			p.ReadOnly = append(p.ReadOnly, path)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	command := exec.Command(t.Jail[0], append(t.Jail[1:len(t.Jail):len(t.Jail)], string(text))...)
	command.Dir, command.Env = folder, t.environment(folder)
	isolate(command, t.SandboxOff)
	return command, nil
}

// Jail restricts this process as a policy says and replaces it by the policy's program.
// It returns only if that fails: an exit status.
func Jail(text string) int {
	var p policy
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = enter(p)
	}
	fmt.Fprintln(os.Stderr, "jail:", err)
	return jailFailed
}
