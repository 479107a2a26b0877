package writeapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/domain/expression"
	"reckon/test/apitest"
)

// anonymous asks for an evaluation without any credential.
func anonymous(t *testing.T, s *apitest.Server, text string) apitest.Answer {
	t.Helper()
	return s.Do(t, http.MethodPost, "/api/public/evaluate", fmt.Sprintf(`{"expression":%q}`, text))
}

func TestAnonymousEvaluation(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{AnonymousPerHour: 5})
	answer := anonymous(t, s, "1+1").OK(t)
	if answer.JSON["result"] != "2" || answer.JSON["stdout"] != nil || answer.JSON["warnings"] == nil || answer.JSON["elapsed_ms"] == nil {
		t.Errorf("%s", answer.Body)
	}
	// The checker of apitest refutes the text that the engine is given, "1 + 1".
	if check, _ := answer.JSON["verification"].(map[string]any); check["verdict"] != "refuted" || check["automatic"] != true {
		t.Errorf("%s", answer.Body)
	}
	if answer.JSON["run_id"] != nil || answer.Header.Get("Consistency-Token") != "" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v", answer.Body, answer.Header)
	}
	if h := answer.Header; h.Get("X-RateLimit-Limit") != "5" || h.Get("X-RateLimit-Remaining") != "4" {
		t.Errorf("%v", h)
	}
	head, err := s.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, code string
		status     int
		counts     bool // against the allowance
	}{
		{"Run[1]", "not_mathematics", 403, false},
		{`ToExpression["1"]`, "not_mathematics", 403, false},
		{"Sin[", "syntax_error", 422, false},
		{" ", "expression_required", 400, false},
		{strings.Repeat("1", 401), "expression_too_long", 413, false},
		{strings.Repeat("α", 201), "expression_too_long", 413, false},
		{"saturate", "saturated", 503, false},
		{"endless", "budget_exhausted", 408, true},
		{"sin(x)", "", 200, true},
	} {
		before := s.Evaluated.Load()
		left := answer.Header.Get("X-RateLimit-Remaining")
		answer = anonymous(t, s, c.text)
		code, _ := answer.JSON["code"].(string)
		if answer.Status != c.status || code != c.code {
			t.Errorf("%q: %d %s", c.text, answer.Status, answer.Body)
		}
		if counted := answer.Header.Get("X-RateLimit-Remaining") != left; counted != c.counts {
			t.Errorf("%q: %s left of %s", c.text, answer.Header.Get("X-RateLimit-Remaining"), left)
		}
		if asked := s.Evaluated.Load() > before; asked != (c.counts || c.status == 503) {
			t.Errorf("%q: the engine was asked: %v", c.text, asked)
		}
	}
	if suggestions, _ := answer.JSON["suggestions"].([]any); len(suggestions) != 1 {
		t.Errorf("%s", answer.Body)
	}
	if refused := anonymous(t, s, "2x+3=7"); refused.Status != 403 || refused.JSON["suggestions"] == nil {
		t.Errorf("%s", refused.Body)
	}
	if after, err := s.Store.Head(t.Context()); err != nil || after != head {
		t.Errorf("something was appended: %v, %v", after, err)
	}
}

func TestAnonymousRefusalNamesHeadAndAllowlist(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	refused := anonymous(t, s, "Sin[1] + Import[x]")
	var listed []string
	for _, name := range refused.JSON["allowlist"].([]any) {
		listed = append(listed, name.(string))
	}
	if refused.Status != 403 || refused.JSON["head"] != "Import" || !slices.Equal(listed, expression.Mathematics()) {
		t.Errorf("%d %.200s", refused.Status, refused.Body)
	}
}

// A flood over the limit is answered before anything is evaluated, for one address and until the clock's hour has ended.
func TestAnonymousAllowance(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{AnonymousPerHour: 3})
	s.Clock.Pass(s.Clock.Now().Truncate(time.Hour).Add(90 * time.Minute).Sub(s.Clock.Now())) // half past
	ends := strconv.FormatInt(s.Clock.Now().Add(30*time.Minute).Unix(), 10)
	for range 3 {
		if a := anonymous(t, s, "1+1").OK(t); a.Header.Get("X-RateLimit-Reset") != ends {
			t.Errorf("%v, want %s", a.Header, ends)
		}
		s.Clock.Pass(time.Minute)
	}
	if a := anonymous(t, s, "Run[1]"); a.Header.Get("X-RateLimit-Reset") != ends {
		t.Errorf("%v, want %s", a.Header, ends)
	}
	asked := s.Evaluated.Load()
	for range 20 {
		refused := anonymous(t, s, "1+1")
		if refused.Status != 429 || refused.JSON["code"] != "rate_limited" || refused.Header.Get("Retry-After") != "1620" || refused.Header.Get("X-RateLimit-Remaining") != "0" {
			t.Fatalf("%d %s %v", refused.Status, refused.Body, refused.Header)
		}
	}
	if s.Evaluated.Load() != asked {
		t.Error("the engine was asked")
	}
	s.Clock.Pass(27 * time.Minute)
	anonymous(t, s, "1+1").OK(t)
}

// A flood of requests at once, over the limit and too long, asks the engine as often as the limit allows, and never for what is too long.
func TestAnonymousFlood(t *testing.T) {
	t.Parallel()
	const allowed, requests = 3, 100
	s := apitest.Start(t, apitest.Options{AnonymousPerHour: allowed})
	answers := make(chan apitest.Answer, 2*requests)
	for range requests {
		go func() { answers <- anonymous(t, s, "1+1") }()
		go func() { answers <- anonymous(t, s, strings.Repeat("1", 401)) }()
	}
	statuses := map[int]int{}
	for range 2 * requests {
		answer := <-answers
		statuses[answer.Status]++
	}
	if want := (map[int]int{200: allowed, 429: requests - allowed, 413: requests}); !maps.Equal(statuses, want) {
		t.Errorf("%v, want %v", statuses, want)
	}
	if asked := s.Evaluated.Load(); asked != allowed {
		t.Errorf("the engine was asked %d times", asked)
	}
}

func TestAnonymousBudgetIsShorterThanTheFreePlans(t *testing.T) {
	t.Parallel()
	for free, want := range map[int64]string{3000: "1000", 600: "300"} {
		plans := account.DefaultPlans()
		plans[0].EvaluationBudgetMS = free
		s := apitest.Start(t, apitest.Options{Plans: plans})
		if answer := anonymous(t, s, "budget").OK(t); answer.JSON["result"] != want {
			t.Errorf("%d: %s", free, answer.Body)
		}
	}
}

func TestAnonymousEvaluationSwitchedOff(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{AnonymousPerHour: -1})
	if off := anonymous(t, s, "1+1"); off.Status != 404 || off.JSON["code"] != "anonymous_off" || s.Evaluated.Load() != 0 {
		t.Errorf("%d %s", off.Status, off.Body)
	}
}

// A credential makes no difference, valid or not.
func TestAnonymousEvaluationTakesNoCredential(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	for _, header := range []string{"Bearer " + user.Token, "Bearer nonsense"} {
		s.Do(t, http.MethodPost, "/api/public/evaluate", `{"expression":"1+1"}`, "Authorization", header).OK(t)
	}
	if runs := user.Do(t, http.MethodGet, "/api/history", "").OK(t); strings.Contains(string(runs.Body), `"run_id"`) {
		t.Errorf("%s", runs.Body)
	}
}
