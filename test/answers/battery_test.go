package answers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"math/cmplx"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/runners/engine"
	"reckon/runners/portfolio"
	"reckon/runners/portfolio/portfoliotest"
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

func open(t testing.TB, engines []string) house {
	t.Helper()
	e, first := portfoliotest.Start(t, engines)
	return house{e, first}
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

// agreesSomewhere tells whether the derivative of an antiderivative has the integrand's value at one of some points, by the first engine's machine
// numbers, which share nothing with the checker. known: there was a point at which both have a value.
func (h house) agreesSomewhere(t *testing.T, one integral, answer string) (agrees, known bool) {
	t.Helper()
	tree, err := expression.Parse(one.integrand)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"3/7", "11/13", "-2/5", "17/9", "23/7"} {
		values := one.variable + " -> " + at
		for i, name := range tree.Symbols() {
			if name != one.variable && strings.ToLower(name[:1]) == name[:1] || strings.Contains("A B", name) {
				values += fmt.Sprintf(", %s -> %d/%d", name, 5+2*i, 7)
			}
		}
		code := fmt.Sprintf("N[{%s, D[%s, %s]} /. {%s}]", one.integrand, answer, one.variable, values)
		o, err := h.first.Evaluate(t.Context(), engine.Request{Code: code, Account: "battery", Budget: 20 * time.Second, QueueWait: time.Hour})
		if err != nil {
			continue
		}
		pair, err := expression.Parse(o.InputForm)
		if err != nil || !pair.IsCall("List") || len(pair.Args) != 2 {
			continue
		}
		want, isWant := complexOf(pair.Args[0])
		got, isGot := complexOf(pair.Args[1])
		if isWant && isGot {
			known = true
			agrees = agrees || cmplx.Abs(want-got) < 1e-6*(1+cmplx.Abs(want))
		}
	}
	return agrees, known
}

// complexOf reads a machine number: 1.5, 2.*^-3, 1. + 2.*I.
func complexOf(e *expression.Expr) (complex128, bool) {
	switch {
	case e.Kind == expression.Integer || e.Kind == expression.Real:
		n, err := strconv.ParseFloat(strings.Replace(strings.Split(e.Text, "`")[0], "*^", "e", 1), 64)
		return complex(n, 0), err == nil
	case e.IsSymbol("I"):
		return 1i, true
	case e.IsCall("Plus") || e.IsCall("Times"):
		total := complex128(0)
		if e.IsCall("Times") {
			total = 1
		}
		for _, arg := range e.Args {
			n, is := complexOf(arg)
			if !is {
				return 0, false
			}
			if e.IsCall("Plus") {
				total += n
			} else {
				total *= n
			}
		}
		return total, true
	}
	return 0, false
}

// tally counts what became of questions.
type tally map[became]int

func (c tally) add(b became) tally {
	if c == nil {
		c = tally{}
	}
	c[b]++
	return c
}

func (c tally) all() (n int) {
	for _, count := range c {
		n += count
	}
	return n
}

func (c tally) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d |\n", name, c.all(), c[verified], c[supported], c[unchecked], c[unanswered], c[refuted])
}

const tableHead = "| | questions | verified | supported | no verdict | unanswered | refuted |\n|---|---|---|---|---|---|---|\n"

// TestIntegrals: of the integrals of books and papers so many are answered and verified, and none that is verified is wrong.
func TestIntegrals(t *testing.T) {
	t.Parallel()
	all := integrals(t)
	all = all[:min(len(all), sweep.Size(t, "RECKON_INTEGRALS", 30, 316))]
	h := open(t, portfolio.Default)
	questions := make([]string, len(all))
	for i, one := range all {
		questions[i] = one.question()
	}
	suites, engines := map[string]tally{}, map[string]tally{}
	var total tally
	compared := 0
	results := h.askAll(t, questions)
	for i, r := range results {
		suites[all[i].suite] = suites[all[i].suite].add(r.became)
		engines[r.by] = engines[r.by].add(r.became)
		total = total.add(r.became)
		if r.became != verified {
			t.Logf("%s\t%s\t%s\t%s\t%s\t%s", r.became, r.about, all[i].suite, questions[i], r.by, r.answer)
			continue
		}
		if agrees, known := h.agreesSomewhere(t, all[i], r.answer); known && !agrees {
			t.Errorf("%s: verified, and its derivative is the integrand nowhere: %s", questions[i], r.answer)
		} else if known {
			compared++
		}
	}
	var page strings.Builder
	page.WriteString(tableHead)
	for _, suite := range slices.Sorted(maps.Keys(suites)) {
		page.WriteString(suites[suite].row(suite))
	}
	page.WriteString(total.row("**all**"))
	fmt.Fprintf(&page, "\nOf those verified the first engine answered %d, Giac %d. Of %d the derivative was also compared in machine numbers, which share nothing with the checker: none is wrong.\n",
		engines["woxi"][verified], engines["giac"][verified], compared)
	t.Log("\n" + page.String())
	least, most := 60, 30 // in percent, of a part; a few integrals more or less say nothing
	if sweep.Whole() {
		least, most = 78, 17
	}
	for what, bad := range map[string]bool{
		"too few are verified": total[verified]*100 < least*total.all(), "too many are unanswered": total[unanswered]*100 > most*total.all(),
		"a refuted answer is given": total[refuted]*100 > total.all(),
	} {
		if bad {
			t.Errorf("%s: %v", what, total)
		}
	}
	writePage(t, "integrals", page.String())
	more := h.withFricas(t, all, results)
	t.Log("\n" + more)
	writePage(t, "fricas", more)
}

// withFricas asks what was not verified once more where FriCAS is beside the others, and counts all.
func (h house) withFricas(t *testing.T, all []integral, results []result) (table string) {
	t.Helper()
	var total, answered tally
	var left []integral
	var questions []string
	for i, r := range results {
		if r.became == verified {
			total = total.add(verified)
			continue
		}
		left, questions = append(left, all[i]), append(questions, all[i].question())
	}
	for i, r := range open(t, portfoliotest.Most).askAll(t, questions) {
		total = total.add(r.became)
		if r.by == "fricas" {
			answered = answered.add(r.became)
		}
		t.Logf("with fricas: %s\t%s\t%s\t%s\t%s\t%s", r.became, r.about, left[i].suite, questions[i], r.by, r.answer)
		if r.became != verified {
			continue
		}
		if agrees, known := h.agreesSomewhere(t, left[i], r.answer); known && !agrees {
			t.Errorf("%s: verified, and its derivative is the integrand nowhere: %s", questions[i], r.answer)
		}
	}
	if total[refuted] > 0 {
		t.Errorf("with FriCAS a refuted answer is given: %v", total)
	}
	return tableHead + total.row("with FriCAS") + answered.row("answered by FriCAS")
}

// TestSample: what people ask of the language is answered.
func TestSample(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(need.Shared(t, "evaluate_sample.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, portfolio.Default)
	var questions []string
	for line := range strings.Lines(string(content)) {
		question, _, _ := strings.Cut(line, "\t")
		questions = append(questions, question)
	}
	var total tally
	for i, r := range h.askAll(t, questions) {
		if total = total.add(r.became); r.became != verified {
			t.Logf("%s\t%s\t%s\t%s", r.became, r.about, questions[i], r.answer)
		}
	}
	t.Log(total)
	if total[refuted]*100 > 2*total.all() || total[unanswered]*100 > 12*total.all() { // some of them have no answer: Sum[1/k, {k, 1, Infinity}]
		t.Errorf("%v", total)
	}
	writePage(t, "sample", tableHead+total.row("sample"))
}

// writePage writes a table of docs/bench/answers.md, whole tables only and when asked to.
func writePage(t *testing.T, name, table string) {
	t.Helper()
	if !*update || !sweep.Whole() {
		return
	}
	const path = "../../docs/bench/answers.md"
	pages.Lock()
	defer pages.Unlock()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), "<!-- "+name+" -->\n")
	_, after, closed := strings.Cut(rest, "<!-- end of "+name+" -->")
	if !found || !closed {
		t.Fatalf("%s has no place for the table of %s", path, name)
	}
	if err := os.WriteFile(path, []byte(before+"<!-- "+name+" -->\n"+table+"<!-- end of "+name+" -->"+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

var pages sync.Mutex
