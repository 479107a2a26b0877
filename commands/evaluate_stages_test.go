package commands_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/session"
)

// TestAnEvaluatorNamesWhatItLacks: one that cannot work is not made.
func TestAnEvaluatorNamesWhatItLacks(t *testing.T) {
	h := newHouse(t, newLog(t))
	for field, change := range map[string]func(*commands.EvaluatorConfig){
		"Store":     func(c *commands.EvaluatorConfig) { c.Store = nil },
		"Runs":      func(c *commands.EvaluatorConfig) { c.Runs = nil },
		"Engine":    func(c *commands.EvaluatorConfig) { c.Engine = nil },
		"Checker":   func(c *commands.EvaluatorConfig) { c.Checker = nil },
		"Blobs":     func(c *commands.EvaluatorConfig) { c.Blobs = nil },
		"Owners":    func(c *commands.EvaluatorConfig) { c.Owners = nil },
		"Clock":     func(c *commands.EvaluatorConfig) { c.Clock = nil },
		"Signer":    func(c *commands.EvaluatorConfig) { c.Signer = nil },
		"Process":   func(c *commands.EvaluatorConfig) { c.Process = "" },
		"QueueWait": func(c *commands.EvaluatorConfig) { c.QueueWait = -time.Second },
	} {
		config := h.config
		change(&config)
		if ev, err := commands.NewEvaluator(config); ev != nil || err == nil || !strings.HasPrefix(err.Error(), "EvaluatorConfig: "+field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
	if _, err := commands.NewEvaluator(commands.EvaluatorConfig{}); err == nil ||
		err.Error() != "EvaluatorConfig: Store, Runs, Engine, Checker, Blobs, Owners, Places, Clock, Signer, Process must be set" {
		t.Errorf("the zero value: %v", err)
	}
}

// TestTheTextIsParsedOnce: what admission parsed is what is checked; a text that only the engine may read has no tree.
func TestTheTextIsParsedOnce(t *testing.T) {
	for code, parsed := range map[string]bool{"1+1": true, "1 +* 2": false} {
		h := newHouse(t, newLog(t))
		requests := &requests{}
		h.with(func(c *commands.EvaluatorConfig) { c.Checker = requests })
		got, err := h.Evaluate(t.Context(), intentOf(anna), evaluate(code))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Verify(t.Context(), intentOf(anna), commands.Verify{RunID: got.RunID}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Verify(t.Context(), intentOf(anna), commands.Verify{Code: code, Result: "2"}); err != nil {
			t.Fatal(err)
		}
		if len(*requests) != 3 {
			t.Fatalf("%d checks", len(*requests))
		}
		for i, r := range *requests {
			if r.Code != code || r.Answer != "2" || (r.Tree != nil) != parsed || parsed && r.Tree.FullForm() != mustParse(t, code).FullForm() {
				t.Errorf("check %d of %q: %+v", i, code, r)
			}
		}
	}
}

// requests is a checker that learns nothing and keeps what it was asked.
type requests []commands.CheckRequest

func (all *requests) Check(_ context.Context, r commands.CheckRequest) (run.Check, error) {
	*all = append(*all, r)
	return inconclusive, nil
}

func mustParse(t *testing.T, code string) *expression.Expr {
	t.Helper()
	tree, err := expression.Parse(code)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestAJobIsAdmittedOnce, when it is submitted: the plan may deny since what it contains.
func TestAJobIsAdmittedOnce(t *testing.T) {
	h := newHouse(t, newLog(t))
	computed, err := h.Compute(t.Context(), intentOf(anna), 77, "job", evaluate(`Run["ls"]`))
	if err != nil {
		t.Fatal(err)
	}
	if answer, cause := computed.Answer(); cause != nil || answer.Result != "2" || answer.RunID != 77 {
		t.Errorf("%+v, %v", answer, cause)
	}
	if h.log.count() != 0 {
		t.Errorf("%d appends before the job's end", h.log.count())
	}
}

// TestASessionsStreamIsReadOnce per evaluation, whatever the session's state; only a conflict makes it be read again.
func TestASessionsStreamIsReadOnce(t *testing.T) {
	notebook := session.Stream(anna, "notebook")
	type setting struct {
		prepare func(t *testing.T, h *house)
		want    error // of the evaluation; nil: an answer
		reads   int
		events  string
	}
	opened := func(t *testing.T, h *house) {
		if _, err := h.Evaluate(t.Context(), intentOf(anna), inSession("notebook", "x = 1")); err != nil {
			t.Fatal(err)
		}
	}
	ownedBy := func(t *testing.T, h *house, owner string) {
		if _, err := commands.OwnSession(t.Context(), h.log, owners{}, intentOf(anna), open(owner)); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range map[string]setting{
		"new":       {func(*testing.T, *house) {}, nil, 1, "session.opened"},
		"live here": {opened, nil, 1, "session.opened"},
		"ended": {func(t *testing.T, h *house) {
			opened(t, h)
			if _, _, _, err := commands.ClearSession(t.Context(), h.log, intentOf(anna), "notebook"); err != nil {
				t.Fatal(err)
			}
		}, nil, 1, "session.opened session.cleared session.opened"},
		"of a dead process": {func(t *testing.T, h *house) { ownedBy(t, h, "dead") }, nil, 1, "session.opened session.expired session.opened"},
		"live elsewhere": {func(t *testing.T, h *house) {
			ownedBy(t, h, "other")
			h.with(func(c *commands.EvaluatorConfig) { c.Owners = owners{"other": true} })
		}, session.ErrOwnedElsewhere, 1, "session.opened"},
		"its worker dies": {func(t *testing.T, h *house) {
			opened(t, h)
			h.answers(commands.EngineOutcome{}, commands.ErrBudgetExhausted)
		}, commands.ErrBudgetExhausted, 1, "session.opened session.expired"},
		"new, and its worker dies": {func(_ *testing.T, h *house) {
			h.answers(commands.EngineOutcome{}, commands.ErrBudgetExhausted)
		}, commands.ErrBudgetExhausted, 1, "session.opened session.expired"},
		"no room on the plan": {func(t *testing.T, h *house) {
			for i := range plan.LiveSessions {
				if _, err := h.Evaluate(t.Context(), intentOf(anna), inSession(fmt.Sprint("other-", i), "1")); err != nil {
					t.Fatal(err)
				}
			}
		}, commands.ErrTooManySessions, 1, ""},
		"another process is faster": {func(t *testing.T, h *house) {
			h.with(func(c *commands.EvaluatorConfig) { c.Owners = owners{"other": true} })
			h.log.before = func(string) error {
				h.log.before = nil
				_, err := commands.OwnSession(t.Context(), h.log.elsewhere(), owners{}, intentOf(anna), open("other"))
				return err
			}
		}, session.ErrOwnedElsewhere, 2, "session.opened"},
		"cleared while it computes": {func(t *testing.T, h *house) {
			h.engine.answer = func(commands.EngineRequest) (commands.EngineOutcome, error) {
				_, _, _, err := commands.ClearSession(t.Context(), h.log.elsewhere(), intentOf(anna), "notebook")
				return commands.EngineOutcome{}, errors.Join(commands.ErrBudgetExhausted, err)
			}
		}, commands.ErrBudgetExhausted, 2, "session.opened session.cleared"},
	} {
		h := newHouse(t, newLog(t))
		s.prepare(t, h)
		var err error
		reads := h.log.readsDuring(notebook, func() {
			_, err = h.Evaluate(t.Context(), intentOf(anna), inSession("notebook", "1+1"))
		})
		if !errors.Is(err, s.want) {
			t.Errorf("%s: %v", name, err)
		}
		if reads != s.reads {
			t.Errorf("%s: the session's stream was read %d times, want %d", name, reads, s.reads)
		}
		if got := h.log.names(notebook); got != s.events {
			t.Errorf("%s: stream %s", name, got)
		}
	}
	h := newHouse(t, newLog(t))
	if reads := h.log.readsDuring(session.Stream(anna, ""), func() {
		if _, err := h.Evaluate(t.Context(), intentOf(anna), evaluate("1+1")); err != nil {
			t.Error(err)
		}
	}); reads != 0 {
		t.Errorf("without a session: %d reads", reads)
	}
}
