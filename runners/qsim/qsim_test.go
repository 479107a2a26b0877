package qsim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/circuit"
	"reckon/domain/job"
	"reckon/internal/statefiles"
	"reckon/runners"
	"reckon/runners/qsim"
)

func runJob(ctx context.Context, content string, budget time.Duration) (runners.End, error) {
	return qsim.New(nil, nil).Run(ctx, commands.Intent{}, runners.Work{Content: content, Budget: budget})
}

// deep is a circuit that takes longer than any test waits.
func deep() string {
	gates := strings.Repeat(`{"gate":"rx","target":0,"angle":0.1},{"gate":"cx","control":0,"target":23},{"gate":"ry","target":23,"angle":0.3},`, 3000)
	return `{"qubits":24,"shots":10,"gates":[` + strings.TrimSuffix(gates, ",") + `]}`
}

func TestCounts(t *testing.T) {
	t.Parallel()
	const bell = `{"qubits":2,"shots":100,"seed":7,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":1}]}`
	end, err := runJob(t.Context(), bell, time.Minute)
	if err != nil || end.Status != job.Succeeded {
		t.Fatalf("%+v, %v", end, err)
	}
	var result circuit.Result
	if err := json.Unmarshal([]byte(end.Outcome.Result.Inline), &result); err != nil {
		t.Fatal(err)
	}
	if result.Seed != 7 || result.Counts["00"]+result.Counts["11"] != 100 || !strings.HasSuffix(end.Outcome.Output.Inline, "of 100 shots") {
		t.Errorf("%+v, %q", result, end.Outcome.Output.Inline)
	}
	again, err := runJob(t.Context(), bell, time.Minute)
	if err != nil || again.Outcome.Result != end.Outcome.Result {
		t.Errorf("the same seed gives %+v, %v", again, err)
	}
}

func TestRefusedCircuitFails(t *testing.T) {
	t.Parallel()
	end, err := runJob(t.Context(), `{"qubits":2,"gates":[{"gate":"warp","target":0}]}`, time.Minute)
	if err != nil || end.Status != job.Failed || !strings.Contains(end.Outcome.Error, "warp") {
		t.Errorf("%+v, %v", end, err)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	end, err := runJob(t.Context(), deep(), time.Millisecond)
	if err != nil || end.Status != job.TimedOut {
		t.Errorf("%s, %v", end.Status, err)
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	stopped := errors.New("cancelled")
	ctx, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { stop(stopped) })
	if end, err := runJob(ctx, deep(), time.Hour); !errors.Is(err, stopped) {
		t.Errorf("%+v, %v", end, err)
	}
}

// TestReserve: one large circuit at a time, light ones beside it up to their total, and what is given back can be had again.
func TestReserve(t *testing.T) {
	t.Parallel()
	jobs := qsim.New(nil, nil)
	wide := func(qubits int) string {
		return fmt.Sprintf(`{"qubits":%d,"gates":[{"gate":"t","target":0}]}`, qubits)
	}
	release, ok := jobs.Reserve(wide(24))
	if !ok {
		t.Fatal("no room for the first")
	}
	if _, ok := jobs.Reserve(wide(23)); ok {
		t.Error("room for a second large circuit")
	}
	var light []func()
	for {
		give, ok := jobs.Reserve(wide(21))
		if !ok {
			break
		}
		light = append(light, give)
	}
	if len(light) < 3 || len(light) > 8 {
		t.Errorf("room for %d circuits of 32 MiB", len(light))
	}
	light[0]()
	if give, ok := jobs.Reserve(wide(2)); !ok {
		t.Error("a small circuit has no room")
	} else {
		give()
	}
	if _, ok := jobs.Reserve(wide(21)); !ok {
		t.Error("what a light circuit gave back is not there")
	}
	release()
	if _, ok := jobs.Reserve(wide(26)); !ok {
		t.Error("what a large circuit gave back is not there")
	}
	if _, ok := jobs.Reserve("not a circuit"); !ok {
		t.Error("a circuit that cannot be read does not get as far as its refusal")
	}
}

// states is a folder whose files fail in some way.
type states struct {
	folder *statefiles.Folder
	create func(account, job string, bytes int64) (*statefiles.File, error)
}

func (s states) Largest() int64 { return s.folder.Largest() }

func (s states) Create(account, job string, bytes int64) (*statefiles.File, error) {
	return s.create(account, job, bytes)
}

// TestAFileThatCannotBeWrittenCostsOnlyItself: the job succeeds, says that the file is missing, and leaves nothing of it.
func TestAFileThatCannotBeWrittenCostsOnlyItself(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	folder, err := statefiles.Open(root, statefiles.Limits{Age: time.Hour, AccountBytes: 1 << 20, TotalBytes: 1 << 20}, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const account = "0198a1b2-0000-7000-8000-00000000000a"
	for name, fails := range map[string]struct {
		create func(account, job string, bytes int64) (*statefiles.File, error)
		says   string
	}{
		"no room to begin": {func(string, string, int64) (*statefiles.File, error) {
			return nil, &os.PathError{Op: "open", Path: root, Err: syscall.ENOSPC}
		}, "its disk is full"},
		"no room on the way": {func(account, job string, bytes int64) (*statefiles.File, error) {
			return folder.Create(account, job, bytes/2)
		}, "its disk failed"},
		"not durable": {func(account, job string, bytes int64) (*statefiles.File, error) {
			w, err := folder.Create(account, job, bytes)
			if err == nil {
				err = os.RemoveAll(filepath.Join(root, account))
			}
			return w, err
		}, "its disk failed"},
	} {
		t.Run(name, func(t *testing.T) {
			work := runners.Work{Content: `{"qubits":14,"npy":true,"gates":[{"gate":"x","target":0}]}`, Budget: time.Minute}
			work.Account, work.JobID = account, "7c9e6679-7425-50de-944b-000000000001"
			end, err := qsim.New(states{folder, fails.create}, nil).Run(t.Context(), commands.Intent{}, work)
			if err != nil || end.Status != job.Succeeded {
				t.Fatalf("%+v, %v", end, err)
			}
			var result circuit.Result
			if err := json.Unmarshal([]byte(end.Outcome.Result.Inline), &result); err != nil {
				t.Fatal(err)
			}
			if result.NPY != nil || !strings.Contains(result.Omitted["npy"], fails.says) || strings.Contains(result.Omitted["npy"], root) || len(result.Counts) != 1 {
				t.Errorf("%+v", result)
			}
			if left, _ := filepath.Glob(filepath.Join(root, account, "*")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
			if left, _ := filepath.Glob(filepath.Join(root, account, ".incoming-*")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}
