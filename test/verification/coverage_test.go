package verification

import (
	"testing"

	"reckon/domain/expression"
	"reckon/domain/verification"
)

// TestEvery: of a group the first pair and then each n-th; the whole is all.
func TestEvery(t *testing.T) {
	var pairs []Pair
	for i := range 7 {
		pairs = append(pairs, Pair{Rule: "a", Answer: string(rune(48 + i)), Right: i%2 == 0})
	}
	var taken string
	for _, pair := range Every(2, pairs) {
		taken += pair.Answer
	}
	if all := Every(1, pairs); taken != "0145" || len(all) != len(pairs) {
		t.Errorf("%s, %d pairs", taken, len(all))
	}
}

// nearMisses is how many answers each rule of proofs is at least tried with that it must not verify.
const nearMisses = 20

// TestEveryProofHasNearMisses: of each rule of proofs, pairs that it verifies, and answers that are almost what it proves.
func TestEveryProofHasNearMisses(t *testing.T) {
	pairs, err := Proofs()
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := map[string]int{}, map[string]int{}
	for _, pair := range pairs {
		if pair.Right {
			right[pair.Rule]++
		} else {
			wrong[pair.Rule]++
		}
	}
	for _, rule := range verification.Rules() {
		if _, proof := rule.(verification.ProofRule); !proof {
			continue
		}
		slug := rule.Declare().Slug
		if right[slug] < 5 || wrong[slug] < nearMisses {
			t.Errorf("%s has %d answers to verify and %d not to, %d are wanted", slug, right[slug], wrong[slug], nearMisses)
		}
	}
}

// TestEveryProgramHeadHasPairs: each function of program_value stands in a question with a right and with a wrong answer.
func TestEveryProgramHeadHasPairs(t *testing.T) {
	pairs, err := Programs()
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := map[string]bool{}, map[string]bool{}
	for _, pair := range pairs {
		input, err := expression.Parse(pair.Input)
		if err != nil {
			t.Fatal(pair.Input, err)
		}
		input.Walk(func(n *expression.Expr) bool {
			if n.Kind == expression.Symbol {
				right[n.Text], wrong[n.Text] = right[n.Text] || pair.Right, wrong[n.Text] || !pair.Right
			}
			return true
		})
	}
	for _, rule := range verification.Rules() {
		if rule.Declare().Slug != "program_value" {
			continue
		}
		for _, head := range rule.Declare().Heads {
			if !right[head] || !wrong[head] {
				t.Errorf("%s: a right answer %t, a wrong one %t", head, right[head], wrong[head])
			}
		}
	}
}

// TestEveryRuleHasPairs: each rule takes at least one right and one wrong answer of the lists that the tests of this package
// have checked. Which rule takes a pair is what Derive says: most lists name a topic, not a rule.
func TestEveryRuleHasPairs(t *testing.T) {
	type count struct{ right, wrong int }
	counts := map[string]*count{}
	for _, rule := range verification.Rules() {
		if _, proof := rule.(verification.ProofRule); proof {
			continue // it takes no call by itself
		}
		counts[rule.Declare().Slug] = &count{}
	}
	for name, list := range map[string]func() ([]Pair, error){"battery": Battery, "forms": Forms, "independent": Independent, "classes": Classes, "stranger": Stranger, "programs": Programs} {
		pairs, err := list()
		if err != nil {
			t.Fatal(err)
		}
		if len(pairs) == 0 {
			t.Errorf("the list %s is empty", name)
		}
		for _, pair := range pairs {
			input, err := expression.Parse(pair.Input)
			if err != nil {
				continue // the tests of the list judge that
			}
			answer, err := expression.Parse(pair.Answer)
			if err != nil {
				continue
			}
			plan, err := verification.Derive(input, answer)
			if err != nil {
				continue
			}
			if pair.Right {
				counts[plan.Slug].right++
			} else {
				counts[plan.Slug].wrong++
			}
		}
	}
	for slug, c := range counts {
		if c.right == 0 || c.wrong == 0 {
			t.Errorf("rule %s has %d right and %d wrong answers: add pairs to testdata", slug, c.right, c.wrong)
		}
		t.Logf("%s: %d right, %d wrong", slug, c.right, c.wrong)
	}
}
