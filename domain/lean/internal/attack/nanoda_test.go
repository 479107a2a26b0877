package attack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reckon/domain/lean/internal/leantest"
	"reckon/test/need"
	"reckon/test/sweep"
)

// nanodaExplained are beginnings of the names of exports on which nanoda 0.4.10-beta may differ from both kernels of this program, with the reason; each
// has one on which it does. docs/bench/kernel.md has the table.
var nanodaExplained = map[string]string{
	"naturals/": nanodaArithmetic, "versions/": nanodaArithmetic, "statements/a forged Nat.add": nanodaArithmetic, "rules/arithmetic-of-the-file": nanodaArithmetic,
	"makers/": nanodaLiterals, "literals/": nanodaLiterals, "axioms/": nanodaLiterals, "rules/number-literals-need": nanodaLiterals, "rules/string-literals-need": nanodaLiterals,
	"quotients/": nanodaQuotients, "rules/quotient-": nanodaQuotients,
	"inductives/": nanodaRecords, "recursors/": nanodaRecords, "rules/record-": nanodaRecords, "rules/reflexive-types": nanodaRecords,
	"structures/a projection": "the structure that a projection names is not compared with the type of what is projected",
	"universes/imax":          "imax 0 u, imax 1 u and imax u u are not seen to be u, nor imax u 0 to be 0",
	"histories/an equality":   "a bound variable has the first side's type",
	"environments/":           nanodaLiterals + "; the recursors of nested types must have Lean's own universe parameter u",
	"rules/reduce-bool":       "Lean.reduceBool is not evaluated",
	"rules/nested-names":      "names under _nested are not reserved",
	"rules/meta-":             "the first line is not read so strictly",
	"rules/format-window":     "the version of the format is not bounded from above",
}

const (
	nanodaArithmetic = "operations on Nat are computed by their names, whatever the file defines them to be"
	nanodaLiterals   = "literals have the types Nat and String by name, whatever the file declares these to be, and before what they stand for is declared"
	nanodaQuotients  = "the four quotient constants are declared by nanoda itself, whatever their records say"
	nanodaRecords    = "isRec, isReflexive, k, cidx and counts of a record are not compared with what is generated"
)

// nanoda is the program and its configuration.
type nanoda struct{ program, config string }

func findNanoda(t *testing.T) nanoda {
	t.Helper()
	program := os.Getenv("RECKON_TEST_NANODA")
	if program == "" {
		need.Skip(t, "nanoda, which no registry of crates has", "cargo build --release in a copy of nanoda_lib, and RECKON_TEST_NANODA=target/release/nanoda_bin go test ./domain/lean/internal/attack -run Nanoda")
	}
	n := nanoda{program, filepath.Join(t.TempDir(), "nanoda.json")}
	config := `{"use_stdin":true,"unpermitted_axiom_hard_error":false,"unsafe_permit_all_axioms":true,"nat_extension":true,"string_extension":true,"print_success_message":false}`
	if err := os.WriteFile(n.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// judge answers accepted or refused, or nothing: nanoda declines, or cannot read the file.
func (n nanoda) judge(t *testing.T, text string) string {
	t.Helper()
	command := exec.Command(n.program, n.config)
	command.Stdin = strings.NewReader(text)
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "accepted"
	case errors.As(err, &exit) && exit.ExitCode() == 101: // a failed assertion of the checker
		return "refused"
	case errors.As(err, &exit):
		return ""
	}
	t.Fatal(err)
	return ""
}

// continuous renumbers an export so that indices follow each other, as nanoda wants them, and completes its first line.
func continuous(t *testing.T, text string) string {
	t.Helper()
	space := map[string]string{"in": "name", "pre": "name", "name": "name", "levelParams": "name", "param": "name", "typeName": "name", "all": "name", "induct": "name", "ctor": "name", "ctors": "name",
		"il": "level", "succ": "level", "max": "level", "imax": "level", "sort": "level", "us": "level",
		"ie": "expr", "fn": "expr", "arg": "expr", "type": "expr", "body": "expr", "value": "expr", "struct": "expr", "expr": "expr", "rhs": "expr"}
	index := map[string]map[string]int{"name": {"0": 0}, "level": {"0": 0}, "expr": {}}
	var renumber func(key string, v any) any
	renumber = func(key string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, part := range v {
				v[k] = renumber(k, part)
			}
		case []any:
			for i := range v {
				v[i] = renumber(key, v[i])
			}
		case json.Number:
			if of := space[key]; of != "" {
				if n, ok := index[of][v.String()]; ok {
					return n
				}
			}
		}
		return v
	}
	var out bytes.Buffer
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 0 {
			line = `{"meta":{"exporter":{"name":"lean4export","version":"3.1.0"},"lean":{"githash":"x","version":"4.29.1"},"format":{"version":"3.1.0"}}}`
		}
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		var record map[string]any
		if err := decoder.Decode(&record); err != nil {
			return text // no export, for nanoda as for us
		}
		for _, key := range []string{"in", "il", "ie"} {
			if n, ok := record[key].(json.Number); ok {
				index[space[key]][n.String()] = len(index[space[key]])
			}
		}
		encoded, err := json.Marshal(renumber("", record))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(encoded, '\n'))
	}
	return out.String()
}

// Nanoda, written by others in another language, agrees with both kernels on every corpus, but for what is explained.
func TestNanodaAgrees(t *testing.T) {
	t.Parallel()
	n := findNanoda(t)
	exports := map[string]string{}
	add := func(name, path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		exports[name] = string(text)
	}
	for _, folder := range []string{"accept", "reject", "judge"} {
		for _, path := range leantest.SharedFiles(t, folder) {
			add(folder+"/"+filepath.Base(path), path)
		}
	}
	rules, err := filepath.Glob("../rules/testdata/*.ndjson")
	if err != nil || len(rules) < 100 {
		t.Fatalf("%d exports of rules: %v", len(rules), err)
	}
	for _, path := range rules {
		add("rules/"+filepath.Base(path), path)
	}
	for family, recipes := range Recipes() {
		for _, r := range recipes {
			exports[family+"/"+r.Name] = r.Export("4.29.1")
		}
	}
	for seed := range uint64(sweep.Size(t, "NANODA_SEEDS", 100, 2000)) {
		exports[fmt.Sprintf("environments/%d", seed)] = (&File{Version: "4.29.1", Decls: drawn(seed).decls}).emit().Text()
	}
	counts, differing := map[string]int{}, map[string]bool{}
	for name, text := range exports {
		ours := opinionsOn(text)
		theirs := n.judge(t, continuous(t, text))
		answer := "undecided"
		switch {
		case ours.unreadable || ours.fast.Refusal != nil:
			answer = "refused"
		case ours.fast.Accepted():
			answer = "accepted"
		}
		if theirs == "" || answer == "undecided" {
			counts["without an opinion"]++
			continue
		}
		counts[answer+", nanoda: "+theirs]++
		if answer == theirs {
			continue
		}
		known := false
		for beginning := range nanodaExplained {
			if strings.HasPrefix(name, beginning) {
				known, differing[beginning] = true, true
			}
		}
		if !known {
			t.Errorf("%s: nanoda: %s, kernel: %s %q", name, theirs, answer, ours.fastText)
		}
	}
	for beginning, reason := range nanodaExplained {
		if !differing[beginning] {
			t.Errorf("nothing that begins with %s differs: %q explains nothing", beginning, reason)
		}
	}
	kinds := []string{}
	for kind := range counts {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		t.Logf("%s: %d", kind, counts[kind])
	}
}
