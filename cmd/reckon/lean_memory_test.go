//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"reckon/domain/lean/check"
	"reckon/test/binary"
	"reckon/test/need"
	"reckon/test/sweep"
)

// hungry are exports whose check takes any amount of memory, each in another way.
var hungry = map[string]func(t *testing.T, w *bufio.Writer){
	"many expressions": func(t *testing.T, w *bufio.Writer) {
		prelude, err := os.ReadFile(need.Shared(t, "lean-exports", "accept", "init-prelude.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(prelude)
		// Nat.rec (fun acc => acc) (fun n ih acc => ih (Nat.succ acc)) 100000000 0 = 1, by reflexivity.
		_, _ = w.WriteString(numbered(9_000_000, `
{"in":#0,"str":{"pre":0,"str":"Nat"}}
{"in":#1,"str":{"pre":#0,"str":"rec"}}
{"in":#2,"str":{"pre":#0,"str":"succ"}}
{"in":#3,"str":{"pre":0,"str":"Eq"}}
{"in":#4,"str":{"pre":#3,"str":"refl"}}
{"in":#5,"str":{"pre":0,"str":"hungry"}}
{"il":#0,"succ":0}
{"ie":#0,"const":{"name":#0,"us":[]}}
{"ie":#1,"bvar":0}
{"ie":#2,"bvar":1}
{"ie":#3,"forallE":{"name":0,"type":#0,"body":#0,"binderInfo":"default"}}
{"ie":#4,"lam":{"name":0,"type":#0,"body":#3,"binderInfo":"default"}}
{"ie":#5,"lam":{"name":0,"type":#0,"body":#1,"binderInfo":"default"}}
{"ie":#6,"const":{"name":#2,"us":[]}}
{"ie":#7,"app":{"fn":#6,"arg":#1}}
{"ie":#8,"app":{"fn":#2,"arg":#7}}
{"ie":#9,"lam":{"name":0,"type":#0,"body":#8,"binderInfo":"default"}}
{"ie":#10,"lam":{"name":0,"type":#3,"body":#9,"binderInfo":"default"}}
{"ie":#11,"lam":{"name":0,"type":#0,"body":#10,"binderInfo":"default"}}
{"ie":#12,"const":{"name":#1,"us":[#0]}}
{"ie":#13,"app":{"fn":#12,"arg":#4}}
{"ie":#14,"app":{"fn":#13,"arg":#5}}
{"ie":#15,"app":{"fn":#14,"arg":#11}}
{"ie":#16,"natVal":"100000000"}
{"ie":#17,"app":{"fn":#15,"arg":#16}}
{"ie":#18,"natVal":"0"}
{"ie":#19,"app":{"fn":#17,"arg":#18}}
{"ie":#20,"natVal":"1"}
{"ie":#21,"const":{"name":#3,"us":[#0]}}
{"ie":#22,"app":{"fn":#21,"arg":#0}}
{"ie":#23,"app":{"fn":#22,"arg":#19}}
{"ie":#24,"app":{"fn":#23,"arg":#20}}
{"ie":#25,"const":{"name":#4,"us":[#0]}}
{"ie":#26,"app":{"fn":#25,"arg":#0}}
{"ie":#27,"app":{"fn":#26,"arg":#20}}
{"thm":{"name":#5,"levelParams":[],"type":#24,"value":#27,"all":[#5]}}
`))
	},
	"deep recursion": func(_ *testing.T, w *bufio.Writer) {
		// f (f (… z)) with 2^26 f, made by doubling, against the same of y.
		const doublings = 26
		_, _ = w.WriteString(`{"meta":{"format":{"version":"3.1.0"}}}` + "\n" + numbered(1, `
{"in":#0,"str":{"pre":0,"str":"T"}}
{"in":#1,"str":{"pre":0,"str":"f"}}
{"in":#2,"str":{"pre":0,"str":"z"}}
{"in":#3,"str":{"pre":0,"str":"y"}}
{"in":#4,"str":{"pre":0,"str":"P"}}
{"in":#5,"str":{"pre":0,"str":"h"}}
{"in":#6,"str":{"pre":0,"str":"deep"}}
{"il":#0,"succ":0}
{"ie":#0,"sort":#0}
{"ie":#1,"const":{"name":#0,"us":[]}}
{"ie":#2,"forallE":{"name":0,"type":#1,"body":#1,"binderInfo":"default"}}
{"ie":#3,"sort":0}
{"ie":#4,"forallE":{"name":0,"type":#1,"body":#3,"binderInfo":"default"}}
{"axiom":{"name":#0,"levelParams":[],"type":#0,"isUnsafe":false}}
{"axiom":{"name":#1,"levelParams":[],"type":#2,"isUnsafe":false}}
{"axiom":{"name":#2,"levelParams":[],"type":#1,"isUnsafe":false}}
{"axiom":{"name":#3,"levelParams":[],"type":#1,"isUnsafe":false}}
{"axiom":{"name":#4,"levelParams":[],"type":#4,"isUnsafe":false}}
{"ie":#5,"bvar":0}
{"ie":#6,"bvar":1}
{"ie":#7,"app":{"fn":#6,"arg":#5}}
{"ie":#8,"app":{"fn":#6,"arg":#7}}
{"ie":#9,"lam":{"name":0,"type":#1,"body":#8,"binderInfo":"default"}}
{"ie":#10,"lam":{"name":0,"type":#2,"body":#9,"binderInfo":"default"}}
{"ie":#11,"const":{"name":#1,"us":[]}}
{"ie":#12,"const":{"name":#2,"us":[]}}
{"ie":#13,"const":{"name":#3,"us":[]}}
{"ie":#14,"const":{"name":#4,"us":[]}}
`))
		twice := 11 + 1 // the index of f
		for i := range doublings {
			_, _ = fmt.Fprintf(w, `{"ie":%d,"app":{"fn":11,"arg":%d}}`+"\n", 100+i, twice)
			twice = 100 + i
		}
		_, _ = fmt.Fprintf(w, `{"ie":200,"app":{"fn":%d,"arg":13}}
{"ie":201,"app":{"fn":%d,"arg":14}}
{"ie":202,"app":{"fn":15,"arg":200}}
{"ie":203,"app":{"fn":15,"arg":201}}
{"axiom":{"name":6,"levelParams":[],"type":202,"isUnsafe":false}}
{"ie":204,"const":{"name":6,"us":[]}}
{"thm":{"name":7,"levelParams":[],"type":203,"value":204,"all":[7]}}
`, twice, twice)
	},
	"a large file": func(_ *testing.T, w *bufio.Writer) {
		_, _ = w.WriteString(`{"meta":{"format":{"version":"3.1.0"}}}` + "\n" + `{"ie":0,"sort":0}` + "\n")
		for i := range 4_000_000 {
			_, _ = fmt.Fprintf(w, `{"ie":%d,"app":{"fn":%d,"arg":%d}}`+"\n", i+1, i, i/2)
		}
	},
}

// numbered replaces #n in lines by base+n.
func numbered(base int, text string) string {
	text = strings.TrimLeft(text, "\n")
	for n := 40; n >= 0; n-- {
		text = strings.ReplaceAll(text, fmt.Sprintf("#%d", n), fmt.Sprint(base+n))
	}
	return text
}

// asMeasured makes this test's binary run a program and write the program's peak of resident memory, in KiB, to the file this variable names.
// The system counts for a process the memory of the one that started it (getrusage(2): it was a copy), which must therefore be small.
const asMeasured = "RUN_MEASURED"

func runMeasured(file string, arguments []string) int {
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	if command.ProcessState == nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.WriteFile(file, fmt.Append(nil, command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss), 0o600); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return command.ProcessState.ExitCode()
}

// measured is a program whose peak of memory peakMiB tells once it has ended.
func measured(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, arguments...)
	command.Env = append(os.Environ(), asMeasured+"="+filepath.Join(t.TempDir(), "peak"))
	return command
}

func peakMiB(t *testing.T, command *exec.Cmd) int64 {
	t.Helper()
	_, file, _ := strings.Cut(command.Env[len(command.Env)-1], "=")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kib, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// The bound is on the memory of the whole process, as the system counts it. A check that needs more ends with a report.
func TestLeanCheckStaysWithinItsMemory(t *testing.T) {
	t.Parallel()
	program := binary.Reckon(t)
	bounds := []int{256, 512, 1024}[:sweep.Size(t, "RECKON_MEMORY_BOUNDS", 1, 3)]
	for name, write := range hungry {
		for _, bound := range bounds {
			if bound > 256 && name == "a large file" {
				continue // fits
			}
			t.Run(fmt.Sprintf("%s in %d MiB", name, bound), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "export.ndjson")
				file, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				w := bufio.NewWriter(file)
				write(t, w)
				if err := errors.Join(w.Flush(), file.Close()); err != nil {
					t.Fatal(err)
				}
				cmd := measured(t, program, "lean", "check", "--all", "--json", "--quiet", "--memory-mib", fmt.Sprint(bound), path)
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				var report check.Report
				if jsonErr := json.Unmarshal(out, &report); jsonErr != nil || cmd.ProcessState.ExitCode() != 2 || report.Verdict != check.Inconclusive || report.Refusal == nil {
					t.Fatalf("%v %v: %.500s", err, jsonErr, out)
				}
				peak := peakMiB(t, cmd)
				t.Logf("%d MiB at most: %s", peak, report.Refusal.Message)
				if peak > int64(bound) {
					t.Errorf("%d MiB were used", peak)
				}
			})
		}
	}
}
