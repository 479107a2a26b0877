package proof

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reckon/domain/lean/check"
	"reckon/runners/jail"
	"reckon/test/need"
)

// TestMain lets the test binary be the child, as the service's binary is.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "child":
		Serve(os.Stdin, os.Stdout)
	case len(os.Args) == 3 && os.Args[1] == "jail":
		os.Exit(jail.Enter(os.Args[2]))
	case len(os.Args) == 2 && os.Args[1] == "sick":
		os.Exit(3)
	case len(os.Args) == 2 && os.Args[1] == "crash":
		fmt.Print(ready)
		os.Exit(3)
	case len(os.Args) == 2 && os.Args[1] == "flood":
		fmt.Print(ready)
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<20)); err != nil {
				os.Exit(1)
			}
		}
	case len(os.Args) == 2 && os.Args[1] == "hang":
		fmt.Print(ready)
		select {}
	}
	os.Exit(m.Run())
}

func judge(t testing.TB, mode string, memoryBytes int64) *Judge {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := NewJudge(JudgeConfig{Command: []string{self, mode}, MemoryBytes: memoryBytes})
	t.Cleanup(j.Close)
	return j
}

func leanExport(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(need.Shared(t, "lean-exports", filepath.FromSlash(name)+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestVerdictsFromAChild(t *testing.T) {
	t.Parallel()
	j := judge(t, "child", 0)
	for _, c := range []struct {
		file, name string
		want       check.Verdict
		inspected  check.Verdict
	}{
		{"judge/addComm", "addComm", check.Verified, check.Verified},
		{"reject/bogus1", "thm", check.Rejected, check.Verified},
		{"judge/usesSorry", "usesSorry", check.Unsupported, check.Unsupported},
	} {
		content := leanExport(t, c.file)
		checked, err := j.Check(t.Context(), content, []string{c.name}, time.Minute)
		if err != nil || checked.Verdict != c.want || len(checked.Declarations) != 1 {
			t.Errorf("%s: %+v %v", c.file, checked, err)
		}
		inspected, err := j.Inspect(t.Context(), content, []string{c.name})
		if err != nil || inspected.Verdict != c.inspected || inspected.Kernel != check.Undecided {
			t.Errorf("%s, inspected: %+v %v", c.file, inspected, err)
		}
	}
}

func TestAChildThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"crash": "ended before it had an answer", "flood": "larger than", "hang": "time budget"} {
		report, err := judge(t, mode, 0).Check(t.Context(), []byte("x"), []string{"a"}, 10*time.Millisecond)
		if err != nil || report.Verdict != check.Inconclusive || report.Kernel != check.Undecided || !strings.Contains(report.Refusal.Message, want) {
			t.Errorf("%s: %+v %v, want %q", mode, report.Refusal, err, want)
		}
	}
}

// TestAChildThatDoesNotBeginSaysNothingAboutAnExport: it is a sick machine, which says so until a child begins.
func TestAChildThatDoesNotBeginSaysNothingAboutAnExport(t *testing.T) {
	t.Parallel()
	for name, j := range map[string]*Judge{
		"ends at once":    judge(t, "sick", 0),
		"another program": NewJudge(JudgeConfig{Command: []string{"/bin/echo", "something else"}}),
		"no program":      NewJudge(JudgeConfig{Command: []string{"/nowhere/reckon"}}),
	} {
		if err := j.Ready(t.Context()); err != nil {
			t.Errorf("%s, before anything was tried: %v", name, err)
		}
		_, err := j.Check(t.Context(), []byte("x"), []string{"a"}, time.Minute)
		if _, is := errors.AsType[*StartError](err); !is {
			t.Errorf("%s: %v", name, err)
		}
		if err := j.Ready(t.Context()); err == nil {
			t.Errorf("%s: it is ready", name)
		}
		j.config.Command = judge(t, "child", 0).config.Command
		if err := j.Ready(t.Context()); err != nil {
			t.Errorf("%s, once children begin: %v", name, err)
		}
		j.Close()
	}
}

func TestOutOfTime(t *testing.T) {
	t.Parallel()
	report, err := judge(t, "child", 0).Check(t.Context(), leanExport(t, "accept/init-prelude"), []string{"Nat"}, time.Millisecond)
	if err != nil || report.Verdict != check.Inconclusive {
		t.Errorf("%+v %v", report, err)
	}
}

// TestOutOfMemory: three hundred names that begin with a component of a megabyte.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	content.WriteString(`{"meta":{"format":{"version":"3.1.0"}}}` + "\n")
	fmt.Fprintf(&content, `{"in":1,"str":{"pre":0,"str":"%s"}}`+"\n"+`{"ie":0,"sort":0}`+"\n", strings.Repeat("x", 1<<20))
	for i := range 300 {
		fmt.Fprintf(&content, `{"in":%d,"str":{"pre":1,"str":"a%d"}}`+"\n"+`{"axiom":{"name":%d,"levelParams":[],"type":0,"isUnsafe":false}}`+"\n", i+2, i, i+2)
	}
	report, err := judge(t, "child", 256<<20).Check(t.Context(), content.Bytes(), []string{"big"}, time.Minute)
	if err != nil || report.Verdict != check.Inconclusive {
		t.Errorf("%s %v", report.Verdict, err)
	}
}

func TestCancelling(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err := judge(t, "hang", 0).Check(ctx, []byte("x"), []string{"a"}, time.Minute); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
}

// TestChildrenWait: one that has answered answers again, one that died meanwhile is replaced.
func TestChildrenWait(t *testing.T) {
	t.Parallel()
	j := judge(t, "child", 0)
	content := leanExport(t, "judge/proofIrrel")
	var last *child
	for i := range 6 {
		if report, err := j.Check(t.Context(), content, []string{"proofIrrel"}, time.Minute); err != nil || report.Verdict != check.Verified {
			t.Fatalf("%+v %v", report, err)
		}
		if len(j.waiting) != 1 || i%3 > 0 && j.waiting[0] != last {
			t.Fatalf("%d wait; another than before: %v", len(j.waiting), j.waiting[0] != last)
		}
		if last = j.waiting[0]; i%3 == 2 {
			last.kill()
			<-last.ended
		}
	}
	if report, err := j.Check(t.Context(), content, []string{"proofIrrel"}, 0); err != nil || report.Verdict == check.Inconclusive && len(j.waiting) > 0 {
		t.Errorf("a child that ran out of time waits: %+v %v", report, err)
	}
}

// TestAChildEndsWithItsParent: nobody is left computing for a server that is gone.
func TestAChildEndsWithItsParent(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "child")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte(" "), 1<<20) // never reaches its end: half of what was announced
	line, err := json.Marshal(request{Bytes: 2 << 20, TimeoutMS: 60_000, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(append(append(line, '\n'), content...)); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Error("half a request was answered")
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"kernel":true,"declarations":["a"],"bytes":3,"timeout_ms":1,"memory_bytes":1}` + "\nabc"))
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"bytes":-1}` + "\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		r, content, err := readRequest(newReader(input))
		if err == nil && int64(len(content)) != r.Bytes {
			t.Fatalf("%d bytes of %d", len(content), r.Bytes)
		}
	})
}

func newReader(input []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(input)) }
