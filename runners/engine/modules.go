package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"reckon/internal/disk"
	"reckon/internal/private"
)

//go:embed python/compile_modules.py
var compileSource string

// keptCode is how many byte codes are kept beside an environment: programs of several versions of this binary may share it.
const keptCode = 8

// codeFolder is where byte code for a Python environment is kept: beside it, since the environment's files are compared with a list of them.
func codeFolder(python string) (string, error) {
	environment, err := filepath.EvalSymlinks(filepath.Dir(filepath.Dir(python)))
	return environment + ".code", err
}

// byteCode is the byte code of modules, JSON as compile_modules.py reads it: what an earlier start has kept, else made and kept now. A file that was
// changed is made anew, and one of a folder that another user could write to is not used.
func byteCode(ctx context.Context, python string, modules []byte) ([]byte, error) {
	folder, err := codeFolder(python)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(modules)
	path := filepath.Join(folder, hex.EncodeToString(sum[:12]))
	if err := private.CheckPrograms(folder); errors.Is(err, fs.ErrNotExist) {
		if err := disk.MakeFolder(folder); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if code, ok := readCode(path); ok {
		return code, nil
	}
	command := exec.CommandContext(ctx, python, "-s", "-P", "-S", "-B", "-X", "utf8", "-c", compileSource)
	command.Env = []string{"PYTHONHASHSEED=0"}
	command.Stdin = bytes.NewReader(modules)
	code, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("compile the modules of a program: %w", err)
	}
	if err := private.ReplaceFile(path, sealed(code)); err != nil {
		return nil, err
	}
	return code, removeOldCode(folder)
}

// sealed is byte code as it is kept, behind its SHA-256.
func sealed(code []byte) []byte {
	sum := sha256.Sum256(code)
	return slices.Concat(sum[:], code)
}

// readCode is the content of a file that begins with its SHA-256; a start that reads it makes it the last to be removed.
func readCode(path string) (code []byte, ok bool) {
	content, err := os.ReadFile(path)
	if err != nil || len(content) < sha256.Size {
		return nil, false
	}
	code = content[sha256.Size:]
	if sum := sha256.Sum256(code); !bytes.Equal(sum[:], content[:sha256.Size]) {
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // another user's may be read and not touched
	return code, true
}

// removeOldCode removes all but those that were read last.
func removeOldCode(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil { // another process may remove it now
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range files[min(keptCode, len(files)):] {
		if err := os.Remove(filepath.Join(folder, old.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
