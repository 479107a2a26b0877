package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reckon/test/need"
)

// The script that docs/log-format.md names reads the files by that page alone.
func TestScriptVerifiesTheFiles(t *testing.T) {
	t.Parallel()
	python := need.Program(t, "python3", "python3")
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
	runOn := func(note string) (string, error) {
		file := filepath.Join(t.TempDir(), "checkpoint")
		if err := os.WriteFile(file, []byte("example.org/log\n3\nAAAA\n"+note+"\n— example.org/log AAAA\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), python, script, dir, file).CombinedOutput()
		return string(out), err
	}
	line := fmt.Sprintf("chain %s %d %s\n", report.LogID, report.Records, report.Chain)
	if said, err := runOn(line); err != nil {
		t.Errorf("a checkpoint of this log: %v: %s", err, said)
	}
	for other, want := range map[string]string{
		strings.Replace(line, report.Chain[:8], "00000000", 1):          "position 14: this event or one before it is not that of",
		strings.Replace(line, " 14 ", " 15 ", 1):                        "the log ends at 14",
		strings.Replace(line, report.LogID.String()[:8], "00000000", 1): "it is of the log 00000000",
		"":           "it commits to no event log",
		"x\r" + line: "it commits to no event log",
		"x\r" + line + strings.Replace(line, report.Chain[:8], "00000000", 1): "position 14: this event or one before it is not that of",
		"\n" + strings.Replace(line, report.Chain[:8], "00000000", 1):         "position 14: this event or one before it is not that of",
		line + "\n" + line:                       "it commits to no event log",
		line + line:                              "it commits to no event log",
		line + "chain \n":                        "it commits to no event log",
		line[:len(line)-1] + "\r\n":              "it commits to no event log",
		line[:len(line)-1] + " \n":               "it commits to no event log",
		strings.Replace(line, " 14 ", " ١٤ ", 1): "it commits to no event log",
	} {
		if said, err := runOn(other); err == nil || !strings.Contains(said, want) {
			t.Errorf("%q: %v: %s, want %s", other, err, said, want)
		}
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

// The script and the node say the same of what lies at the end of a log: records that are there twice, cut, or changed, behind
// what HEAD names or before it. Both name the position of the newest record that is right.
func TestScriptAndNodeAgreeOnTheEnd(t *testing.T) {
	t.Parallel()
	python := need.Program(t, "python3", "python3")
	files, frames := smallLog(t)
	dir := onDisk(t, files)
	tail := frames[len(frames)-1].file
	inTail := slices.DeleteFunc(slices.Clone(frames), func(f frameAt) bool { return f.file != tail })
	newest, err := readHeadMark(diskFiles{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]headMark{"newest": newest}
	_, segments, _, err := loadSegments(readOnlyFiles{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	older := headMark{id: newest.id, position: segments.tail().base, link: segments.tail().link}
	marks["older"] = older // as after a power failure: what follows was perhaps acknowledged
	cut := func(f frameAt, bytes int64) []byte { return files[tail][:f.offset+bytes] }
	changes := map[string][]byte{"as it is": files[tail]}
	for i, f := range frames {
		changes[fmt.Sprintf("record %d is there again", i)] = slices.Concat(files[tail], files[f.file][f.offset:f.end()])
	}
	for i, f := range inTail {
		changes[fmt.Sprintf("cut before %d", i)] = cut(f, 0)
		changes[fmt.Sprintf("cut within %d", i)] = cut(f, 30)
		changes[fmt.Sprintf("%d doubled", i)] = slices.Concat(files[tail][:f.end()], files[tail][f.offset:])
		changed := bytes.Clone(files[tail])
		changed[f.offset+30] ^= 1
		changes[fmt.Sprintf("%d changed", i)] = changed
		changes[fmt.Sprintf("%d taken out", i)] = slices.Concat(cut(f, 0), files[tail][f.end():])
	}
	for at, mark := range marks {
		if err := os.WriteFile(filepath.Join(dir, headFileName), mark.encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		for what, content := range changes {
			if err := os.WriteFile(filepath.Join(dir, tail), content, 0o600); err != nil {
				t.Fatal(err)
			}
			report, damage := VerifyFolder(t.Context(), dir, nil)
			said, err := exec.CommandContext(t.Context(), python, filepath.Join("..", "..", "..", "docs", "verify_log.py"), dir).CombinedOutput()
			if (err == nil) != (damage == nil) {
				t.Errorf("HEAD is %s, %s: the script: %v: %s the node: %v", at, what, err, said, damage)
				continue
			}
			if right := fmt.Sprintf(": %d records in", report.Records); err == nil && (!strings.Contains(string(said), right) || strings.Contains(string(said), fmt.Sprintf("; %d bytes of", report.Unfinished)) != (report.Unfinished > 0)) {
				t.Errorf("HEAD is %s, %s: the script: %s the node: %+v", at, what, said, report)
			}
			var corrupt *CorruptError
			if err != nil && (!errors.As(damage, &corrupt) || !strings.Contains(string(said), fmt.Sprintf("position %d:", corrupt.Position))) {
				t.Errorf("HEAD is %s, %s: the script: %s the node: %v", at, what, said, damage)
			}
		}
	}
}
