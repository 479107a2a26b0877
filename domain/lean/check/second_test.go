package check_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/domain/lean/check"
	"reckon/domain/lean/internal/attack"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/kernel"
	"reckon/domain/lean/plain"
)

var update = flag.Bool("update", false, "write testdata/kernels-disagree.ndjson")

// disagreeing is an export that the first kernel accepts and the second refuses, for tests of what follows from that.
const disagreeing = "testdata/kernels-disagree.ndjson"

func answers(r *check.Report) (out []string) {
	for _, k := range r.Kernels {
		text := k.Name + ": " + string(k.Answer)
		if (k.Reason == nil) != (k.Answer == check.Accepted) {
			text += ", with the wrong reason"
		}
		out = append(out, text)
	}
	return out
}

func bothAccept(r *check.Report) bool {
	return slices.Equal(answers(r), []string{"reckon: accepted", "plain: accepted"})
}

// Every good export is verified as a whole by both kernels, but for those that declare axioms of their own: asking for everything asks for these.
func TestEveryGoodExportIsVerifiedByBothKernels(t *testing.T) {
	t.Parallel()
	want := map[string]check.Class{
		"031_letTypeDep": check.CustomAxiom, "032_letRed": check.CustomAxiom, "level-index-out-of-order": check.CustomAxiom, "init-prelude": check.Sorry,
	}
	for _, path := range leantest.SharedFiles(t, "accept") {
		name := strings.TrimSuffix(filepath.Base(path), ".ndjson")
		r := judge(t, file(t, "accept", name), check.Options{All: true})
		if class, bad := want[name]; bad && (r.Verdict != check.Unsupported || r.Refusal.Class != class) || !bad && (r.Verdict != check.Verified || !bothAccept(r)) {
			t.Errorf("%s: %s %+v, kernels %v", name, r.Verdict, r.Refusal, answers(r))
		}
	}
}

func TestWhatTheKernelsAnswerDecidesTheVerdict(t *testing.T) {
	t.Parallel()
	foo, bad := file(t, "judge", "foo"), file(t, "reject", "002_badDef")
	with := func(change func(*check.Options)) check.Options {
		o := named("foo")
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		text    string
		options check.Options
		verdict check.Verdict
		kernels []string
	}{
		"both accept":       {foo, named("foo"), check.Verified, []string{"reckon: accepted", "plain: accepted"}},
		"the first alone":   {foo, with(func(o *check.Options) { o.OneKernel = true }), check.Verified, []string{"reckon: accepted"}},
		"out of budget":     {foo, with(func(o *check.Options) { o.Plain = plain.Budget{Steps: 100} }), check.Verified, []string{"reckon: accepted", "plain: out_of_budget"}},
		"the first refuses": {bad, named("badDef"), check.Rejected, []string{"reckon: refused"}},
		"a name is missing": {foo, named("bar"), check.Unsupported, []string{"reckon: accepted"}},
		"unreadable":        {"{}\n", named("foo"), check.Unsupported, []string{"reckon: refused"}},
	} {
		r := judge(t, c.text, c.options)
		if r.Verdict != c.verdict || !slices.Equal(answers(r), c.kernels) {
			t.Errorf("%s: %s, %v; want %s, %v", name, r.Verdict, answers(r), c.verdict, c.kernels)
		}
	}
	if got := answers(check.Unfinished("stopped")); !slices.Equal(got, []string{"reckon: undecided"}) {
		t.Errorf("a check that was stopped: %v", got)
	}
}

// Memory and time that run out are no budget: how much of them there is depends on the machine.
func TestTheSecondKernelOutOfMemoryIsNoVerdict(t *testing.T) {
	t.Parallel()
	r := &check.Report{Verdict: check.Verified}
	r.Answered("reckon", check.Accepted, "")
	r.NotFinished("plain", "the time given ran out")
	if r.Verdict != check.Inconclusive || r.Refusal.Class != check.ResourceLimit || !slices.Equal(answers(r), []string{"reckon: accepted", "plain: undecided"}) {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := kernel.Options{Progress: func(checked, total int) { // after the last declaration the first kernel looks at the context no more
		if checked == total {
			cancel()
		}
	}}
	r, err := check.Run(ctx, strings.NewReader(file(t, "accept", "init-prelude")), check.Options{Declarations: []string{"id"}, Kernel: first})
	if err != nil || r.Verdict != check.Inconclusive || !slices.Equal(answers(r), []string{"reckon: accepted", "plain: undecided"}) {
		t.Errorf("cancelled between the kernels: %v %+v", err, r)
	}
}

func TestKernelsThatDisagreeAreNoVerdict(t *testing.T) {
	t.Parallel()
	recipes := attack.Recipes()["histories"]
	recipe := recipes[slices.IndexFunc(recipes, func(r attack.Recipe) bool { return r.Name == "an equality that the second kernel misses" })]
	text := recipe.Export("4.29.1")
	if *update {
		if err := os.MkdirAll(filepath.Dir(disagreeing), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(disagreeing, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(disagreeing)
	if err != nil || !bytes.Equal(kept, []byte(text)) {
		t.Fatalf("%s is not the recipe's export (go test -update writes it): %v", disagreeing, err)
	}
	for _, workers := range []int{1, 2} {
		r := judge(t, text, check.Options{Declarations: []string{"boom"}, FileName: "f", Kernel: kernel.Options{Workers: workers}})
		if r.Verdict != check.Inconclusive || r.Kernel != check.Accepted || !slices.Equal(answers(r), []string{"reckon: accepted", "plain: refused"}) {
			t.Fatalf("%d workers: %+v, kernels %v", workers, r, answers(r))
		}
		if f := r.Refusal; f == nil || f.Class != check.KernelsDisagree || f.Declaration != "boom" || f.Line == 0 || f.File != "f" || !strings.Contains(f.Message, "the kernel plain refuses") {
			t.Errorf("%+v", f)
		}
	}
	alone := judge(t, text, check.Options{Declarations: []string{"boom"}, OneKernel: true})
	if alone.Verdict != check.Verified {
		t.Errorf("the first kernel alone: %+v", alone)
	}
}

// The budget is counted: how many workers the first kernel has, and what it leaves in memory, changes nothing.
func TestTheSecondKernelsBudgetIsAFunctionOfTheFile(t *testing.T) {
	t.Parallel()
	text := file(t, "accept", "042_rbTreeDef")
	for _, b := range []plain.Budget{{Steps: 1000}, {Total: 3000}, {Depth: 12}, {Exprs: 150}} {
		var first string
		for _, workers := range []int{1, 2, 3} {
			r := judge(t, text, check.Options{All: true, Kernel: kernel.Options{Workers: workers}, Plain: b})
			if r.Verdict != check.Verified || r.Kernels[1].Answer != check.OutOfBudget {
				t.Fatalf("%+v, %d workers: %s %v", b, workers, r.Verdict, answers(r))
			}
			if reason := *r.Kernels[1].Reason; first == "" {
				first = reason
			} else if reason != first {
				t.Errorf("%+v: %q, and with %d workers %q", b, first, workers, reason)
			}
		}
	}
}
