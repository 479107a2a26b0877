package attack

import "testing"

// Every recipe's file is judged as a user's would be, and what must be true of the outcome is.
func TestRecipes(t *testing.T) {
	for family, recipes := range Recipes() {
		t.Run(family, func(t *testing.T) {
			seen := map[string]bool{}
			for _, r := range recipes {
				if seen[r.Name] {
					t.Errorf("two recipes are called %q", r.Name)
				}
				seen[r.Name] = true
				t.Run(r.Name, func(t *testing.T) {
					t.Parallel()
					if testing.Verbose() {
						report, err := r.Report("4.99.0")
						if err != nil {
							t.Fatal(err)
						}
						t.Log(describe(report))
					}
					if err := r.Run(); err != nil {
						t.Errorf("%s\n%v", r.Attack, err)
					}
				})
			}
		})
	}
}
