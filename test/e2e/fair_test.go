package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain/job"
	"reckon/test/wait"
)

// start begins an evaluation in a session and returns what closes its connection, and what tells whether it was answered meanwhile.
func (a *Account) start(t *testing.T, code, session string) (leave func() (answered bool)) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"expression": code, "session_id": session})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL+"/api/evaluate", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+a.Token)
	answered := make(chan bool, 1)
	go func() {
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		answered <- err == nil
	}()
	return func() bool {
		cancel()
		return <-answered
	}
}

// TestOneAccountStarvesNobody: one account asks for more than there is, in sessions and without, for as long as the test
// runs. Another account's evaluations and checks are all answered, although nobody may wait for a worker at all.
func TestOneAccountStarvesNobody(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--workers", "2", "--queue-wait", "1ms", "--config", GenerousPlans(t, data))
	flood, small := server.NewAccount("flood@example.com"), server.NewAccount("small@example.com")
	small.evaluate(t, "1+1", "")
	ctx, stop := context.WithCancel(t.Context())
	var flooding sync.WaitGroup
	refused := make(chan struct{}, 1)
	for i := range 6 {
		flooding.Go(func() {
			for ctx.Err() == nil {
				body := map[string]string{"expression": "Pause[20]"}
				if i%3 == 0 {
					body["session_id"] = "s"
				}
				var status *StatusError
				if err := flood.JSON("POST", "/api/evaluate", body, nil); !errors.As(err, &status) {
					t.Errorf("Pause[20]: %v", err)
					return
				}
				if status.Code == "saturated" {
					select {
					case refused <- struct{}{}:
					default:
					}
					wait.Pace(5 * time.Millisecond) // the flood need not take all processor time
				}
			}
		})
	}
	<-refused // the flood has all that it may have
	for i := range 40 {
		session := ""
		if i%2 == 0 {
			session = "mine"
		}
		if e := small.evaluate(t, "1+1", session); e.Result != "2" {
			t.Errorf("%+v", e)
		}
		if err := small.JSON("POST", "/api/verify", map[string]string{"code": "Integrate[x, x]", "result": "x^2/2"}, nil); err != nil {
			t.Error(err)
		}
	}
	stop()
	flooding.Wait()
}

// TestAClientWhoGoesAwayFreesItsWorker: the only worker serves the next client long before the budget of the first is over,
// and what became of it is in its history; its session's next evaluation is warned.
func TestAClientWhoGoesAwayFreesItsWorker(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--workers", "1", "--queue-wait", "1m")
	account, other := server.NewAccount("leaves@example.com"), server.NewAccount("next@example.com")
	server.Command("", "account", "plan", account.Email, "team") // a budget of a minute
	account.evaluate(t, "x=5", "s")
	leave := account.start(t, "While[True]", "s")
	busy := func() bool {
		var list struct {
			Sessions []struct {
				Busy bool `json:"busy"`
			} `json:"sessions"`
		}
		if err := account.JSON("GET", "/api/sessions", nil, &list); err != nil {
			t.Fatal(err)
		}
		return len(list.Sessions) == 1 && list.Sessions[0].Busy
	}
	wait.Until(t, "the session is busy", busy)
	if leave() {
		t.Fatal("While[True] was answered")
	}
	other.evaluate(t, "1+1", "")
	var runs history
	for len(runs.Runs) == 0 {
		if err := account.JSON("GET", "/api/history?status=error", nil, &runs); err != nil {
			t.Fatal(err)
		}
	}
	if runs.Runs[0].Expression != "While[True]" {
		t.Errorf("%+v", runs)
	}
	if e := account.evaluate(t, "x", "s"); e.Result != "x" || len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0], "Session s was lost, because its worker ended") {
		t.Errorf("%+v", e)
	}
}

// TestLongJobsLeaveASlot: two accounts have more endless jobs of a quarter of an hour than there are slots. A third account's job is done meanwhile.
func TestLongJobsLeaveASlot(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", jobPlans(t, data), "--job-slots", "2")
	var long []string
	first := server.NewAccount("long-0@example.com")
	for i := range 2 {
		account := first
		if i > 0 {
			account = server.NewAccount("long-1@example.com")
		}
		server.Command("", "account", "plan", account.Email, "pro")
		for range 3 {
			long = append(long, account.submit(t, jobBody{"expression": forever}).JobID)
		}
	}
	first.awaitRunning(t, long[0])
	small := server.NewAccount("small@example.com")
	for range 3 {
		if j := small.awaitJob(t, small.submit(t, jobBody{"expression": "1+1"}).JobID); j.Status != job.Succeeded {
			t.Errorf("%+v", j)
		}
	}
	first.awaitRunning(t, long[0])
}
