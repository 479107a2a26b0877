package eventlog

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The script that docs/log-format.md names reads the files by that page alone.
func TestScriptVerifiesTheFiles(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	script := filepath.Join("..", "..", "..", "docs", "verify_log.py")
	run := func(dir string) (string, error) {
		out, err := exec.CommandContext(t.Context(), python, script, dir).CombinedOutput()
		return string(out), err
	}
	files, frames := smallLog(t)
	dir := onDisk(t, files)
	report, err := VerifyFolder(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if said, err := run(dir); err != nil || !strings.Contains(said, report.LogID.String()) || !strings.Contains(said, "14 records in 3 segments") || !strings.Contains(said, report.Chain) {
		t.Fatalf("%v: %s", err, said)
	}
	for _, f := range frames {
		changed := bytes.Clone(files[f.file])
		changed[f.offset+int64(f.length)*2/3] ^= 1
		if err := os.WriteFile(filepath.Join(dir, f.file), changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := run(dir); err == nil || !strings.Contains(said, filepath.Base(f.file)+", byte ") || !strings.Contains(said, "position "+strconv.FormatUint(f.position, 10)+":") {
			t.Errorf("position %d: %v: %s", f.position, err, said)
		}
		if err := os.WriteFile(filepath.Join(dir, f.file), files[f.file], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(b []byte) []byte{
		headFileName:          func(b []byte) []byte { b[20] ^= 1; return b },
		frames[0].file:        func(b []byte) []byte { b[40] ^= 1; return b },
		frames[13].file:       func(b []byte) []byte { return b[:frames[13].offset] },
		frames[13].file + " ": func(b []byte) []byte { return append(b, "RKEV, and then the power failed"...) },
	} {
		file := filepath.Join(dir, strings.TrimSpace(name))
		b := change(bytes.Clone(files[strings.TrimSpace(name)]))
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := run(dir)
		if unfinished := strings.HasSuffix(name, " "); (err == nil) != unfinished {
			t.Errorf("%q: %v: %s", name, err, said)
		}
		if err := os.WriteFile(file, files[strings.TrimSpace(name)], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
