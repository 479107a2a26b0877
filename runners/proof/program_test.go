package proof

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain/lean/check"
	"reckon/test/need"
)

// script is a kernel: a shell script that refuses the wrong probe and does what an export's text says.
const script = `#!/bin/sh
grep -q '"type":0,"value":1' "$1" && { echo "wrong: $(wc -l < "$1") lines" >&2; exit 1; }
cmp -s "$1" - || { echo "standard input is not the file" >&2; exit 1; }
case $(head -n 1 "$1") in
*declines*) echo "not that format" >&2; exit 2 ;;
*refuses*) echo "I refuse it"; exit 101 ;;
*hangs*) while :; do :; done ;;
*killed*) sh -c 'kill -9 $$'; exit $? ;;
*prints*) while :; do echo 0123456789012345678901234567890123456789; done ;;
*looks*) cat /etc/passwd "$OUTSIDE" >&2 && exit 1; ls -A /proc/1/root 2>/dev/null; env | grep -q SECRET && exit 1; touch "$HOME/own" || exit 1; touch /tmp/foreign && exit 1 ;;
esac
exit 0
`

func programOf(t *testing.T, name, text string) (*Program, error) {
	t.Helper()
	if runtime.GOOS != "linux" {
		need.Skip(t, "Linux, for the walls of foreign programs", "make test, on Linux")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return NewProgram(t.Context(), ProgramConfig{Path: path, Jail: []string{self, "jail"}})
}

func TestAProgramAnswersByItsExitStatus(t *testing.T) {
	t.Setenv("SECRET", "x")
	p, err := programOf(t, "kernel", script)
	if err != nil {
		t.Fatal(err)
	}
	for first, c := range map[string]struct {
		answer check.Kernel
		reason string
	}{
		"accepts": {check.Accepted, ""}, "refuses": {check.Refused, "exit status 101 I refuse it"}, "declines": {check.Undecided, "it declines (exit status 2) not that format"},
		"killed": {check.Undecided, "exit status 137"}, "prints": {check.Undecided, "printed more than 1 MiB"}, "looks": {check.Accepted, ""},
	} {
		answer, reason, err := p.Ask(t.Context(), strings.NewReader(first+"\n"), time.Minute)
		if err != nil || answer != c.answer || !strings.HasPrefix(strings.TrimPrefix(reason, "it "), strings.TrimPrefix(c.reason, "it ")) {
			t.Errorf("%s: %s %q %v; want %s %q", first, answer, reason, err, c.answer, c.reason)
		}
	}
	if answer, reason, err := p.Ask(t.Context(), strings.NewReader("hangs\n"), time.Second); err != nil || answer != check.Undecided || reason != "it ran past its time of 1s and was stopped" {
		t.Errorf("hangs: %s %q %v", answer, reason, err)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, _, err := p.Ask(ctx, strings.NewReader("accepts\n"), time.Minute); !errors.Is(err, stopped) {
		t.Errorf("cancelled: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "reckon-kernel-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// A program that does not tell a right export from a wrong one is no kernel, and one that does not run is none.
func TestAProgramMustBeAKernel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"accepts everything": {"#!/bin/sh\nexit 0\n", "asked about a wrong one"},
		"refuses everything": {"#!/bin/sh\nexit 1\n", "asked about a right one"},
		"declines":           {"#!/bin/sh\nexit 2\n", "the answer is undecided"},
		"no program":         {"nothing", "the walls do not stand"},
	} {
		if _, err := programOf(t, "kernel", c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewProgram(t.Context(), ProgramConfig{Path: "/nowhere/kernel"}); err == nil || !strings.Contains(err.Error(), "--second-kernel") {
		t.Errorf("no file: %v", err)
	}
}

// nanoda is given its configuration, and the export on standard input.
func TestNanodaIsGivenItsConfiguration(t *testing.T) {
	t.Parallel()
	p, err := programOf(t, "nanoda_bin", "#!/bin/sh\ngrep -q '\"use_stdin\":true' \"$1\" || exit 0\nexport=$(cat)\ncase $export in *cannot*) echo no field >&2; exit 1 ;; *'\"type\":0,\"value\":1'*) exit 101 ;; esac\nexit 0\n")
	if err != nil {
		t.Fatal(err)
	}
	if answer, reason, err := p.Ask(t.Context(), strings.NewReader("cannot\n"), time.Minute); err != nil || answer != check.Undecided || reason != "it cannot read the export: no field" {
		t.Errorf("%s %q %v", answer, reason, err)
	}
}

// What the program refuses is not verified, what it has no opinion on is, and it is asked about nothing else.
func TestTheProgramsAnswerIsInTheReport(t *testing.T) {
	t.Parallel()
	p, err := programOf(t, "kernel", script)
	if err != nil {
		t.Fatal(err)
	}
	for first, c := range map[string]struct {
		before, after check.Verdict
		answers       []check.Kernel
	}{
		"accepts":  {check.Verified, check.Verified, []check.Kernel{check.Accepted, check.Accepted}},
		"declines": {check.Verified, check.Verified, []check.Kernel{check.Accepted, check.Undecided}},
		"refuses":  {check.Verified, check.Inconclusive, []check.Kernel{check.Accepted, check.Refused}},
		"rejected": {check.Rejected, check.Rejected, []check.Kernel{check.Accepted}},
	} {
		report := &check.Report{Verdict: c.before}
		report.Answered("reckon", check.Accepted, "")
		if err := p.AddAnswer(t.Context(), report, strings.NewReader(first+"\n"), "f", time.Minute); err != nil {
			t.Fatal(err)
		}
		var answers []check.Kernel
		for _, k := range report.Kernels {
			answers = append(answers, k.Answer)
		}
		if report.Verdict != c.after || !slices.Equal(answers, c.answers) {
			t.Errorf("%s: %s %v", first, report.Verdict, answers)
		}
		if c.after == check.Inconclusive && (report.Refusal == nil || report.Refusal.Class != check.KernelsDisagree || !strings.Contains(report.Refusal.Message, "the kernel program kernel refuses")) {
			t.Errorf("%s: %+v", first, report.Refusal)
		}
	}
}
