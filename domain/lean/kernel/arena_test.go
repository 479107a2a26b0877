package kernel_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/kernel"
)

func checkText(t testing.TB, name string, text []byte, opts kernel.Options) (*export.File, kernel.Result) {
	t.Helper()
	file, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(text) < 1<<16 && opts.MaxDepth == 0 && opts.MaxExprs == 0 && opts.Workers < 2 && sampled(text, 32) {
		compare(t, name, text)
	}
	return file, kernel.Check(context.Background(), file.Store, file.Declarations, opts)
}

func checkFile(t testing.TB, path string, opts kernel.Options) (*export.File, kernel.Result) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return checkText(t, filepath.Base(path), text, opts)
}

func TestAcceptsEveryGoodExport(t *testing.T) {
	for _, folder := range []string{"accept", "judge"} {
		for _, path := range leantest.SharedFiles(t, folder) {
			if strings.Contains(path, "format-3.0.0") {
				continue
			}
			for _, workers := range []int{1, 3} {
				file, r := checkFile(t, path, kernel.Options{Workers: workers})
				switch {
				case r.Refusal != nil:
					t.Errorf("%s: %s: %v", filepath.Base(path), file.Store.NameString(r.Refusal.Declaration), r.Refusal)
				case r.Exhausted != nil:
					t.Errorf("%s: %v", filepath.Base(path), r.Exhausted)
				case r.Checked != len(file.Declarations):
					t.Errorf("%s: checked %d of %d", filepath.Base(path), r.Checked, len(file.Declarations))
				}
			}
		}
	}
}

// refusals are the declaration that is wrong in each bad export of the arena, and the rule it breaks.
var refusals = map[string]struct {
	declaration string
	class       kernel.Class
}{
	"002_badDef":                {"badDef", kernel.TypeMismatch},
	"009_forallSortBad":         {"forallSortBad", kernel.TypeExpected},
	"010_nonTypeType":           {"nonTypeType", kernel.TypeExpected},
	"011_nonPropThm":            {"nonPropThm", kernel.TheoremNotProp},
	"016_tut06_bad01":           {"tut06_bad01", kernel.DuplicateUniverse},
	"043_inductBadNonSort":      {"inductBadNonSort", kernel.TypeExpected},
	"045_inductLevelParam":      {"inductLevelParam", kernel.DuplicateUniverse},
	"046_inductTooFewParams":    {"inductTooFewParams", kernel.InvalidInductive},
	"047_inductWrongCtorParams": {"inductWrongCtorParams", kernel.InvalidConstructor},
	"049_inductWrongCtorResLevel": {"inductWrongCtorResLevel",
		kernel.InvalidConstructor},
	"050_inductInIndex":     {"inductInIndex", kernel.InvalidConstructor},
	"053_reduceCtorType.mk": {"reduceCtorType", kernel.InvalidConstructor},
	"054_indNegReducible":   {"indNegReducible", kernel.NonPositiveOccurrence},
	"082_projOutOfRange":    {"projOutOfRange", kernel.InvalidProjection},
	"083_projNotStruct":     {"projNotStruct", kernel.InvalidProjection},
	// Trap: projections out of Prop reveal data.
	"087_projProp4":     {"projProp4", kernel.InvalidProjection},
	"088_projProp5":     {"projProp5", kernel.InvalidProjection},
	"091_projIndexData": {"projIndexData", kernel.InvalidProjection},
	"proj-of-prop":      {"badFalse", kernel.ArgumentMismatch},
	// Trap: K applies only where the indices agree.
	"095_ruleKbad": {"ruleKbad", kernel.TypeMismatch},
	"k-rec-conv":   {"bad", kernel.TypeMismatch},
	// Trap: what looks like eta or proof irrelevance and is neither.
	"100_proofIrrelevanceBad": {"proofIrrelevanceBad", kernel.TypeMismatch},
	"108_funEtaBad":           {"funEtaBad", kernel.TypeMismatch},
	"110_etaCtor":             {"etaCtor", kernel.TypeMismatch},
	"112_reflOccInIndex":      {"reflOccInIndex", kernel.ArgumentMismatch},
	"119_accRecNoEta":         {"accRecNoEta", kernel.TypeMismatch},
	// Trap: duplicates of every kind of name, and records the types do not have.
	"126_dup_defs":          {"dup_defs", kernel.DuplicateDeclaration},
	"127_dup_ind_def":       {"dup_ind_def", kernel.DuplicateDeclaration},
	"129_dup_rec_def":       {"dup_rec_def", kernel.DuplicateDeclaration},
	"130_misnamed_rec_user": {"misnamed_rec", kernel.RecursorMismatch},
	"132_dup_ctor_rec":      {"dup_ctor_rec", kernel.DuplicateDeclaration},
	"133_DupConCon":         {"DupConCon", kernel.DuplicateDeclaration},
	"bogus1":                {"thm", kernel.TypeMismatch},
	// Trap: constants at the wrong number of universes.
	"constlevels": {"_test", kernel.LetMismatch},
	// Trap: a type that may be in Prop eliminates into Prop only. The recursor is generated, its record is missing.
	"large-elim-param": {"false_proof", kernel.UniverseCount},
	// Trap: imax (u+1) (v+1) is not (imax u v)+1.
	"level-imax-leq": {"down", kernel.TypeMismatch},
}

func TestRefusesEveryBadExport(t *testing.T) {
	for _, path := range leantest.SharedFiles(t, "reject") {
		name := strings.TrimSuffix(filepath.Base(path), ".ndjson")
		want, ok := refusals[name]
		if !ok {
			t.Errorf("%s: the test knows nothing about it", name)
			continue
		}
		for _, workers := range []int{1, 3} {
			file, r := checkFile(t, path, kernel.Options{Workers: workers})
			if r.Refusal == nil {
				t.Errorf("%s is not refused: %+v", name, r)
				continue
			}
			got := file.Store.NameString(r.Refusal.Declaration)
			if got != want.declaration || r.Refusal.Class != want.class || r.Refusal.Line == 0 {
				t.Errorf("%s: refused %s line %d: %v", name, got, r.Refusal.Line, r.Refusal)
			}
		}
	}
}
