package engine

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"reckon/internal/private"
)

//go:embed python/zygote.py
var zygoteSource []byte

// Program is what a zygote runs: a Python source that defines handle(request: dict) -> dict and, if it likes,
// warm() (once, before any fork), reseed() (in every child) and info() -> {"name","revision"}.
// A reply {"failed": reason, "detail": text} arrives as a FailedError.
type Program struct {
	Name   string // for messages
	Python string // the interpreter of its environment, see Python
	Source []byte // the program
	// Modules are sources that the program imports, by the names of the modules; that of a package ends with ".__init__". Their byte code is kept
	// beside the environment, where this process may write there.
	Modules  map[string]string
	ReadOnly []string // folders a worker may still read; none is best
	Threads  bool     // its workers may start threads, and still no processes
	Sandbox  Sandbox
	Idle     int // workers kept forked and waiting; each is used once
	Limits   Limits
}

// withAbsolutePaths makes the program's paths independent of the working folder: the zygote starts in one of its own.
func (p Program) withAbsolutePaths() (Program, error) {
	var err error
	p.ReadOnly = slices.Clone(p.ReadOnly)
	if p.Python, err = filepath.Abs(p.Python); err != nil {
		return p, err
	}
	for i := range p.ReadOnly {
		if p.ReadOnly[i], err = filepath.Abs(p.ReadOnly[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Limits bound each worker of a Program. Zero means the default.
type Limits struct {
	MemoryBytes  int64 `json:"memory_bytes"`  // beyond what the warmed program maps; default 1 GiB
	CPUSeconds   int64 `json:"cpu_seconds"`   // over a worker's life, behind the budgets; default 4 h
	OpenFiles    int   `json:"open_files"`    // default 64
	RequestBytes int   `json:"request_bytes"` // one line to a worker; default 8 MiB
	ReplyBytes   int   `json:"reply_bytes"`   // one line from a worker; default 16 MiB
}

func (l Limits) orDefaults() Limits {
	if l.MemoryBytes == 0 {
		l.MemoryBytes = 1 << 30
	}
	if l.CPUSeconds == 0 {
		l.CPUSeconds = 4 * 3600
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = 64
	}
	if l.RequestBytes == 0 {
		l.RequestBytes = 8 << 20
	}
	if l.ReplyBytes == 0 {
		l.ReplyBytes = 16 << 20
	}
	return l
}

// writeProgram lays out the private folder a zygote starts from: sources, configuration, an empty working folder.
func writeProgram(ctx context.Context, program Program, namespaced bool) (string, error) {
	filter, readOnly := "", []string{}
	if program.Sandbox != SandboxOff {
		var err error
		if filter, err = seccompHex(len(program.ReadOnly) > 0, program.Threads); err != nil {
			return "", err
		}
		readOnly = append(readOnly, program.ReadOnly...)
	}
	folder, err := private.MakeTemporaryFolder("reckon-engine-")
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(map[string]any{
		"program": filepath.Join(folder, "program.py"), "sandbox": program.Sandbox != SandboxOff, "namespaced": namespaced,
		"seccomp": filter, "own_process": ownProcess, "read_only": readOnly, "threads": program.Threads, "limits": program.Limits,
	})
	files := map[string][]byte{"zygote.py": zygoteSource, "program.py": program.Source, "config.json": config}
	if program.Modules != nil {
		modules, marshalling := json.Marshal(program.Modules)
		err = errors.Join(err, marshalling)
		files["modules.json"] = modules
		files["modules.code"], _ = byteCode(ctx, program.Python, modules) // without it the zygote compiles them, which takes longer
	}
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), content, 0o400))
	}
	if err = errors.Join(err, os.Mkdir(filepath.Join(folder, "empty"), 0o500)); err != nil {
		_ = os.RemoveAll(folder)
		return "", err
	}
	return folder, nil
}
