package writeapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/job"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/ratelimit"
	"reckon/projections"
	"reckon/test/apitest"
	"reckon/test/wait"
)

// biggerExport is an export of another size than trueExport.
const biggerExport = trueExport + `{"in":3,"str":{"pre":0,"str":"and one more name"}}` + "\n"

// distinct are plans of which no two limits are the same number, where that is possible.
func distinct() account.Plans {
	return account.Plans{
		{
			Name: "small", EvaluationBudgetMS: 1100, PerMinute: 6, ConcurrentEvaluations: 1, JobsPerDay: 4, JobBudgetMS: 5000, ConcurrentJobs: 2,
			Qubits: 3, Proofs: true, ProofExportBytes: int64(len(trueExport)), LiveSessions: 5, DeniedHeads: []string{"Run"},
		},
		{
			Name: "large", EvaluationBudgetMS: 2200, PerMinute: 11, ConcurrentEvaluations: 4, JobsPerDay: 7, JobBudgetMS: 9000, ConcurrentJobs: 3,
			Qubits: 5, Proofs: true, ProofExportBytes: int64(len(biggerExport)), LiveSessions: 8, DeniedHeads: []string{"Run", "Import"},
			Prices: []account.Price{{Period: account.Monthly, AmountMinor: 1300, Currency: "USD"}, {Period: account.Yearly, AmountMinor: 13100, Currency: "EUR"}},
		},
		{
			Name: "without proofs", EvaluationBudgetMS: 3300, PerMinute: 9, ConcurrentEvaluations: 2, JobsPerDay: 5, JobBudgetMS: 7000, ConcurrentJobs: 1,
			Qubits: 1, Proofs: false, ProofExportBytes: 1 << 20, LiveSessions: 3, DeniedHeads: []string{},
		},
	}
}

var catalogueRules = identity.Rules{
	Registrations: ratelimit.Rule{Requests: 3, Window: time.Hour},
	SignIns:       ratelimit.Rule{Requests: 4, Window: time.Minute},
}

// customer is an account on one of the plans.
type customer struct {
	*testing.T
	server *apitest.Server
	user   *apitest.User
	plan   map[string]any // as the catalogue serves it
}

// number is a served limit.
func (c customer) number(key string) int { return int(c.plan[key].(float64)) }

// exactly wants that many requests to be answered, and one more to be refused.
func (c customer) exactly(n int, refused httpkit.Kind, ask func(i int) apitest.Answer) {
	c.Helper()
	for i := range n {
		if a := ask(i); a.Status != http.StatusOK {
			c.Fatalf("request %d of %d: %d %s", i+1, n, a.Status, a.Body)
		}
	}
	ask(n).Want(c, refused)
}

func (c customer) submit(body string) apitest.Answer {
	c.Helper()
	return c.user.Do(c, http.MethodPost, "/api/jobs", body)
}

// enforced says, for each field of a plan, how it is enforced. A field without an entry fails the test.
var enforced = map[string]func(customer){
	"plan": func(c customer) { // it is what a subscription and an operator name
		in := commands.Intent{ID: uuid.New(), At: c.server.Clock.Now(), Account: c.user.ID}
		if _, err := commands.ChangePlan(c.Context(), c.server.Store, distinct(), in, c.plan["plan"].(string)); err != nil {
			c.Error(err)
		}
	},
	"prices": func(c customer) {
		for _, served := range c.plan["prices"].([]any) {
			price := served.(map[string]any)
			buyer := c.server.NewUser(c)
			in := commands.Intent{ID: uuid.New(), At: c.server.Clock.Now(), Account: buyer.ID}
			state, _, err := commands.Subscribe(c.Context(), c.server.Store, distinct(), in, commands.SubscribeTo{Plan: c.plan["plan"].(string), Period: account.Period(price["period"].(string))})
			if err != nil {
				c.Fatal(err)
			}
			if asked := state.Invoices()[0]; float64(asked.AmountMinor) != price["amount_minor"] || asked.Currency != price["currency"] {
				c.Errorf("asked for %d %s, the price is %v", asked.AmountMinor, asked.Currency, price)
			}
		}
		if len(c.plan["prices"].([]any)) == 0 {
			in := commands.Intent{ID: uuid.New(), At: c.server.Clock.Now(), Account: c.user.ID}
			if _, _, err := commands.Subscribe(c.Context(), c.server.Store, distinct(), in, commands.SubscribeTo{Plan: c.plan["plan"].(string), Period: account.Monthly}); err == nil {
				c.Error("what is not for sale is sold")
			}
		}
	},
	"evaluation_budget_ms": func(c customer) {
		if a := c.user.Evaluate(c, "budget").OK(c); a.JSON["result"] != fmt.Sprint(c.number("evaluation_budget_ms")) {
			c.Errorf("the engine is given %v ms", a.JSON["result"])
		}
	},
	"per_minute": func(c customer) {
		c.exactly(c.number("per_minute"), httpkit.RateLimited, func(int) apitest.Answer { return c.user.Evaluate(c, "1+1") })
	},
	"concurrent_evaluations": func(c customer) {
		for i := range c.number("concurrent_evaluations") {
			defer startAndLeave(c.T, c.server, c.user, `{"expression":"wait"}`)()
			wait.Until(c, "the evaluation runs", func() bool { return c.server.Running.Running(c.user.ID) == i+1 })
		}
		c.user.Evaluate(c, "1+1").Want(c, httpkit.TooMany)
	},
	"jobs_per_day": func(c customer) {
		c.exactly(c.number("jobs_per_day"), httpkit.AllowanceSpent, func(int) apitest.Answer { return c.submit(`{"expression":"1+1"}`) })
	},
	"job_budget_ms": func(c customer) {
		most := c.number("job_budget_ms")
		c.submit(fmt.Sprintf(`{"expression":"1+1","timeout_ms":%d}`, most+1)).Want(c, httpkit.TimeoutOverPlan)
		c.submit(fmt.Sprintf(`{"expression":"1+1","timeout_ms":%d}`, most)).OK(c)
		if a := c.submit(`{"expression":"1+1"}`).OK(c); a.JSON["timeout_ms"] != float64(most) {
			c.Errorf("a job that asks for nothing has %v ms", a.JSON["timeout_ms"])
		}
	},
	"concurrent_jobs": func(c customer) {
		most, last := c.number("concurrent_jobs"), ""
		for range most + 1 {
			last = jobOf(c.T, c.submit(`{"expression":"1+1"}`))
		}
		wait.Until(c, "the read model has the last job", func() bool {
			_, known, err := c.server.Models.Queue.Place(c.Context(), last)
			if err != nil {
				c.Fatal(err)
			}
			return known
		})
		proposed, _, err := c.server.Models.Queue.ProposeJobs(c.Context(), projections.Claimant{Runner: "r", Kinds: []job.Kind{"evaluate"}}, most+1)
		if err != nil || len(proposed) != most {
			c.Errorf("%d jobs may run at once: %v", len(proposed), err)
		}
	},
	"qubits": func(c customer) {
		wide := func(qubits int) apitest.Answer {
			return c.submit(fmt.Sprintf(`{"kind":"qsim","circuit":{"qubits":%d,"gates":[{"gate":"t","target":0}]}}`, qubits))
		}
		wide(c.number("qubits")).OK(c)
		if a := wide(c.number("qubits") + 1); a.Status != http.StatusBadRequest || a.Code() != "malformed_circuit" {
			c.Errorf("%d %s", a.Status, a.Body)
		}
	},
	"proofs": func(c customer) {
		if a := c.upload(trueExport); c.plan["proofs"] == true {
			a.OK(c)
		} else {
			a.Want(c, httpkit.ProofsNotOnPlan)
		}
	},
	"proof_export_bytes": func(c customer) {
		fits := ""
		for _, export := range []string{trueExport, biggerExport} {
			if len(export) == c.number("proof_export_bytes") {
				fits = export
			}
		}
		if c.plan["proofs"] == false {
			return // nothing is uploaded whatever its size: proofs
		}
		c.upload(fits).OK(c)
		c.upload(fits+`{"in":9,"str":{"pre":0,"str":"x"}}`+"\n").Want(c, httpkit.ExportOverBudget)
	},
	"live_sessions": func(c customer) {
		c.exactly(c.number("live_sessions"), httpkit.TooManySessions, func(i int) apitest.Answer {
			return c.user.Do(c, http.MethodPost, "/api/evaluate", fmt.Sprintf(`{"expression":"1+1","session_id":"s%d"}`, i))
		})
	},
	"denied_heads": func(c customer) {
		denied := c.plan["denied_heads"].([]any)
		for _, head := range []string{"Run", "Import", "Sin"} {
			a := c.user.Evaluate(c, head+"[1]")
			if slices.Contains(denied, any(head)) {
				a.Want(c, httpkit.ExpressionDenied)
			} else {
				a.OK(c)
			}
		}
	},
}

func (c customer) upload(export string) apitest.Answer {
	c.Helper()
	return c.user.Do(c, http.MethodPost, "/api/proofs", export, "Content-Type", "application/x-ndjson")
}

// TestWhatTheCatalogueServesIsEnforced walks the answer of GET /billing/plans: each field of each plan, and the limits of registering and
// signing in, and tries each at its limit and beyond it. A new field of a plan fails here until somebody says how it is enforced.
func TestWhatTheCatalogueServesIsEnforced(t *testing.T) {
	t.Parallel()
	served := apitest.Start(t, apitest.Options{Plans: distinct(), Rules: catalogueRules}).Do(t, http.MethodGet, "/billing/plans", "").OK(t)
	var catalogue map[string]json.RawMessage
	var plans []map[string]any
	if err := json.Unmarshal(served.Body, &catalogue); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(catalogue["plans"], &plans); err != nil {
		t.Fatal(err)
	}
	if keys := slices.Sorted(maps.Keys(catalogue)); !slices.Equal(keys, []string{"plans", "registration", "sign_in"}) || len(plans) != len(distinct()) {
		t.Fatalf("the catalogue has %v and %d plans: say how the new ones are enforced", keys, len(plans))
	}
	for _, plan := range plans {
		for field := range plan {
			t.Run(strings.ReplaceAll(fmt.Sprint(plan["plan"], " ", field), " ", "_"), func(t *testing.T) {
				probe := enforced[field]
				if probe == nil {
					t.Fatalf("nothing shows how %s is enforced", field)
				}
				s := apitest.Start(t, apitest.Options{Plans: distinct()})
				c := customer{t, s, s.NewUser(t), plan}
				in := commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: c.user.ID}
				if _, err := commands.ChangePlan(t.Context(), s.Store, distinct(), in, plan["plan"].(string)); err != nil {
					t.Fatal(err)
				}
				probe(c)
			})
		}
		for field := range enforced {
			if _, is := plan[field]; !is {
				t.Errorf("%s is enforced and not served", field)
			}
		}
	}
	windows := map[string]func(*apitest.Server, int) apitest.Answer{
		"registration": func(s *apitest.Server, i int) apitest.Answer {
			return s.Do(t, http.MethodPost, "/auth/register", fmt.Sprintf(`{"email":"a%d@example.com","password":"correct horse"}`, i))
		},
		"sign_in": func(s *apitest.Server, _ int) apitest.Answer {
			return s.Do(t, http.MethodPost, "/auth/login", `{"email":"a0@example.com","password":"correct horse"}`)
		},
	}
	for name, attempt := range windows {
		t.Run(name, func(t *testing.T) {
			var rule struct {
				Requests      int
				WindowSeconds int `json:"window_seconds"`
			}
			if err := json.Unmarshal(catalogue[name], &rule); err != nil {
				t.Fatal(err)
			}
			s := apitest.Start(t, apitest.Options{Plans: distinct(), Rules: catalogueRules})
			windows["registration"](s, 0).OK(t)
			s.Clock.Pass(2 * time.Hour)
			c := customer{T: t}
			c.exactly(rule.Requests, httpkit.RateLimited, func(i int) apitest.Answer { return attempt(s, 1+i) })
			s.Clock.Pass(time.Duration(rule.WindowSeconds) * time.Second)
			attempt(s, 100).OK(t)
		})
	}
}
