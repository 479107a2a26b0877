package attack

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// evaluator reduces closed terms by the declarations of a file and nothing else: no arithmetic, no caches, no types. It
// is what a checker's answers are compared with.
type evaluator struct {
	decls     map[string]*Decl
	ctors     map[string]*Decl // the block that declares a constructor
	params    map[string]int   // of a constructor's type
	recursors map[string]*Recursor
	fuel      int
}

// newEvaluator looks at the declarations of a file. Recursors are derived where the text of an export was not written yet.
func newEvaluator(decls []*Decl, fuel int) *evaluator {
	e := &evaluator{decls: map[string]*Decl{}, ctors: map[string]*Decl{}, params: map[string]int{}, recursors: map[string]*Recursor{}, fuel: fuel}
	for _, d := range decls {
		e.decls[d.Name] = d
		for _, t := range d.Types {
			for _, k := range t.Ctors {
				e.ctors[k.Name], e.params[k.Name] = d, len(t.Locals)
			}
		}
		if len(d.Types) > 0 && d.Recursors == nil {
			addRecursors(d)
		}
		for _, r := range d.Recursors {
			e.recursors[r.Name] = r
		}
	}
	return e
}

var errUnfinished = errors.New("reduction does not end within the steps given")

// outOfFuel says that a term has no value within the steps given.
type outOfFuel struct{}

// value returns the constructor that a closed term of an enumeration reduces to. Without one the term has no value:
// it is stuck, or reduction does not end.
func (e *evaluator) value(t *Term) (ctor string, err error) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(outOfFuel); !ok {
				panic(p)
			}
			err = errUnfinished
		}
	}()
	head, _ := spine(e.whnf(t))
	if head.kind == constTerm && e.ctors[head.name] != nil {
		return head.name, nil
	}
	return "", fmt.Errorf("reduction is stuck on %s", head.name)
}

func (e *evaluator) step() {
	if e.fuel--; e.fuel < 0 {
		panic(outOfFuel{})
	}
}

func (e *evaluator) whnf(t *Term) *Term {
	for {
		e.step()
		head, args := spine(t)
		switch head.kind {
		case lamTerm:
			if len(args) == 0 {
				return t
			}
			t = apply(substitution{head.local: args[0]}.applyTo(head.b), args[1:]...)
		case letTerm:
			t = apply(substitution{head.local: head.a}.applyTo(head.b), args...)
		case projTerm:
			field, ok := e.field(head)
			if !ok {
				return t
			}
			t = apply(field, args...)
		case constTerm:
			next, ok := e.unfold(head, args)
			if !ok {
				return t
			}
			t = next
		case natTerm:
			return natConstructor(head)
		case strTerm:
			t = e.expand(head.text)
		default:
			return t
		}
	}
}

func (e *evaluator) field(p *Term) (*Term, bool) {
	head, args := spine(e.whnf(p.a))
	if head.kind != constTerm || e.ctors[head.name] == nil {
		return nil, false
	}
	i := e.params[head.name] + p.index
	if i >= len(args) {
		return nil, false
	}
	return args[i], true
}

func (e *evaluator) unfold(head *Term, args []*Term) (*Term, bool) {
	if d := e.decls[head.name]; d != nil && (d.Kind == "def" || d.Kind == "theorem") {
		return apply(d.Value, args...), true
	}
	switch {
	case head.name == "Quot.lift" && len(args) >= 6: // of a mk: the function applied
		if mk, of := spine(e.whnf(args[5])); mk.name == "Quot.mk" && len(of) == 3 {
			return apply(apply(args[3], of[2]), args[6:]...), true
		}
	case head.name == "Lean.reduceBool" && len(args) == 1: // what checkers compute
		return args[0], true
	}
	r := e.recursors[head.name]
	if r == nil {
		return nil, false
	}
	first := r.NumParams + r.NumMotives + r.NumMinors
	if len(args) <= first+r.NumIndices {
		return nil, false
	}
	ctor, fields := spine(e.whnf(args[first+r.NumIndices]))
	for _, rule := range r.Rules {
		if ctor.kind == constTerm && ctor.name == rule.Ctor && len(fields) >= rule.Fields {
			value := apply(apply(rule.Value, args[:first]...), fields[len(fields)-rule.Fields:]...)
			return apply(value, args[first+r.NumIndices+1:]...), true
		}
	}
	return nil, false
}

func natConstructor(t *Term) *Term {
	n, err := strconv.Atoi(t.text)
	if err != nil || n == 0 {
		return constant("Nat.zero")
	}
	return apply(constant("Nat.succ"), natLiteral(strconv.Itoa(n-1)))
}

// makerOf is the function that literals of a file stand for: String.mk where it is String's constructor, as in old versions
// of Lean, and String.ofList otherwise.
func makerOf(decls map[string]*Decl) string {
	if d := decls["String"]; d != nil {
		for _, t := range d.Types {
			for _, k := range t.Ctors {
				if k.Name == "String.mk" {
					return k.Name
				}
			}
		}
	}
	return "String.ofList"
}

// expand writes a literal as the maker applied to its characters.
func (e *evaluator) expand(text string) *Term {
	maker := makerOf(e.decls)
	list := apply(constant("List.nil", nil), constant("Char"))
	runes := []rune(text)
	for i := len(runes) - 1; i >= 0; i-- {
		char := apply(constant("Char.ofNat"), natLiteral(strconv.Itoa(int(runes[i]))))
		list = apply(constant("List.cons", nil), constant("Char"), char, list)
	}
	return apply(constant(maker), list)
}

// String writes a term in the language of parse.go, for reports.
func (t *Term) String() string {
	switch t.kind {
	case localTerm:
		return t.local.name
	case looseTerm:
		return fmt.Sprintf("#%d", t.index)
	case sortTerm:
		return "Sort " + levelText(t.level)
	case constTerm:
		if len(t.levels) == 0 {
			return t.name
		}
		levels := make([]string, len(t.levels))
		for i, l := range t.levels {
			levels[i] = levelText(l)
		}
		return t.name + ".{" + strings.Join(levels, ", ") + "}"
	case appTerm:
		return "(" + t.a.String() + " " + t.b.String() + ")"
	case lamTerm:
		return "(fun (" + t.local.name + " : " + t.local.typ.String() + ") => " + t.b.String() + ")"
	case piTerm:
		return "(∀ (" + t.local.name + " : " + t.local.typ.String() + "), " + t.b.String() + ")"
	case letTerm:
		return "(let " + t.local.name + " : " + t.local.typ.String() + " := " + t.a.String() + "; " + t.b.String() + ")"
	case projTerm:
		return fmt.Sprintf("(proj %s %d %s)", t.name, t.index, t.a)
	case natTerm:
		return t.text
	default:
		return strconv.Quote(t.text)
	}
}

func levelText(l Level) string {
	n := 0
	for l != nil && l.kind == "succ" {
		l, n = l.a, n+1
	}
	switch {
	case l == nil:
		return strconv.Itoa(n)
	case l.kind == "param" && n == 0:
		return l.param
	case l.kind == "param":
		return fmt.Sprintf("(%s+%d)", l.param, n)
	}
	return fmt.Sprintf("((%s %s %s)+%d)", l.kind, levelText(l.a), levelText(l.b), n)
}

// String writes a declaration in the language of parse.go, for reports.
func (d *Decl) String() string {
	params := ""
	if len(d.Params) > 0 {
		params = ".{" + strings.Join(d.Params, ", ") + "}"
	}
	if d.Kind == "inductive" {
		text := ""
		for _, t := range d.Types {
			text += fmt.Sprintf("inductive %s%s : %s", t.Name, params, t.Type)
			for _, k := range t.Ctors {
				text += fmt.Sprintf(" | %s : %s", k.Name, k.Type)
			}
		}
		return text
	}
	text := fmt.Sprintf("%s %s%s : %s", d.Kind, d.Name, params, d.Type)
	if hints := d.Attrs["hints"]; hints != "" {
		text = "@[hints=" + hints + "] " + text
	}
	if d.Value != nil {
		text += " := " + d.Value.String()
	}
	return text
}
