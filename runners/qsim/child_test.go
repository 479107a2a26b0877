package qsim_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/job"
	"reckon/internal/statefiles"
	"reckon/runners"
	"reckon/runners/qsim"
	"reckon/test/wait"
)

// long is a circuit that a process of its own simulates, and that takes a moment.
func long(more string) string {
	return `{"qubits":18,"shots":10,"seed":5,` + more + `"gates":[` + strings.TrimSuffix(strings.Repeat(`{"gate":"h","target":[0]},{"gate":"t","target":17},`, 100), ",") + `]}`
}

func childCommand(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "child"}
}

// TestAChildAnswersAsThisProcess compares results with their files, and a refusal.
func TestAChildAnswersAsThisProcess(t *testing.T) {
	t.Parallel()
	folder, err := statefiles.Open(t.TempDir(), statefiles.Limits{Age: time.Hour, AccountBytes: 1 << 26, TotalBytes: 1 << 26}, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	// The loop is refused when its rounds are used up: the qubit is always 1.
	refused := `{"qubits":20,"shots":1,"seed":1,"gates":[{"gate":"x","target":0},{"gate":"measure","target":0},` +
		`{"while":{"measured":0},"rounds":100,"do":[{"gate":"t","target":1},{"gate":"x","target":0},{"gate":"x","target":0},{"gate":"measure","target":0}]}]}`
	for name, c := range map[string]struct {
		content string
		want    job.Status
		file    bool
	}{
		"counts": {long(""), job.Succeeded, false}, "file": {long(`"npy":true,`), job.Succeeded, true}, "refused": {refused, job.Failed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(number int, child []string) runners.End {
				t.Helper()
				work := runners.Work{Content: c.content, Budget: time.Hour}
				work.Account, work.JobID = "0198a1b2-0000-7000-8000-00000000000a", fmt.Sprintf("7c9e6679-7425-50de-944b-%012d", number)
				end, err := qsim.New(folder, child).Run(t.Context(), commands.Intent{}, work)
				if err != nil {
					t.Fatal(err)
				}
				return end
			}
			here, there := run(1, nil), run(2, childCommand(t))
			if !reflect.DeepEqual(here, there) || here.Status != c.want || strings.Contains(here.Outcome.Result.Inline, `"sha256"`) != c.file {
				t.Errorf("here %+v, in a child %+v", here, there)
			}
		})
	}
}

// TestAChildGivesWay: every thread of it has a lower priority than this process, and it ends with the job.
func TestAChildGivesWay(t *testing.T) {
	t.Parallel()
	stopped := errors.New("cancelled")
	ctx, stop := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := qsim.New(nil, childCommand(t)).Run(ctx, commands.Intent{}, runners.Work{Content: deep(), Budget: time.Hour})
		ended <- err
	}()
	mine := niceness(t, os.Getpid())[0]
	var child int
	wait.Until(t, "a child of lower priority", func() bool {
		for _, pid := range children(t) {
			if all := niceness(t, pid); len(all) > 1 && all[0] == min(mine+10, 19) {
				child = pid
			}
		}
		return child != 0
	})
	for _, nice := range niceness(t, child) {
		if nice != min(mine+10, 19) {
			t.Errorf("a thread has niceness %d; this process has %d", nice, mine)
		}
	}
	stop(stopped)
	if err := <-ended; !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	if err := syscall.Kill(child, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the child is still there: %v", err)
	}
}

// children are the processes that this one has started.
func children(t *testing.T) (pids []int) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		content, _ := os.ReadFile(list) // of a thread that has ended meanwhile
		for _, field := range strings.Fields(string(content)) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// niceness is that of each thread of a process.
func niceness(t *testing.T, pid int) (all []int) {
	t.Helper()
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		content, err := os.ReadFile(stat)
		if err != nil { // it has ended meanwhile
			continue
		}
		_, fields, _ := strings.Cut(string(content), ") ") // the name before may have spaces
		var nice int
		if _, err := fmt.Sscan(strings.Fields(fields)[16], &nice); err != nil {
			t.Fatal(err)
		}
		all = append(all, nice)
	}
	return all
}

// TestAChildThatDoesNotAnswer leaves the job to another attempt, and its budget is the job's.
func TestAChildThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{"ends at once": {"/bin/false"}, "no program": {"/nowhere/reckon"}, "another program": {"/bin/echo", "something else"}} {
		if end, err := qsim.New(nil, command).Run(t.Context(), commands.Intent{}, runners.Work{Content: long(""), Budget: time.Minute}); err == nil {
			t.Errorf("%s: %+v", name, end)
		}
	}
	end, err := qsim.New(nil, childCommand(t)).Run(t.Context(), commands.Intent{}, runners.Work{Content: deep(), Budget: 10 * time.Millisecond})
	if err != nil || end.Status != job.TimedOut {
		t.Errorf("%s, %v", end.Status, err)
	}
}
