package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/test/wait"
)

// zygotes are the processes of a server that fork the workers of its engines and of its checker.
func zygotes(t *testing.T, server *Server) (pids []int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", server.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		children, _ := os.ReadFile(list) // of a thread that has just ended there are none
		for child := range strings.FieldsSeq(string(children)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if pid, err := strconv.Atoi(child); err == nil && strings.Contains(string(line), "zygote.py") {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// TestTheEndOfAnEnginesProcess: the system kills the processes of the engines under an evaluation and a job. Neither is the expression's
// doing: the evaluation is answered 503 and has no run, the job goes back with its attempt, and an operator sees it.
func TestTheEndOfAnEnginesProcess(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", jobPlans(t, data))
	account := server.NewAccount("unlucky@example.com")
	running := account.submit(t, jobBody{"expression": "Pause[2]; 41+1"})
	account.awaitRunning(t, running.JobID)
	answered := make(chan error, 1)
	go func() {
		answered <- account.JSON("POST", "/api/evaluate", map[string]string{"expression": "Pause[10]; 5", "session_id": "s"}, nil)
	}()
	wait.Until(t, "the evaluation runs", func() bool {
		var list struct {
			Sessions []struct {
				Busy bool `json:"busy"`
			} `json:"sessions"`
		}
		server.must(account.JSON("GET", "/api/sessions", nil, &list))
		return len(list.Sessions) == 1 && list.Sessions[0].Busy
	})
	killed := zygotes(t, server)
	for _, pid := range killed {
		server.must(unix.Kill(pid, unix.SIGKILL))
	}
	var refused *StatusError
	if err := <-answered; !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || refused.Code != "unavailable" ||
		!strings.Contains(refused.Detail, "the engine's process ended") {
		t.Errorf("of %d processes killed: %v", len(killed), err)
	}
	if j := account.awaitJob(t, running.JobID); j.Status != job.Succeeded || j.Output == nil || *j.Output != "42" {
		t.Errorf("%+v", j)
	}
	history, err := connect(t, server).Read(t.Context(), job.Stream(running.JobID))
	server.must(err)
	if s := job.Decider.Fold(history.Domain()); s.Attempt != 2 || len(s.Spent) > 0 {
		t.Errorf("%+v", s)
	}
	var answer struct {
		Verification struct {
			Verdict run.Verdict `json:"verdict"`
		} `json:"verification"`
	}
	if err := account.JSON("POST", "/api/evaluate", map[string]string{"expression": "D[x^2, x]"}, &answer); err != nil || answer.Verification.Verdict != run.VerdictVerified {
		t.Errorf("afterwards: %+v, %v", answer, err)
	}
	if !strings.Contains(server.Output(), "an engine's process ended") {
		t.Error("the log does not say that the processes ended")
	}
	counted := 0
	server.askAdmin(t, "/metrics", func(line string) {
		if strings.HasPrefix(line, "reckon_engine_ended_total{") && strings.HasSuffix(line, " 1") {
			counted++
		}
	})
	if counted == 0 || counted != len(killed) {
		t.Errorf("%d engines are counted of %d killed", counted, len(killed))
	}
	server.mustBeClean()
}
