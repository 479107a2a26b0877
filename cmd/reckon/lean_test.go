package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const leanExport = `{"meta":{"format":{"version":"3.1.0"}}}
{"in":1,"str":{"pre":0,"str":"p"}}
{"ie":0,"sort":0}
{"ie":1,"bvar":0}
{"ie":2,"forallE":{"name":1,"type":1,"body":0,"binderInfo":"default"}}
{"ie":3,"bvar":1}
{"ie":4,"forallE":{"name":1,"type":1,"body":3,"binderInfo":"default"}}
{"ie":5,"forallE":{"name":1,"type":0,"body":4,"binderInfo":"default"}}
{"ie":6,"lam":{"name":1,"type":1,"body":1,"binderInfo":"default"}}
{"ie":7,"lam":{"name":1,"type":0,"body":6,"binderInfo":"default"}}
{"thm":{"name":1,"levelParams":[],"type":5,"value":7,"all":[1]}}
`

func TestLeanCheckExitStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		ask  []string
		want error
	}{
		"verified":    {leanExport, []string{"p"}, nil},
		"rejected":    {strings.Replace(leanExport, `"value":7`, `"value":6`, 1), []string{"p"}, exitStatus(1)},
		"unsupported": {leanExport, []string{"q"}, exitStatus(1)},
		"unreadable":  {leanExport + "{", []string{"p"}, exitStatus(2)},
	} {
		path := filepath.Join(t.TempDir(), "export.ndjson")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := leanCheckCmd{File: path, Declarations: c.ask, Timeout: time.Minute, MemoryMiB: 1024, MaxBytes: 1 << 20, Quiet: true}
		report, err := cmd.check(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got := exitStatusOf(report); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v (%+v)", name, got, c.want, report.Refusal)
		}
		var printed strings.Builder
		if err := printLeanReport(&printed, report, false); err != nil || strings.Contains(printed.String(), "kernel reckon:") != (name != "unreadable") {
			t.Errorf("%s: %v\n%s", name, err, &printed)
		}
	}
}

func TestLeanDeclarationsFileHasANameALine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(path, []byte("A.b\n\n  «c d».e \r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := (&leanCheckCmd{DeclarationsFile: path}).declarationNames()
	if err != nil || !slices.Equal(names, []string{"A.b", "«c d».e"}) {
		t.Errorf("%v %q", err, names)
	}
}

// TestNamesAreSeparatedOutsideOfQuotes: a comma within «» is a part of a name.
func TestNamesAreSeparatedOutsideOfQuotes(t *testing.T) {
	t.Parallel()
	got := slices.Collect(separated([]string{"Nat.add, «a,b».c,thm", "«,»", ""}))
	if want := []string{"Nat.add", "«a,b».c", "thm", "«,»"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
