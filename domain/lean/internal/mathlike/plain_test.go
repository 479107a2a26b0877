package main

import (
	"bytes"
	"context"
	"testing"

	"reckon/domain/lean/export"
	second "reckon/domain/lean/plain"
)

// The second kernel accepts every kind of module, or says that it ran out of its budget.
func TestPlainKernelOnEveryKindOfModule(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := generate(&out, 900_000, 1, kind.name); err != nil {
				t.Fatal(err)
			}
			file, err := export.Read(context.Background(), &out, export.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r := second.Check(context.Background(), file.Store, file.Declarations, second.Budget{})
			switch name := file.Store.NameString; {
			case r.Refusal != nil:
				t.Errorf("%s: %v", name(r.Refusal.Declaration), r.Refusal)
			case r.OutOfBudget != nil:
				t.Logf("%s: %v", name(r.OutOfBudget.Declaration), r.OutOfBudget)
			}
			t.Logf("%d of %d declarations, %d steps", r.Checked, len(file.Declarations), r.Steps)
		})
	}
}
