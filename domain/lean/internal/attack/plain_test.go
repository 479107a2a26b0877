package attack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/kernel"
	"reckon/domain/lean/plain"
	"reckon/test/sweep"
)

// plainBudget bounds the second kernel's check of one small file.
var plainBudget = plain.Budget{Steps: 1 << 20, Total: 1 << 21, Depth: 2_000, Exprs: 1 << 20}

// opinions are what the two kernels say of an export.
type opinions struct {
	fast                kernel.Result
	plain               plain.Report
	fastText, plainText string
	unreadable          bool
}

func opinionsOn(text string) (o opinions) {
	file, err := export.Read(context.Background(), strings.NewReader(text), export.Limits{})
	if err != nil {
		o.unreadable = true
		return o
	}
	o.plain = plain.Check(context.Background(), file.Store, file.Declarations, plainBudget)
	o.fast = kernel.Check(context.Background(), file.Store, file.Declarations, kernel.Options{Workers: 1, MaxDepth: 2_000, MaxExprs: 1 << 20})
	switch name := file.Store.NameString; {
	case o.fast.Refusal != nil:
		o.fastText = name(o.fast.Refusal.Declaration) + ": " + o.fast.Refusal.Error()
	case o.fast.Exhausted != nil:
		o.fastText = name(o.fast.Exhausted.Declaration) + ": " + o.fast.Exhausted.Error()
	}
	switch name := file.Store.NameString; {
	case o.plain.Refusal != nil:
		o.plainText = name(o.plain.Refusal.Declaration) + ": " + o.plain.Refusal.Error()
	case o.plain.OutOfBudget != nil:
		o.plainText = name(o.plain.OutOfBudget.Declaration) + ": " + o.plain.OutOfBudget.Error()
	}
	return o
}

// disagreement says how the kernels differ, if one accepts what the other refuses. A kernel that ran out of its budget
// has no opinion.
func (o opinions) disagreement() string {
	if o.unreadable || o.plain.Accepted() == o.fast.Accepted() || o.plain.Refusal == nil && o.fast.Refusal == nil {
		return ""
	}
	if o.plain.Refusal == nil && !o.plain.Accepted() || o.fast.Refusal == nil && !o.fast.Accepted() {
		return ""
	}
	return fmt.Sprintf("fast: %q, plain: %q", o.fastText, o.plainText)
}

// sides: the equality is provable, and each kernel finds it in one order of its sides. The fast one gives the bound variable the second side's
// type, the plain one the first side's.
const sides = "the kernels type the bound variable from different sides"

// explained are the recipes on which the kernels differ, with the reason.
var explained = map[string]string{
	"histories/an equality that holds in one order only":              sides,
	"histories/an equality that the second kernel misses":             sides,
	"histories/an equality asked in one order, answered in the other": sides,
}

// The kernels agree on the recipes of all families.
func TestPlainKernelAgreesOnRecipes(t *testing.T) {
	for family, recipes := range Recipes() {
		for _, r := range recipes {
			t.Run(family+"/"+r.Name, func(t *testing.T) {
				t.Parallel()
				d, reason := opinionsOn(header("4.99.0")+"\n"+r.body()).disagreement(), explained[family+"/"+r.Name]
				if (d != "") != (reason != "") {
					t.Errorf("%q is explained by %q", d, reason)
				}
			})
		}
	}
}

// The files that proved False to earlier kernels are refused by this one.
func TestPlainKernelRefusesHuntedFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/hunted/false-*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatalf("no hunted files: %v", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if o := opinionsOn(string(text)); o.plain.Refusal == nil {
			t.Errorf("%s: not refused: %q", path, o.plainText)
		}
	}
}

// The kernels agree on the hunter's environments, and on equations of truth values in them.
func TestPlainKernelAgreesOnGeneratedEnvironments(t *testing.T) {
	seeds, accepted, undecided, questions := sweep.Size(t, "PLAIN_SEEDS", 50, 2000), 0, 0, 0
	for seed := range uint64(seeds) {
		h := drawn(seed)
		environment := (&File{Version: "4.99.0", Decls: h.decls}).emit()
		texts := []string{environment.with(nil)}
		for i := range 6 {
			texts = append(texts, environment.with([]*Decl{equation(fmt.Sprintf("q%d", i), h.term(truth, 3, nil), h.term(truth, 2, nil))}))
		}
		for i, text := range texts {
			o := opinionsOn(text)
			if d := o.disagreement(); d != "" {
				t.Errorf("seed %d, text %d: %s", seed, i, d)
			}
			questions++
			if o.plain.Accepted() {
				accepted++
			} else if o.plain.Refusal == nil {
				undecided++
			}
		}
	}
	t.Logf("%d environments, %d questions, %d accepted, %d out of budget", seeds, questions, accepted, undecided)
	if accepted < questions/20 {
		t.Errorf("only %d of %d are accepted: the test does not test", accepted, questions)
	}
}
