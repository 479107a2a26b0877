package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"reckon/domain/lean/check"
	"reckon/domain/lean/kernel"
)

// Recipe is one attack.
type Recipe struct {
	Name   string
	Attack string // what is tried, and why it must not succeed
	Text   string // declarations in the language of parse.go
	Edit   func(f *File)
	Ask    string // the declaration a verdict is asked on; default boom

	// MayMismatch says that a recursor is meant to differ from the derived one. In other recipes that would hide the attack.
	MayMismatch bool

	// Versions are the versions of Lean the file claims in turn; default defaultVersions.
	Versions []string
	Want     Outcome
}

// defaultVersions are one with a table of definitions, one without, and none.
var defaultVersions = []string{"4.29.1", "4.99.0", "-"}

// Outcome returns an error that describes what is wrong with a report, or nil.
type Outcome func(r *check.Report) error

// Run judges the recipe's file under each version.
func (r Recipe) Run() error {
	versions := r.Versions
	if versions == nil {
		versions = defaultVersions
	}
	body := r.body()
	for _, v := range versions {
		report, err := r.judge(v, body)
		if err == nil && !r.MayMismatch && report.Refusal != nil && report.Refusal.Class == check.Class(kernel.RecursorMismatch) {
			err = fmt.Errorf("the recipe's own recursors are wrong: %s", describe(report))
		}
		if err == nil {
			err = r.Want(report)
		}
		if err != nil {
			return fmt.Errorf("version %s: %w", v, err)
		}
	}
	return nil
}

// body is the recipe's export but for its first line, which is all that a version changes.
func (r Recipe) body() string {
	f := &File{Decls: parse(r.Text)}
	if r.Edit != nil {
		r.Edit(f)
	}
	_, body, _ := strings.Cut(f.emit().Text(), "\n")
	return body
}

// Export is the recipe's export under one version.
func (r Recipe) Export(version string) string { return header(version) + "\n" + r.body() }

// Report judges the recipe's file under one version, as a user's is judged.
func (r Recipe) Report(version string) (*check.Report, error) { return r.judge(version, r.body()) }

func (r Recipe) judge(version, body string) (*check.Report, error) {
	ask := r.Ask
	if ask == "" {
		ask = "boom"
	}
	return judge(header(version)+"\n"+body, ask)
}

// judge judges an export as a user's is judged. A checker that panics is an error.
func judge(export, ask string) (report *check.Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the checker panics: %v", p)
		}
	}()
	return check.Run(context.Background(), strings.NewReader(export), check.Options{
		Declarations: []string{ask}, Kernel: kernel.Options{Workers: 1, MaxDepth: 20_000, MaxExprs: 1 << 21}})
}

func describe(r *check.Report) string {
	text := fmt.Sprintf("kernel %s, verdict %s", r.Kernel, r.Verdict)
	if r.Refusal != nil {
		text += fmt.Sprintf(", %s of %s: %s", r.Refusal.Class, r.Refusal.Declaration, r.Refusal.Message)
	}
	for _, d := range r.Declarations {
		text += fmt.Sprintf("; %s states %s with axioms %v", d.Name, statementOf(d), d.Axioms)
	}
	return text
}

// refused: the kernel refuses the file, for one of the classes if some are given.
func refused(classes ...kernel.Class) Outcome {
	return func(r *check.Report) error {
		if r.Kernel != check.Refused || r.Verdict == check.Verified {
			return fmt.Errorf("not refused by the kernel: %s", describe(r))
		}
		if len(classes) > 0 && !slices.Contains(classes, kernel.Class(r.Refusal.Class)) {
			return fmt.Errorf("refused for another reason than %v: %s", classes, describe(r))
		}
		return nil
	}
}

// disagreement: the first kernel accepts the file, the second refuses it, and nothing is said of the proof.
func disagreement(r *check.Report) error {
	if r.Kernel != check.Accepted || r.Verdict != check.Inconclusive || r.Refusal == nil || r.Refusal.Class != check.KernelsDisagree ||
		len(r.Kernels) != 2 || r.Kernels[0].Answer != check.Accepted || r.Kernels[1].Answer != check.Refused {
		return fmt.Errorf("not a disagreement of the kernels: %s, kernels %+v", describe(r), r.Kernels)
	}
	return nil
}

// notVerified: whatever else is said, the declaration is not verified.
func notVerified(r *check.Report) error {
	if r.Verdict == check.Verified {
		return fmt.Errorf("verified: %s", describe(r))
	}
	return nil
}

// unsupported: the declaration is not verified, and the refusal or the list of differing definitions names one of names.
func unsupported(names ...string) Outcome {
	return func(r *check.Report) error {
		if err := notVerified(r); err != nil {
			return err
		}
		if r.Kernel == check.Refused {
			return nil
		}
		for _, n := range names {
			if r.Refusal != nil && r.Refusal.Declaration == n || r.Conformance != nil && slices.Contains(r.Conformance.Differing, n) {
				return nil
			}
		}
		return fmt.Errorf("none of %v is named: %s", names, describe(r))
	}
}

// shown: the declaration is not verified, or the report lists names among the definitions that are the uploader's own.
func shown(names ...string) Outcome {
	return func(r *check.Report) error {
		if r.Verdict != check.Verified {
			return nil
		}
		own := ownDefinitions(r)
		for _, n := range names {
			if !strings.Contains(own, n) {
				return fmt.Errorf("verified, and %s is not shown as the uploader's own: %s", n, describe(r))
			}
		}
		return nil
	}
}

// ownDefinitions is the report's own_definitions as JSON text.
func ownDefinitions(r *check.Report) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		panic(err)
	}
	return string(fields["own_definitions"])
}

// reaches: the kernel refuses the file, or the axioms are among those the declaration is said to use.
func reaches(axioms ...string) Outcome {
	return func(r *check.Report) error {
		if r.Kernel == check.Refused {
			return nil
		}
		for _, a := range axioms {
			if !slices.Contains(r.AxiomsUsed, a) {
				return fmt.Errorf("the axiom %s is not shown: %s", a, describe(r))
			}
		}
		return nil
	}
}

// printsUnlike: the statement is none of those given, whatever the verdict.
func printsUnlike(statements ...string) Outcome {
	return func(r *check.Report) error {
		for _, d := range r.Declarations {
			if slices.Contains(statements, statementOf(d)) {
				return fmt.Errorf("it prints as what it is not: %s", describe(r))
			}
		}
		return nil
	}
}

// printsPlainly: a statement has no character that shows as nothing, reorders its line, or starts another.
func printsPlainly(r *check.Report) error {
	invisible := []rune{0x034f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800}
	for _, d := range r.Declarations {
		for _, c := range statementOf(d) {
			if c != ' ' && !unicode.IsGraphic(c) || unicode.Is(unicode.Cf, c) || slices.Contains(invisible, c) {
				return fmt.Errorf("the statement holds %U: %s", c, describe(r))
			}
		}
	}
	return nil
}

// statementUncut: the statement of a verified declaration is printed in full.
func statementUncut(r *check.Report) error {
	for _, d := range r.Declarations {
		if r.Verdict == check.Verified && strings.Contains(statementOf(d), "…") {
			return fmt.Errorf("verified, and the statement is cut: other theorems print as this one and have its hash")
		}
	}
	return nil
}

// verified: what is right is verified, with this statement.
func verified(statement string) Outcome {
	return func(r *check.Report) error {
		if r.Verdict != check.Verified || len(r.Declarations) != 1 || statementOf(r.Declarations[0]) != statement {
			return fmt.Errorf("not verified as %s: %s", statement, describe(r))
		}
		return nil
	}
}

// accepted: the kernel accepts the file, whatever the verdict on its definitions.
func accepted(r *check.Report) error {
	if r.Kernel != check.Accepted {
		return fmt.Errorf("not accepted by the kernel: %s", describe(r))
	}
	return nil
}

// allOf: every outcome holds.
func allOf(outcomes ...Outcome) Outcome {
	return func(r *check.Report) error {
		for _, o := range outcomes {
			if err := o(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// Recipes are all attacks, by family.
func Recipes() map[string][]Recipe {
	return map[string][]Recipe{
		"controls":   controls,
		"histories":  historyRecipes,
		"literals":   literals,
		"structures": structures, "quotients": quotients, "universes": universes, "scopes": scopes,
		"recursors":   recursorRecipes,
		"inductives":  inductives,
		"statements":  statements,
		"versions":    versionRecipes,
		"axioms":      axioms,
		"core axioms": coreAxiomRecipes,
		"makers":      makers,
		"naturals":    naturals,
	}
}

// statementOf is what a declaration states, or nothing where the report leaves it out.
func statementOf(d check.Declaration) string {
	if d.Statement == nil {
		return ""
	}
	return *d.Statement
}
