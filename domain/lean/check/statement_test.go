package check

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/term"
)

// Statements are read back by a parser that knows nothing of the printer but its notation, and compared with the file.
func TestStatementsRoundTrip(t *testing.T) {
	count := 0
	for _, folder := range []string{"accept", "judge"} {
		for _, path := range leantest.Files(t, folder) {
			if strings.Contains(path, "3.0.0") {
				continue
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := export.Read(context.Background(), f, export.Limits{})
			_ = f.Close()
			if err != nil {
				t.Fatal(err)
			}
			p := newPrinter(file, fingerprints(file.Store, file.Declarations), loadShipped())
			for i := range file.Declarations {
				for _, n := range namesOf(&file.Declarations[i]) {
					text := p.statement(n)
					handle, _ := file.WrittenType(n)
					r := &reader{tokens: tokenize(text), printer: p}
					tree := r.expr(lowest)
					if r.failed || len(r.tokens) > 0 || !r.same(tree, handle, nil) {
						t.Errorf("%s: %s does not read back: %s (left: %v)", filepath.Base(path), file.Store.NameString(n), text, r.tokens)
						return
					}
					count++
				}
			}
		}
	}
	t.Logf("%d statements", count)
}

// tree is what the parser makes of a statement.
type tree struct {
	kind   string // name, number, nat_lit, string, sort, app, binder →, ∀, fun, let, ∃, op, ¬, proj
	text   string
	levels []*tree
	parts  []*tree
}

type reader struct {
	tokens  []string
	printer *printer
	failed  bool
}

// tokenize splits at white space and around punctuation. Names keep their dots, and a name's closing .{ its own token.
func tokenize(text string) []string {
	var out []string
	runes := []rune(text)
	for i := 0; i < len(runes); {
		start := i
		switch c := runes[i]; {
		case c == ' ':
			i++
			continue
		case c == '"':
			for i++; runes[i] != '"'; i++ {
				if runes[i] == '\\' {
					i++
				}
			}
			i++
		case strings.ContainsRune("(){}[]⦃⦄,;@¬∀∃→+-*^≤<=≠∧∨↔", c):
			i++
			if c == '=' && i < len(runes) && runes[i] == '>' {
				i++
			}
		case c == ':':
			i++
			if i < len(runes) && runes[i] == '=' {
				i++
			}
		default:
			for i < len(runes) && !strings.ContainsRune(" (){}[]⦃⦄,;@¬∀∃→+-*^≤<=≠∧∨↔:\"", runes[i]) {
				if runes[i] == '«' {
					for ; runes[i] != '»'; i++ {
						if runes[i] == '\\' {
							i++
						}
					}
				}
				if runes[i] == '.' && i+1 < len(runes) && runes[i+1] == '{' {
					break
				}
				i++
			}
			if i == start { // the dot of .{ or of a projection
				i++
			}
		}
		out = append(out, string(runes[start:i]))
	}
	return out
}

func (r *reader) peek() string {
	if len(r.tokens) == 0 {
		return ""
	}
	return r.tokens[0]
}

func (r *reader) next() string {
	token := r.peek()
	if len(r.tokens) > 0 {
		r.tokens = r.tokens[1:]
	}
	return token
}

func (r *reader) take(token string) {
	if r.next() != token {
		r.failed = true
	}
}

// infix is the operators by symbol, with the constants they stand for.
var infix = func() map[string]struct {
	operator
	name string
} {
	out := map[string]struct {
		operator
		name string
	}{}
	for _, table := range []map[string]operator{connectives, equalities} {
		for name, op := range table {
			out[op.symbol] = struct {
				operator
				name string
			}{op, name}
		}
	}
	for name, op := range arithmetic {
		out[op.symbol] = struct {
			operator
			name string
		}{op.operator, name}
	}
	return out
}()

// expr reads an expression that binds at least as strongly as level.
func (r *reader) expr(level int) *tree {
	if r.failed {
		return &tree{}
	}
	left := r.prefix(level)
	for !r.failed {
		if r.peek() == "→" && level <= arrow {
			r.next()
			left = &tree{kind: "→", parts: []*tree{left, r.expr(arrow)}}
			continue
		}
		op, ok := infix[r.peek()]
		if !ok || op.level < level {
			return left
		}
		r.next()
		left = &tree{kind: "op", text: op.name, parts: []*tree{left, r.expr(op.right)}}
	}
	return left
}

func (r *reader) prefix(level int) *tree {
	switch token := r.peek(); token {
	case "∀", "fun", "∃":
		r.next()
		return r.bound(token)
	case "let":
		r.next()
		name := r.next()
		r.take(":")
		typ := r.expr(lowest)
		r.take(":=")
		value := r.expr(lowest)
		r.take(";")
		return &tree{kind: "let", text: name, parts: []*tree{typ, value, r.expr(lowest)}}
	case "¬":
		r.next()
		return &tree{kind: "¬", parts: []*tree{r.expr(notLevel)}}
	case "Type", "Sort":
		r.next()
		sort := &tree{kind: "sort", text: token}
		if token == "Sort" || r.startsLevel() {
			sort.levels = []*tree{r.level(false)}
		}
		return sort
	case "nat_lit":
		r.next()
		return &tree{kind: "nat_lit", text: r.next()}
	}
	head := r.atom()
	for !r.failed && r.startsAtom() {
		head = &tree{kind: "app", parts: []*tree{head, r.atom()}}
	}
	return head
}

func (r *reader) bound(token string) *tree {
	type binder struct {
		names []string
		typ   *tree
		open  string
	}
	var binders []binder
	for strings.Contains("({[⦃", r.peek()) && r.peek() != "" {
		b := binder{open: r.next()}
		for r.peek() != ":" && !r.failed && r.peek() != "" {
			b.names = append(b.names, r.next())
		}
		r.take(":")
		b.typ = r.expr(lowest)
		r.next()
		binders = append(binders, b)
	}
	if token == "fun" {
		r.take("=>")
	} else {
		r.take(",")
	}
	body := r.expr(lowest)
	for i := len(binders) - 1; i >= 0; i-- {
		for j := len(binders[i].names) - 1; j >= 0; j-- {
			body = &tree{kind: token, text: binders[i].names[j], parts: []*tree{binders[i].typ, body}}
		}
	}
	return body
}

func (r *reader) startsAtom() bool {
	token := r.peek()
	if token == "(" || token == "@" {
		return true
	}
	first := []rune(token + " ")[0]
	return token != "fun" && token != "let" && token != "nat_lit" && token != "Sort" &&
		(unicode.IsLetter(first) || unicode.IsDigit(first) || first == '_' || first == '«' || first == '"' || first == '#')
}

func (r *reader) atom() *tree {
	token := r.next()
	var out *tree
	switch {
	case token == "(":
		out = r.expr(lowest)
		r.take(")")
	case token == "Prop":
		out = &tree{kind: "sort", text: token}
	case token == "Type":
		out = &tree{kind: "sort", text: token}
	case token == "@":
		out = &tree{kind: "name", text: r.next()}
	case strings.HasPrefix(token, `"`):
		out = &tree{kind: "string", text: token}
	case token != "" && unicode.IsDigit(rune(token[0])):
		out = &tree{kind: "number", text: token}
	default:
		out = &tree{kind: "name", text: token}
	}
	if r.peek() == "." && len(r.tokens) > 1 && r.tokens[1] == "{" {
		r.next()
		r.next()
		for !r.failed {
			out.levels = append(out.levels, r.level(true))
			if r.peek() != "," {
				break
			}
			r.next()
		}
		r.take("}")
	}
	for strings.HasPrefix(r.peek(), ".") && len(r.peek()) > 1 {
		out = &tree{kind: "proj", text: r.next()[1:], parts: []*tree{out}}
	}
	return out
}

func (r *reader) startsLevel() bool {
	token := r.peek()
	return token == "(" || token != "" && (unicode.IsLetter([]rune(token)[0]) || unicode.IsDigit(rune(token[0])) || token[0] == '_')
}

func (r *reader) level(full bool) *tree {
	token := r.next()
	var out *tree
	switch {
	case token == "(":
		out = r.level(true)
		r.take(")")
	case full && (token == "max" || token == "imax"):
		out = &tree{kind: token, parts: []*tree{r.level(false), r.level(false)}}
	default:
		out = &tree{kind: "name", text: token}
	}
	if full && r.peek() == "+" {
		r.next()
		out = &tree{kind: "+", text: r.next(), parts: []*tree{out}}
	}
	return out
}

// same compares a tree with the file. Arguments that notation leaves out are checked by the printer's own patterns
// only where they are fixed; where they follow from the operands, anything well-typed is right.
func (r *reader) same(t *tree, handle uint32, scope []string) bool {
	f := r.printer.file
	w := f.Written(handle)
	under := func(name string) []string { return append(scope[:len(scope):len(scope)], name) }
	switch t.kind {
	case "name":
		for i := len(scope) - 1; i >= 0; i-- {
			if scope[i] == t.text {
				return w.Kind == term.KindBVar && int(w.A) == len(scope)-1-i && t.levels == nil
			}
			if name, field, ok := strings.Cut(t.text, "."); ok && scope[i] == name {
				// x.1.2 reads as one token; x is bound, so these are projections
				inner := &tree{kind: "name", text: name}
				for _, part := range strings.Split(field, ".") {
					inner = &tree{kind: "proj", text: part, parts: []*tree{inner}}
				}
				return r.same(inner, handle, scope)
			}
		}
		return w.Kind == term.KindConst && r.printer.constantName(term.Name(w.A)) == t.text && r.sameLevels(t.levels, f.Store.LevelsOf(term.Levels(w.B)))
	case "sort":
		return w.Kind == term.KindSort && r.sameSort(t, term.Level(w.A))
	case "app":
		return w.Kind == term.KindApp && r.same(t.parts[0], w.A, scope) && r.same(t.parts[1], w.B, scope)
	case "→", "∀":
		name := t.text
		if t.kind == "→" {
			name = "_"
		}
		return w.Kind == term.KindPi && r.same(t.parts[0], w.A, scope) && r.same(t.parts[1], w.B, under(name))
	case "fun":
		return w.Kind == term.KindLam && r.same(t.parts[0], w.A, scope) && r.same(t.parts[1], w.B, under(t.text))
	case "let":
		return w.Kind == term.KindLet && r.same(t.parts[0], w.A, scope) && r.same(t.parts[1], w.B, scope) && r.same(t.parts[2], w.C, under(t.text))
	case "proj":
		return w.Kind == term.KindProj && strconv.Itoa(int(w.B)+1) == t.text && r.same(t.parts[0], w.C, scope)
	case "nat_lit":
		return w.Kind == term.KindNat && f.Store.NatValue(w.Expr).String() == t.text
	case "string":
		return w.Kind == term.KindStr && quote(f.Store.StrValue(w.Expr)) == t.text
	}
	head, args := spine(f, handle)
	if f.Written(head).Kind != term.KindConst {
		return false
	}
	name := f.Store.NameString(term.Name(f.Written(head).A))
	switch t.kind {
	case "¬":
		return name == "Not" && len(args) == 1 && r.same(t.parts[0], args[0], scope)
	case "∃":
		if name != "Exists" || len(args) != 2 || f.Written(args[1]).Kind != term.KindLam {
			return false
		}
		lambda := f.Written(args[1])
		return r.same(t.parts[0], lambda.A, scope) && r.same(t.parts[1], lambda.B, under(t.text))
	case "number":
		return name == "OfNat.ofNat" && len(args) == 3 && f.Written(args[1]).Kind == term.KindNat &&
			f.Store.NatValue(f.Written(args[1]).Expr).String() == t.text && r.printer.matches(args[2], "instOfNatNat "+t.text)
	case "op":
		if op, ok := arithmetic[name]; ok && !r.printer.matches(args[len(args)-3], op.instance) {
			return false
		}
		return name == t.text && r.same(t.parts[0], args[len(args)-2], scope) && r.same(t.parts[1], args[len(args)-1], scope)
	}
	return false
}

func spine(f *export.File, handle uint32) (head uint32, args []uint32) {
	for f.Written(handle).Kind == term.KindApp {
		args = append([]uint32{f.Written(handle).B}, args...)
		handle = f.Written(handle).A
	}
	return handle, args
}

func (r *reader) sameSort(t *tree, l term.Level) bool {
	s := r.printer.file.Store
	if t.text == "Prop" {
		return l == term.Zero
	}
	if t.text == "Type" {
		if s.LevelNode(l).Kind != term.LevelSucc {
			return false
		}
		l = term.Level(s.LevelNode(l).A)
		if len(t.levels) == 0 {
			return l == term.Zero
		}
	}
	return r.sameLevel(t.levels[0], l)
}

func (r *reader) sameLevels(trees []*tree, levels []term.Level) bool {
	if len(trees) != len(levels) {
		return false
	}
	for i := range trees {
		if !r.sameLevel(trees[i], levels[i]) {
			return false
		}
	}
	return true
}

func (r *reader) sameLevel(t *tree, l term.Level) bool {
	s := r.printer.file.Store
	n := s.LevelNode(l)
	switch t.kind {
	case "+":
		k, err := strconv.Atoi(t.text)
		for range k {
			if s.LevelNode(l).Kind != term.LevelSucc {
				return false
			}
			l = term.Level(s.LevelNode(l).A)
		}
		return err == nil && r.sameLevel(t.parts[0], l)
	case "max", "imax":
		want := map[string]term.LevelKind{"max": term.LevelMax, "imax": term.LevelIMax}[t.kind]
		return n.Kind == want && r.sameLevel(t.parts[0], term.Level(n.A)) && r.sameLevel(t.parts[1], term.Level(n.B))
	}
	if k, err := strconv.Atoi(t.text); err == nil {
		for range k {
			if s.LevelNode(l).Kind != term.LevelSucc {
				return false
			}
			l = term.Level(s.LevelNode(l).A)
		}
		return l == term.Zero
	}
	return n.Kind == term.LevelParam && r.printer.constantName(term.Name(n.A)) == t.text
}

func TestNamesThatAreNoIdentifiersAreQuoted(t *testing.T) {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	b.Line(`{"in":900,"str":{"pre":0,"str":"a b"}}`)
	b.Line(`{"in":901,"str":{"pre":900,"str":"c.d"}}`)
	b.Line(`{"axiom":{"name":901,"levelParams":[],"type":%d,"isUnsafe":false}}`, prop)
	b.Line(`{"ie":900,"const":{"name":901,"us":[]}}`)
	// the bound variable is called like the constant it stands beside
	b.Axiom("x", prop)
	b.Axiom("uses", b.Pi("x", prop, b.Pi("h", 900, b.Pi("k", b.BVar(1), b.Const("x")))))
	file, err := export.Read(context.Background(), strings.NewReader(b.Text()), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p := newPrinter(file, fingerprints(file.Store, file.Declarations), loadShipped())
	n, _ := file.Store.LookupDotted("uses")
	if got, want := p.statement(n), "∀ (x_1 : Prop), «a b».«c.d» → x_1 → x"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
