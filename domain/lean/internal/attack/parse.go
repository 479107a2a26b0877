package attack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The language of the recipes. Everything is explicit: no implicit arguments, no elaboration.
//
//	axiom N.{u, v} : T
//	def N.{u} : T := t           also theorem, opaque
//	quot kind N.{u} : T
//	inductive N.{u} (x y : T) : T | N.c : T | N.d : T     the parameters are in scope of the constructors' types
//	mutual inductive … inductive … end
//	raw {…}                      one line of the export; «N» in it becomes the index of the name N
//
// An attribute list @[key, key=value] before a declaration sets: safety=unsafe|partial, hints=opaque|regular, unsafe,
// large (the recursor eliminates into every universe; default for types that are no propositions, and for propositions
// with at most one constructor that has no fields), norec (no recursor records), k=true|false, params=N, and any other
// key of an inductive record of types with its value.
//
// Terms: fun (x : T) => t, ∀ (x : T), t, A → B, let x : T := v; t, f a, Prop, Type l, Sort l, N.{l, m}, 5, "text",
// proj S 0 t (t atomic), #3 (a loose variable). Levels: 0, u, l+1, max l m, imax l m.
//
// Names: components joined by dots; «text» quotes one component, with Go's escapes; «#5» is the numeric component 5.

// parse reads declarations; it panics on what it cannot read, because recipes are fixed texts.
func parse(text string) []*Decl {
	p := &parser{tokens: lexer(text), scope: nil}
	var out []*Decl
	for p.peek() != "" {
		out = append(out, p.decl())
	}
	return out
}

type parser struct {
	tokens []string
	at     int
	scope  []*Local
}

func isNameRune(r rune) bool {
	return r == '_' || r == '\'' || r == '!' || r == '?' || unicode.IsLetter(r) && r != 'λ' || unicode.IsDigit(r)
}

// lexer splits a text into tokens. A name with its dots is one token; a literal keeps its quotation mark.
func lexer(text string) (out []string) {
	for i := 0; i < len(text); {
		rest := text[i:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r):
			i += size
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				return out
			}
			i += end
		case strings.HasPrefix(rest, "raw "):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			out = append(out, "raw", rest[4:end])
			i += end
		case r == '"':
			prefix, err := strconv.QuotedPrefix(rest)
			if err != nil {
				panic("text: " + rest)
			}
			out = append(out, prefix)
			i += len(prefix)
		case isNameRune(r) || r == '«':
			n := nameLength(rest)
			out = append(out, rest[:n])
			i += n
		default:
			token := string(r)
			for _, long := range []string{":=", "=>", ".{", "@["} {
				if strings.HasPrefix(rest, long) {
					token = long
				}
			}
			out = append(out, token)
			i += len(token)
		}
	}
	return out
}

// nameLength is the length of the name or number that text starts with.
func nameLength(text string) int {
	i := 0
	for {
		if strings.HasPrefix(text[i:], "«") {
			end := strings.Index(text[i:], "»")
			if end < 0 {
				panic("name: " + text)
			}
			i += end + len("»")
		} else {
			for _, r := range text[i:] {
				if !isNameRune(r) {
					break
				}
				i += utf8.RuneLen(r)
			}
		}
		if i+1 >= len(text) || text[i] != '.' {
			return i
		}
		next, _ := utf8.DecodeRuneInString(text[i+1:])
		if !isNameRune(next) && next != '«' {
			return i
		}
		i++
	}
}

func (p *parser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *parser) next() string {
	t := p.peek()
	p.at++
	return t
}

func (p *parser) accept(token string) bool {
	if p.peek() == token {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(token string) {
	if got := p.next(); got != token {
		panic(fmt.Sprintf("%q where %q is expected, after %v", got, token, p.tokens[max(0, p.at-12):p.at]))
	}
}

func (p *parser) decl() *Decl {
	d := &Decl{Attrs: map[string]string{}}
	if p.accept("@[") {
		for !p.accept("]") {
			key, value := p.next(), ""
			if p.accept("=") {
				value = p.next()
			}
			d.Attrs[key] = value
			p.accept(",")
		}
	}
	d.Kind = p.next()
	switch d.Kind {
	case "raw":
		d.Text = p.next()
		return d
	case "mutual":
		d.Kind = "inductive"
		for p.accept("inductive") {
			p.inductive(d)
		}
		p.expect("end")
	case "inductive":
		p.inductive(d)
	case "axiom", "def", "theorem", "opaque", "quot":
		if d.Kind == "quot" {
			d.Attrs["kind"] = p.next()
		}
		d.Name, d.Params = p.nameWithParams()
		p.expect(":")
		d.Type = p.term()
		if d.Kind != "axiom" && d.Kind != "quot" {
			p.expect(":=")
			d.Value = p.term()
		}
	default:
		panic("declaration: " + d.Kind)
	}
	return d
}

func (p *parser) nameWithParams() (name string, params []string) {
	name = p.next()
	if p.accept(".{") {
		for !p.accept("}") {
			params = append(params, p.next())
			p.accept(",")
		}
	}
	return name, params
}

func (p *parser) inductive(d *Decl) {
	name, params := p.nameWithParams()
	if d.Name == "" {
		d.Name, d.Params = name, params
	}
	t := &Inductive{Name: name, Locals: p.binders()}
	p.expect(":")
	t.Type = pis(t.Locals, p.term())
	for p.accept("|") {
		k := &Ctor{Name: p.next()}
		p.expect(":")
		k.Type = pis(t.Locals, p.term())
		t.Ctors = append(t.Ctors, k)
	}
	p.scope = p.scope[:len(p.scope)-len(t.Locals)]
	d.Types = append(d.Types, t)
}

// binders reads (x y : T) (z : U) … and leaves the variables in scope.
func (p *parser) binders() (out []*Local) {
	for p.accept("(") {
		var names []string
		for p.peek() != ":" {
			names = append(names, p.next())
		}
		p.expect(":")
		typ := p.term()
		p.expect(")")
		for _, n := range names {
			l := &Local{n, typ}
			out = append(out, l)
			p.scope = append(p.scope, l)
		}
	}
	return out
}

func (p *parser) term() *Term {
	scope := len(p.scope)
	defer func() { p.scope = p.scope[:scope] }()
	switch p.peek() {
	case "fun":
		p.next()
		locals := p.binders()
		p.expect("=>")
		return lams(locals, p.term())
	case "∀":
		p.next()
		locals := p.binders()
		p.expect(",")
		return pis(locals, p.term())
	case "let":
		p.next()
		l := &Local{name: p.next()}
		p.expect(":")
		l.typ = p.term()
		p.expect(":=")
		value := p.term()
		p.expect(";")
		p.scope = append(p.scope, l)
		return &Term{kind: letTerm, local: l, a: value, b: p.term()}
	}
	t := p.application()
	if p.accept("→") {
		return arrow(t, p.term())
	}
	return t
}

func (p *parser) application() *Term {
	t := p.atom()
	if t == nil {
		panic(fmt.Sprintf("no term at %q, after %v", p.peek(), p.tokens[max(0, p.at-12):p.at]))
	}
	for {
		arg := p.atom()
		if arg == nil {
			return t
		}
		t = apply(t, arg)
	}
}

var keywords = []string{"", "axiom", "def", "theorem", "opaque", "quot", "inductive", "mutual", "end", "raw", "fun", "let"}

// atom reads an argument, or nothing.
func (p *parser) atom() *Term {
	token := p.peek()
	if slices.Contains(keywords, token) {
		return nil
	}
	switch token {
	case "(":
		p.next()
		t := p.term()
		p.expect(")")
		return t
	case "#":
		p.next()
		n, _ := strconv.Atoi(p.next())
		return &Term{kind: looseTerm, index: n}
	case "Prop":
		p.next()
		return sort(nil)
	case "Type":
		p.next()
		if l, ok := p.levelAtom(); ok {
			return sort(succ(l))
		}
		return sort(succ(nil))
	case "Sort":
		p.next()
		l, ok := p.levelAtom()
		if !ok {
			panic("level")
		}
		return sort(l)
	case "proj":
		p.next()
		structure := p.next()
		i, err := strconv.Atoi(p.next())
		if err != nil {
			panic(err)
		}
		return projection(structure, i, p.atom())
	}
	first, _ := utf8.DecodeRuneInString(token)
	switch {
	case first == '"':
		p.next()
		text, _ := strconv.Unquote(token)
		return strLiteral(text)
	case unicode.IsDigit(first):
		p.next()
		return natLiteral(token)
	case isNameRune(first) || first == '«':
		p.next()
		for i := len(p.scope) - 1; i >= 0; i-- {
			if p.scope[i].name == token {
				return variable(p.scope[i])
			}
		}
		c := constant(token)
		if p.accept(".{") {
			for !p.accept("}") {
				c.levels = append(c.levels, p.level())
				p.accept(",")
			}
		}
		return c
	}
	return nil
}

func (p *parser) level() Level {
	var l Level
	switch token := p.peek(); token {
	case "max", "imax":
		p.next()
		a, _ := p.levelAtom()
		b, _ := p.levelAtom()
		l = &levelNode{kind: token, a: a, b: b}
	default:
		l, _ = p.levelAtom()
	}
	for p.accept("+") {
		n, _ := strconv.Atoi(p.next())
		for range n {
			l = succ(l)
		}
	}
	return l
}

func (p *parser) levelAtom() (Level, bool) {
	token := p.peek()
	if token == "(" {
		p.next()
		l := p.level()
		p.expect(")")
		return l, true
	}
	if token == "" || slices.Contains(keywords, token) {
		return nil, false
	}
	if n, err := strconv.Atoi(token); err == nil {
		p.next()
		var l Level
		for range n {
			l = succ(l)
		}
		return l, true
	}
	if first, _ := utf8.DecodeRuneInString(token); (isNameRune(first) || first == '«') && !p.isLocal(token) {
		p.next()
		return levelParam(token), true
	}
	return nil, false
}

func (p *parser) isLocal(name string) bool {
	return slices.ContainsFunc(p.scope, func(l *Local) bool { return l.name == name })
}
