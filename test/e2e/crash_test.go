package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"reckon/test/sweep"
	"reckon/test/wait"
)

// TestNothingAcknowledgedIsLost kills the server again and again under sixteen
// evaluating clients. Every run id a client was answered must be in the log with
// its receipt and in history afterwards, and none may be given twice.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	const clients = 16
	kills := sweep.Size(t, "RECKON_CRASH_KILLS", 3, 20)
	data := DataFolder(t)
	config := GenerousPlans(t, data)
	server := Start(t, data, "--config", config)
	account := server.NewAccount("crash@example.com")

	seen := map[int64]string{}
	for round := range kills {
		var mu sync.Mutex
		var group sync.WaitGroup
		enough := make(chan struct{})
		target := len(seen) + clients + rand.IntN(3*clients)
		for client := range clients {
			group.Go(func() {
				mine := &Account{URL: server.URL, Token: account.Token, http: &http.Client{Timeout: wait.Longest}}
				for n := 0; ; n++ {
					code := fmt.Sprintf("%d+%d", round*1000+client, n)
					var e evaluation
					if err := mine.JSON("POST", "/api/evaluate", map[string]string{"expression": code}, &e); err != nil {
						return // killed
					}
					mu.Lock()
					if before, twice := seen[e.RunID]; twice {
						t.Errorf("run id %d was given to %s and to %s", e.RunID, before, code)
					}
					seen[e.RunID] = code
					if len(seen) == target {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		select {
		case <-enough:
		case <-time.After(wait.Longest):
			t.Fatalf("round %d: no progress\n%s", round, server.Output())
		}
		server.Kill()
		group.Wait()
		server = Start(t, data, "--config", config)
		account.URL = server.URL
	}

	t.Logf("%d evaluations acknowledged over %d kills", len(seen), kills)
	inHistory := map[int64]string{}
	for offset := 0; ; offset += 200 {
		var h history
		if err := account.JSON("GET", fmt.Sprintf("/api/history?limit=200&offset=%d", offset), nil, &h); err != nil {
			t.Fatal(err)
		}
		for _, r := range h.Runs {
			if _, twice := inHistory[r.RunID]; twice {
				t.Errorf("run %d stands in history twice", r.RunID)
			}
			inHistory[r.RunID] = r.Expression
		}
		if !h.HasMore {
			break
		}
	}
	for runID, code := range seen {
		if inHistory[runID] != code {
			t.Errorf("run %d (%s) is %q in history", runID, code, inHistory[runID])
		}
		var receipt struct {
			Record struct {
				RunID      int64  `json:"run_id"`
				Expression string `json:"expression"`
			} `json:"record"`
		}
		if err := account.JSON("GET", fmt.Sprintf("/api/receipts/%d", runID), nil, &receipt); err != nil || receipt.Record.RunID != runID || receipt.Record.Expression != code {
			t.Errorf("receipt of run %d (%s): %+v, %v", runID, code, receipt, err)
		}
	}
	server.mustBeClean()
}
