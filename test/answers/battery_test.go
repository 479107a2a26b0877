package answers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/engine/giac"
	"reckon/runners/fair"
	"reckon/runners/portfolio"
	"reckon/test/need"
	"reckon/test/sweep"
)

var update = flag.Bool("update", false, "write the tables of docs/bench/answers.md")

// budget is that of the first plan.
const budget = 3 * time.Second

// house is a portfolio as serve has it.
type house struct {
	portfolio.Engine
	first *engine.Engine
}

func open(t testing.TB) house {
	t.Helper()
	first := enginetest.Start(t, engine.Options{})
	checks, err := checker.New(t.Context(), enginetest.Environment(t), checker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Close() })
	second, err := giac.Start(t.Context(), giac.Options{Environment: enginetest.Of(t, giac.Packages)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Close(context.Background()) })
	places := engine.DefaultConcurrency()
	return house{portfolio.Engine{
		First: adapter.Engine{Engine: first}, Others: []portfolio.Other{second}, Places: fair.NewPool(places),
		Checker: adapter.Checker{Engine: first, Checker: checks, Places: fair.NewPool(places)},
	}, first}
}

// became is what became of a question.
type became string

const (
	verified   became = "verified"
	supported  became = "supported"
	unchecked  became = "no verdict"
	refuted    became = "refuted"
	unanswered became = "unanswered"
)

type result struct {
	became
	answer, by, about string
}

// ask evaluates and checks a question as an account's evaluation does.
func (h house) ask(ctx context.Context, code string) (result, error) {
	tree, err := expression.Parse(code)
	if err != nil {
		tree = nil
	}
	r := commands.EngineRequest{Code: code, Tree: tree, Account: "battery", Budget: budget, QueueWait: time.Hour}
	o, err := h.Evaluate(ctx, r)
	if err != nil {
		return result{became: unanswered, about: err.Error()}, ctx.Err()
	}
	found := result{answer: o.InputForm, by: cmp.Or(o.By.Name, "woxi")}
	if o.Unevaluated {
		found.became = unanswered
		for _, a := range o.Asked {
			found.about += a.Name + " " + string(a.Outcome) + " "
		}
		return found, nil
	}
	check := o.Check
	if check == nil {
		made, err := commands.CheckAlongside(ctx, h.Checker, commands.CheckRequest{Account: "battery", Code: code, Tree: tree, Answer: o.InputForm}, budget)
		if err != nil {
			return result{}, err
		}
		check = &made
	}
	found.about = string(check.Reason)
	switch {
	case check.Verdict == run.VerdictVerified:
		found.became = verified
	case check.Verdict == run.VerdictRefuted:
		found.became, found.about = refuted, check.Residual
	case check.Reason == run.ReasonCrossCheckAgrees:
		found.became = supported
	default:
		found.became = unchecked
	}
	return found, nil
}

// askAll asks every question, two at a time, and answers in their order.
func (h house) askAll(t *testing.T, questions []string) []result {
	t.Helper()
	results := make([]result, len(questions))
	var group sync.WaitGroup
	next := make(chan int)
	for range 2 {
		group.Go(func() {
			for i := range next {
				var err error
				if results[i], err = h.ask(t.Context(), questions[i]); err != nil {
					t.Error(questions[i], err)
				}
			}
		})
	}
	for i := range questions {
		next <- i
	}
	close(next)
	group.Wait()
	return results
}

// integral is a line of the shared battery.
type integral struct{ suite, integrand, variable, antiderivative string }

func (i integral) question() string { return "Integrate[" + i.integrand + ", " + i.variable + "]" }

func integrals(t *testing.T) []integral {
	t.Helper()
	content, err := os.ReadFile(need.Shared(t, "integrals", "integrals.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var all []integral
	for line := range strings.Lines(string(content)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(fields) != 4 {
			t.Fatalf("%q", line)
		}
		all = append(all, integral{fields[0], fields[1], fields[2], fields[3]})
	}
	slices.SortFunc(all, func(a, b integral) int { return cmp.Compare(drawn(a.integrand), drawn(b.integrand)) })
	return all
}

// drawn orders lines as if they were drawn: the beginning of them is a sample of all suites.
func drawn(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// TestIntegrals: of the integrals of books and papers so many are answered and verified, and none that is verified is wrong.
func TestIntegrals(t *testing.T) {
	t.Parallel()
	all := integrals(t)
	all = all[:min(len(all), sweep.Size(t, "RECKON_INTEGRALS", 95, 947))]
	h := open(t)
	questions := make([]string, len(all))
	for i, one := range all {
		questions[i] = one.question()
	}
	results := h.askAll(t, questions)
	suites := map[string]map[became]int{}
	total := map[became]int{}
	by := map[string]int{}
	for i, r := range results {
		if suites[all[i].suite] == nil {
			suites[all[i].suite] = map[became]int{}
		}
		suites[all[i].suite][r.became]++
		total[r.became]++
		by[r.by]++
		if r.became != verified {
			t.Logf("%s\t%s\t%s\t%s\t%s\t%s", r.became, r.about, all[i].suite, all[i].question(), r.by, r.answer)
		}
	}
	for _, suite := range slices.Sorted(maps.Keys(suites)) {
		t.Log(suite, suites[suite])
	}
	t.Log(total, by)
}
