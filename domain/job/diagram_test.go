package job_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"reckon/domain/event"
	"reckon/domain/job"
)

// TestDiagram draws every transition that the decider can be brought to make and
// compares the drawing with docs/jobs.md.
func TestDiagram(t *testing.T) {
	page, err := os.ReadFile("../../docs/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := diagram(t); !strings.Contains(string(page), want) {
		t.Errorf("docs/jobs.md should hold\n%s", want)
	}
}

func diagram(t *testing.T) string {
	t.Helper()
	edges := map[string]bool{}
	seen := map[string]bool{}
	var explore func(job.State, int)
	explore = func(s job.State, depth int) {
		key := fmt.Sprintf("%s %d %d %d %t %s", s.Status, s.Attempt, len(s.Spent), s.Untried, s.Tried, s.Queued.SessionID)
		if seen[key] || depth == 0 {
			return
		}
		seen[key] = true
		for _, c := range commandsIn(s) {
			events, err := job.Decider.Decide(c, s)
			if err != nil || len(events) == 0 {
				continue
			}
			after := job.Decider.FoldFrom(s, events)
			edges[fmt.Sprintf("    %s --> %s: %s", node(s), node(after), label(events[0]))] = true
			if after.Terminal() {
				edges[fmt.Sprintf("    %s --> [*]", node(after))] = true
			}
			explore(after, depth-1)
		}
	}
	explore(job.State{}, 10)
	lines := make([]string, 0, len(edges))
	for edge := range edges {
		lines = append(lines, edge)
	}
	slices.Sort(lines)
	return "```mermaid\nstateDiagram-v2\n" + strings.Join(lines, "\n") + "\n```\n"
}

// commandsIn are all commands that could mean anything in a state.
func commandsIn(s job.State) []job.Command {
	inSession := queued()
	inSession.SessionID = "notebook"
	commands := []job.Command{
		job.Queue{Queued: queued()}, job.Queue{Queued: inSession}, job.Claim{Runner: "r", Nonce: fmt.Sprint(s.Attempt + 1), Now: now},
		job.Release{Nonce: s.Nonce}, job.Abandon{Nonce: s.Nonce, Now: now, Spent: true}, job.Abandon{Nonce: s.Nonce, Now: now, Spent: true, Shown: true}, job.Abandon{Nonce: s.Nonce, Now: now}, job.Cancel{Account: "a", Now: now},
		job.Return{Nonce: s.Nonce, Now: at(0)}, job.Return{Nonce: s.Nonce, Now: at(2 * job.GiveUpAfter)}, job.Excuse{Nonce: s.Nonce, Now: now},
	}
	for _, nonce := range s.Spent {
		commands = append(commands, job.Excuse{Nonce: nonce, Now: now})
	}
	for _, status := range []job.Status{job.Succeeded, job.Failed, job.TimedOut} {
		commands = append(commands, job.Finish{Status: status, Outcome: job.Outcome{JobID: "j", Nonce: s.Nonce}})
	}
	return commands
}

func node(s job.State) string {
	if !s.Exists() {
		return "[*]"
	}
	return string(s.Status)
}

func label(e event.Event) string {
	switch e := e.(type) {
	case job.WasReleased:
		return e.EventName() + " (" + string(e.Reason) + ")"
	case job.WasCancelled:
		if e.Early {
			return e.EventName() + " (never tried, slot refunded)"
		}
	case job.WasLost:
		if e.Refunded {
			return e.EventName() + " (" + string(e.Why) + ", slot refunded)"
		}
		return e.EventName() + " (" + string(e.Why) + ")"
	}
	return e.EventName()
}
