package verification

import "testing"

// Every head of every rule has its forms, and every form belongs to a rule: a new head cannot be added without saying what is read.
func TestEveryHeadHasForms(t *testing.T) {
	heads := map[string]bool{}
	for _, rule := range rulesOfMathematics() { // the checker reads the forms of programs
		for _, head := range rule.Declare().Heads {
			heads[head] = true
			if _, ok := forms()[head]; !ok {
				t.Errorf("%s of %s has no form", head, rule.Declare().Slug)
			}
		}
	}
	for head, form := range forms() {
		if !heads[head] {
			t.Errorf("%s has a form, and no rule", head)
		}
		if form.least < 1 || form.most >= 0 && form.most < form.least {
			t.Errorf("%s: %d to %d arguments", head, form.least, form.most)
		}
	}
}
