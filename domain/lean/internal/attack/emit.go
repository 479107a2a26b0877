package attack

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"reckon/domain/lean/internal/leantest"
)

// header is an export's first line.
func header(version string) string {
	lean := fmt.Sprintf(`"lean":{"version":%s,"githash":""},`, quoted(version))
	if version == "-" {
		lean = ""
	}
	return fmt.Sprintf(`{"meta":{%s"format":{"version":"3.1.0"}}}`, lean)
}

// emit writes the file out as an export.
func (f *File) emit() *emitter {
	e := &emitter{Builder: leantest.NewBuilder(header(f.Version)),
		names: map[string]int{}, lines: map[string]int{}}
	for _, d := range f.Decls {
		e.decl(d)
	}
	return e
}

// with is the export with some declarations more, which the emitter forgets again.
func (e *emitter) with(extra []*Decl) string {
	more := &emitter{Builder: leantest.NewBuilder(strings.TrimSuffix(e.Text(), "\n")), names: maps.Clone(e.names), lines: maps.Clone(e.lines), next: e.next}
	for _, d := range extra {
		more.decl(d)
	}
	return more.Text()
}

// emitter writes declarations. Indices of its own lines start where the builder's stay below.
type emitter struct {
	*leantest.Builder
	names map[string]int
	lines map[string]int // index by what the line says: nothing is written twice
	next  int
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

const firstIndex = 1_000_000

// once writes a line with a new index, or finds the index of one that says the same.
func (e *emitter) once(space, body string) int {
	key := space + body
	if i, ok := e.lines[key]; ok {
		return i
	}
	e.next++
	i := firstIndex + e.next
	e.lines[key] = i
	e.Line("%s", fmt.Sprintf(`{"%s":%d,%s}`, space, i, body))
	return i
}

// components splits a spelled name; numeric components keep their #.
func components(spelled string) (out []string) {
	for spelled != "" {
		var part string
		if strings.HasPrefix(spelled, "«") {
			part, spelled, _ = strings.Cut(strings.TrimPrefix(spelled, "«"), "»")
			if !strings.HasPrefix(part, "#") {
				unquoted, err := strconv.Unquote(`"` + part + `"`)
				if err != nil {
					panic("name: " + part)
				}
				part = "=" + unquoted
			}
			spelled = strings.TrimPrefix(spelled, ".")
		} else {
			part, spelled, _ = strings.Cut(spelled, ".")
			part = "=" + part
		}
		out = append(out, part)
	}
	return out
}

func (e *emitter) name(spelled string) int {
	if i, ok := e.names[spelled]; ok {
		return i
	}
	i := 0
	for _, part := range components(spelled) {
		if part[0] == '#' {
			i = e.once("in", fmt.Sprintf(`"num":{"pre":%d,"i":%s}`, i, part[1:]))
		} else {
			i = e.once("in", fmt.Sprintf(`"str":{"pre":%d,"str":%s}`, i, quoted(part[1:])))
		}
	}
	e.names[spelled] = i
	return i
}

func (e *emitter) nameList(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Itoa(e.name(n))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (e *emitter) level(l Level) int {
	if l == nil {
		return 0
	}
	switch l.kind {
	case "succ":
		return e.once("il", fmt.Sprintf(`"succ":%d`, e.level(l.a)))
	case "param":
		return e.once("il", fmt.Sprintf(`"param":%d`, e.name(l.param)))
	default:
		return e.once("il", fmt.Sprintf(`"%s":[%d,%d]`, l.kind, e.level(l.a), e.level(l.b)))
	}
}

// expr writes a term below the given binders, innermost last. What it appends to scope is overwritten when it is done.
func (e *emitter) expr(t *Term, scope []*Local) int {
	switch t.kind {
	case localTerm:
		for i := len(scope) - 1; i >= 0; i-- {
			if scope[i] == t.local {
				return e.once("ie", fmt.Sprintf(`"bvar":%d`, len(scope)-1-i))
			}
		}
		panic("the variable " + t.local.name + " is out of its scope")
	case looseTerm:
		return e.once("ie", fmt.Sprintf(`"bvar":%d`, t.index))
	case sortTerm:
		return e.once("ie", fmt.Sprintf(`"sort":%d`, e.level(t.level)))
	case constTerm:
		levels := make([]string, len(t.levels))
		for i, l := range t.levels {
			levels[i] = strconv.Itoa(e.level(l))
		}
		return e.once("ie", fmt.Sprintf(`"const":{"name":%d,"us":[%s]}`, e.name(t.name), strings.Join(levels, ",")))
	case appTerm:
		return e.once("ie", fmt.Sprintf(`"app":{"fn":%d,"arg":%d}`, e.expr(t.a, scope), e.expr(t.b, scope)))
	case lamTerm, piTerm:
		kind := map[termKind]string{lamTerm: "lam", piTerm: "forallE"}[t.kind]
		typ := e.expr(t.local.typ, scope)
		body := e.expr(t.b, append(scope, t.local))
		annotation := t.annotation
		if annotation == "" {
			annotation = "default"
		}
		return e.once("ie", fmt.Sprintf(`"%s":{"name":%d,"type":%d,"body":%d,"binderInfo":"%s"}`, kind, e.name(t.local.name), typ, body, annotation))
	case letTerm:
		typ, value := e.expr(t.local.typ, scope), e.expr(t.a, scope)
		body := e.expr(t.b, append(scope, t.local))
		return e.once("ie", fmt.Sprintf(`"letE":{"name":%d,"type":%d,"value":%d,"body":%d,"nondep":false}`, e.name(t.local.name), typ, value, body))
	case projTerm:
		return e.once("ie", fmt.Sprintf(`"proj":{"typeName":%d,"idx":%d,"struct":%d}`, e.name(t.name), t.index, e.expr(t.a, scope)))
	case natTerm:
		return e.once("ie", fmt.Sprintf(`"natVal":"%s"`, t.text))
	default:
		return e.once("ie", `"strVal":`+quoted(t.text))
	}
}

func (e *emitter) closed(t *Term) int { return e.expr(t, nil) }

var quotedName = regexp.MustCompile(`«[^»]*»`)

func (e *emitter) decl(d *Decl) {
	switch d.Kind {
	case "raw":
		text := quotedName.ReplaceAllStringFunc(d.Text, func(m string) string {
			return strconv.Itoa(e.name(strings.Trim(m, "«»")))
		})
		e.Line("%s", text)
		return
	case "inductive":
		e.inductive(d)
		return
	}
	head := fmt.Sprintf(`"name":%d,"levelParams":%s,"type":%d`, e.name(d.Name), e.nameList(d.Params), e.closed(d.Type))
	value := ""
	if d.Value != nil {
		value = fmt.Sprintf(`,"value":%d,"all":[%d]`, e.closed(d.Value), e.name(d.or("all", d.Name)))
	}
	_, isUnsafe := d.Attrs["unsafe"]
	switch d.Kind {
	case "axiom":
		e.Line(`{"axiom":{%s,"isUnsafe":%v}}`, head, isUnsafe)
	case "theorem":
		e.Line(`{"thm":{%s%s}}`, head, value)
	case "opaque":
		e.Line(`{"opaque":{%s%s,"isUnsafe":%v}}`, head, value, isUnsafe)
	case "quot":
		e.Line(`{"quot":{%s,"kind":"%s"}}`, head, d.Attrs["kind"])
	default:
		hints, safety := `"abbrev"`, "safe"
		switch d.Attrs["hints"] {
		case "opaque":
			hints = `"opaque"`
		case "regular":
			hints = `{"regular":1}`
		}
		if s := d.Attrs["safety"]; s != "" {
			safety = s
		}
		e.Line(`{"def":{%s%s,"hints":%s,"safety":"%s"}}`, head, value, hints, safety)
	}
}

// or gives the value of an attribute, or what is true without one.
func (d *Decl) or(key, otherwise string) string {
	if v, ok := d.Attrs[key]; ok {
		return v
	}
	return otherwise
}

func (e *emitter) inductive(d *Decl) {
	var all, types, ctors, recs []string
	for _, t := range d.Types {
		all = append(all, t.Name)
	}
	inBlock := func(n string) bool {
		for _, a := range all {
			if a == n {
				return true
			}
		}
		return false
	}
	isRec, isReflexive := false, false
	for _, t := range d.Types {
		for _, k := range t.Ctors {
			for _, f := range fieldsOf(t, k, t.Locals) {
				if f.typ.mentions(inBlock) {
					isRec = true
					arguments, rest := telescope(f.typ)
					isReflexive = isReflexive || len(arguments) > 0 && rest.mentions(inBlock)
				}
			}
		}
	}
	_, isUnsafe := d.Attrs["unsafe"]
	params := d.or("params", strconv.Itoa(len(d.Types[0].Locals)))
	levels := e.nameList(d.Params)
	for _, t := range d.Types {
		indices, _ := telescope(instantiate(t.Type, len(t.Locals), variables(t.Locals)))
		var names []string
		for i, k := range t.Ctors {
			names = append(names, k.Name)
			ctors = append(ctors, fmt.Sprintf(`{"name":%d,"levelParams":%s,"type":%d,"induct":%d,"cidx":%d,"numParams":%s,"numFields":%d,"isUnsafe":%v}`,
				e.name(k.Name), levels, e.closed(k.Type), e.name(t.Name), i, params, len(fieldsOf(t, k, t.Locals)), isUnsafe))
		}
		types = append(types, fmt.Sprintf(`{"name":%d,"levelParams":%s,"type":%d,"numParams":%s,"numIndices":%s,"all":%s,"ctors":%s,"numNested":%s,"isRec":%s,"isUnsafe":%v,"isReflexive":%s}`,
			e.name(t.Name), levels, e.closed(t.Type), params, d.or("numIndices", strconv.Itoa(len(indices))), e.nameList(all), e.nameList(names),
			d.or("numNested", "0"), d.or("isRec", strconv.FormatBool(isRec)), isUnsafe, d.or("isReflexive", strconv.FormatBool(isReflexive))))
	}
	if _, without := d.Attrs["norec"]; !without && d.Recursors == nil {
		addRecursors(d)
	}
	for _, r := range d.Recursors {
		var rules []string
		for _, rule := range r.Rules {
			rules = append(rules, fmt.Sprintf(`{"ctor":%d,"nfields":%d,"rhs":%d}`, e.name(rule.Ctor), rule.Fields, e.closed(rule.Value)))
		}
		recs = append(recs, fmt.Sprintf(`{"name":%d,"levelParams":%s,"type":%d,"all":%s,"numParams":%d,"numIndices":%d,"numMotives":%d,"numMinors":%d,"rules":[%s],"k":%v,"isUnsafe":%v}`,
			e.name(r.Name), e.nameList(r.Params), e.closed(r.Type), e.nameList(all), r.NumParams, r.NumIndices, r.NumMotives, r.NumMinors,
			strings.Join(rules, ","), r.K, isUnsafe))
	}
	e.Line(`{"inductive":{"types":[%s],"ctors":[%s],"recs":[%s]}}`, strings.Join(types, ","), strings.Join(ctors, ","), strings.Join(recs, ","))
}
