package attack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reckon/domain/lean/check"
	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/histories"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/term"
	"reckon/test/sweep"
)

// mutantsPerFile is how many mutants of one real export are tried by `make test`.
const mutantsPerFile = 12

// largestMutated is the size in bytes of the largest export that is mutated.
const largestMutated = 300_000

// A real export whose definitions are exchanged, renamed or retargeted is either refused, or not verified, or states
// something else, or shows by its own definitions that the same words mean something else.
func TestMutantsOfRealExportsShowWhatTheyMean(t *testing.T) {
	perFile, verified, count := sweep.Size(t, "MUTANTS", mutantsPerFile, 120), 0, 0
	for _, path := range append(leantest.SharedFiles(t, "accept"), leantest.SharedFiles(t, "judge")...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ask := regexp.MustCompile(`^\d+_`).ReplaceAllString(strings.TrimSuffix(filepath.Base(path), ".ndjson"), "")
		if len(text) > largestMutated {
			continue
		}
		original, err := judge(string(text), ask)
		if err != nil || original.Verdict != check.Verified {
			continue // among the accepted are some that are named otherwise
		}
		meaning := meaningOf(t, text, ask)
		r := rand.New(rand.NewPCG(1, uint64(len(text))))
		for range perFile {
			mutant, what := mutate(r, text)
			if mutant == nil {
				continue
			}
			count++
			if histories.Sampled(mutant, 32) {
				if difference, _ := histories.Compare(mutant); difference != "" {
					t.Errorf("%s: %s: %s", filepath.Base(path), what, difference)
				}
			}
			report, err := judge(string(mutant), ask)
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(path), what, err)
				continue
			}
			if report.Verdict != check.Verified {
				continue
			}
			verified++
			if statementOf(report.Declarations[0]) != statementOf(original.Declarations[0]) || ownDefinitions(report) != ownDefinitions(original) {
				continue
			}
			if meaningOf(t, mutant, ask) != meaning {
				t.Errorf("%s: %s: verified as %s, which means something else now, and nothing shows it", filepath.Base(path), what, statementOf(report.Declarations[0]))
			}
		}
	}
	t.Logf("%d mutants, %d verified", count, verified)
	if verified < perFile/2 {
		t.Errorf("only %d of %d mutants are verified: the test does not test", verified, count)
	}
}

// line is one record of an export.
type line map[string]json.RawMessage

func readLines(text []byte) (out []line) {
	for _, l := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var v line
		if err := json.Unmarshal(l, &v); err != nil {
			panic(err) // the shared exports are well-formed
		}
		out = append(out, v)
	}
	return out
}

func writeLines(lines []line) []byte {
	var out bytes.Buffer
	for _, l := range lines {
		text, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
	}
	return out.Bytes()
}

// object is a record's content with some of its fields.
type object map[string]json.RawMessage

func content(l line, kind string) object {
	raw, ok := l[kind]
	if !ok {
		return nil
	}
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		panic(err)
	}
	return o
}

func (o object) put(l line, kind string) {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	l[kind] = text
}

// mutate changes one thing about which name means what. It returns nothing where the export has too little to change.
func mutate(r *rand.Rand, text []byte) (mutant []byte, what string) {
	lines := readLines(text)
	if r.IntN(2) == 0 { // a version without a table of definitions
		lines[0] = line{"meta": json.RawMessage(`{"format":{"version":"3.1.0"},"lean":{"version":"4.99.0"}}`)}
	}
	of := func(kind string) (out []line) {
		for _, l := range lines {
			if _, ok := l[kind]; ok {
				out = append(out, l)
			}
		}
		return out
	}
	two := func(kind string) (a, b line) {
		all := of(kind)
		if len(all) < 2 {
			return nil, nil
		}
		i := r.IntN(len(all))
		j := (i + 1 + r.IntN(len(all)-1)) % len(all)
		return all[i], all[j]
	}
	exchange := func(kind, field string) ([]byte, string) {
		a, b := two(kind)
		if a == nil {
			return nil, ""
		}
		x, y := content(a, kind), content(b, kind)
		if bytes.Equal(x[field], y[field]) {
			return nil, ""
		}
		x[field], y[field] = y[field], x[field]
		x.put(a, kind)
		y.put(b, kind)
		return writeLines(lines), fmt.Sprintf("%s of two records %s exchanged: %s and %s", field, kind, x[field], y[field])
	}
	// alike are two definitions of one type: exchanging them is what a checker of types cannot see.
	alike := func() (a, b line) {
		byType := map[string][]line{}
		var groups []string
		for _, l := range of("def") {
			typ := string(content(l, "def")["type"])
			if byType[typ] = append(byType[typ], l); len(byType[typ]) == 2 {
				groups = append(groups, typ)
			}
		}
		if len(groups) == 0 {
			return nil, nil
		}
		group := byType[groups[r.IntN(len(groups))]]
		i := r.IntN(len(group))
		return group[i], group[(i+1+r.IntN(len(group)-1))%len(group)]
	}
	switch r.IntN(12) {
	case 7, 8: // names of two definitions of one type, everywhere
		a, b := alike()
		if a == nil {
			return nil, ""
		}
		var named [2]line
		for _, l := range of("str") {
			for i, d := range []line{a, b} {
				if bytes.Equal(l["in"], content(d, "def")["name"]) {
					named[i] = l
				}
			}
		}
		if named[0] == nil || named[1] == nil {
			return nil, ""
		}
		named[0]["str"], named[1]["str"] = named[1]["str"], named[0]["str"]
		return writeLines(lines), fmt.Sprintf("names of two definitions of one type exchanged: %s", named[0]["str"])
	case 9, 10: // values of two definitions of one type
		a, b := alike()
		if a == nil {
			return nil, ""
		}
		x, y := content(a, "def"), content(b, "def")
		x["value"] = y["value"]
		x.put(a, "def")
		return writeLines(lines), fmt.Sprintf("the definition %s has the value of %s", x["name"], y["name"])
	case 11:
		a, b := two("natVal")
		if a == nil {
			return nil, ""
		}
		a["natVal"] = b["natVal"]
		return writeLines(lines), fmt.Sprintf("a numeral is %s", a["natVal"])
	case 0:
		return exchange("def", "value")
	case 1:
		return exchange("def", "name")
	case 2:
		return exchange("str", "str") // names, everywhere
	case 3:
		return exchange("const", "name")
	case 4:
		return exchange("axiom", "type")
	case 5:
		return exchange("thm", "value")
	default: // one constant retargeted to a declared name
		all, names := of("const"), of("str")
		if len(all) == 0 {
			return nil, ""
		}
		l := all[r.IntN(len(all))]
		o := content(l, "const")
		o["name"] = names[r.IntN(len(names))]["in"]
		o.put(l, "const")
		return writeLines(lines), fmt.Sprintf("a constant retargeted to name %s", o["name"])
	}
}

// meaningOf is a hash of what a declaration states together with all it is made of: constants count by their declarations
// and not by their names, theorems and axioms by what they state, universe parameters by their position. It is computed
// apart from the checker's own.
func meaningOf(t *testing.T, text []byte, ask string) string {
	t.Helper()
	file, err := export.Read(context.Background(), bytes.NewReader(text), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	m := &meanings{store: file.Store, constants: map[term.Name]string{}, exprs: map[term.Expr]string{}}
	for i := range file.Declarations {
		d := &file.Declarations[i]
		m.declaration(d)
		if d.Kind == term.Inductive {
			for k := range d.Block.Types {
				if file.Store.NameString(d.Block.Types[k].Name) == ask {
					return m.expr(d.Block.Types[k].Type)
				}
			}
		} else if file.Store.NameString(d.Name) == ask {
			return m.expr(d.Type)
		}
	}
	return ""
}

type meanings struct {
	store     *term.Store
	constants map[term.Name]string
	exprs     map[term.Expr]string
	params    []term.Name // universe parameters of the declaration at hand
}

func hashed(parts ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", fmt.Sprint(parts...))))
	return string(sum[:])
}

func (m *meanings) declaration(d *term.Declaration) {
	clear(m.exprs) // universe parameters and the block's own constants mean something else in each declaration
	switch d.Kind {
	case term.Inductive:
		m.params = d.Block.Types[0].LevelParams
		var parts []any
		for i := range d.Block.Types {
			parts = append(parts, m.expr(d.Block.Types[i].Type))
		}
		for i := range d.Block.Constructors {
			parts = append(parts, m.expr(d.Block.Constructors[i].Type))
		}
		block := hashed(parts...)
		for i := range d.Block.Types {
			m.constants[d.Block.Types[i].Name] = hashed(block, "type", i)
		}
		for i := range d.Block.Constructors {
			m.constants[d.Block.Constructors[i].Name] = hashed(block, "constructor", i)
		}
		for i := range d.Block.Recursors {
			m.constants[d.Block.Recursors[i].Name] = hashed(block, "recursor", i)
		}
		clear(m.exprs)
	case term.Definition, term.Opaque:
		m.params = d.LevelParams
		m.constants[d.Name] = hashed(d.Kind, m.expr(d.Type), m.expr(d.Value))
	default:
		m.params = d.LevelParams
		m.constants[d.Name] = hashed(d.Kind, m.expr(d.Type))
	}
}

// level writes a level with its parameters by position.
func (m *meanings) level(l term.Level) string {
	n := m.store.LevelNode(l)
	switch n.Kind {
	case term.LevelZero:
		return "0"
	case term.LevelParam:
		return fmt.Sprint("p", slices.Index(m.params, term.Name(n.A)))
	case term.LevelSucc:
		return "s" + m.level(term.Level(n.A))
	default:
		return fmt.Sprintf("(%d %s %s)", n.Kind, m.level(term.Level(n.A)), m.level(term.Level(n.B)))
	}
}

func (m *meanings) expr(e term.Expr) string {
	if h, ok := m.exprs[e]; ok {
		return h
	}
	n := m.store.Node(e)
	parts := []any{n.Kind}
	switch n.Kind {
	case term.KindBVar:
		parts = append(parts, n.A)
	case term.KindSort:
		parts = append(parts, m.level(term.Level(n.A)))
	case term.KindConst:
		parts = append(parts, m.constants[term.Name(n.A)])
		for _, l := range m.store.LevelsOf(term.Levels(n.B)) {
			parts = append(parts, " ", m.level(l))
		}
	case term.KindNat:
		parts = append(parts, m.store.NatValue(e))
	case term.KindStr:
		parts = append(parts, m.store.StrValue(e))
	case term.KindProj:
		parts = append(parts, m.constants[term.Name(n.A)], n.B)
	}
	children, count := n.Children()
	for _, c := range children[:count] {
		parts = append(parts, "/", m.expr(c))
	}
	h := hashed(parts...)
	m.exprs[e] = h
	return h
}
