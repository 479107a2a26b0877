package leansource

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"reckon/domain/lean/term"
)

// The index spaces of a file.
const (
	nameSpace = iota
	levelSpace
	exprSpace
)

func (f *File) put(line string) {
	f.line = append(append(f.line[:0], line...), '\n')
	f.flushLine()
}

// flushLine hands over a line; an error of the writer is reported by Close.
func (f *File) flushLine() {
	n, _ := f.out.Write(f.line)
	f.written += int64(n)
}

// index gives out the next index of a space.
func (f *File) index(space int) uint32 {
	i := f.next3[space]
	f.next3[space]++
	return i
}

// known is the index a handle has, if it was written.
func known(table *[]uint32, handle uint32) (uint32, bool) {
	if int(handle) >= len(*table) {
		grown := make([]uint32, int(handle)+int(handle)/2+64)
		copy(grown, *table)
		*table = grown
	}
	i := (*table)[handle]
	return i - 1, i != 0
}

func (f *File) name(n term.Name) uint32 {
	if n == term.Anonymous {
		return 0
	}
	if i, ok := known(&f.names, uint32(n)); ok {
		return i
	}
	pre := f.name(f.Store.NamePrefix(n))
	i := f.index(nameSpace)
	f.names[n] = i + 1
	text, numeric := f.Store.NameLast(n)
	if numeric {
		f.put(fmt.Sprintf(`{"in":%d,"num":{"i":%s,"pre":%d}}`, i, text, pre))
	} else {
		f.put(fmt.Sprintf(`{"in":%d,"str":{"pre":%d,"str":%s}}`, i, pre, jsonString(text)))
	}
	return i
}

func (f *File) writeLevel(l term.Level) uint32 {
	if l == term.Zero {
		return 0
	}
	if i, ok := known(&f.levels, uint32(l)); ok {
		return i
	}
	n := f.Store.LevelNode(l)
	var body string
	switch n.Kind {
	case term.LevelSucc:
		body = fmt.Sprintf(`"succ":%d`, f.writeLevel(term.Level(n.A)))
	case term.LevelMax:
		body = fmt.Sprintf(`"max":[%d,%d]`, f.writeLevel(term.Level(n.A)), f.writeLevel(term.Level(n.B)))
	case term.LevelIMax:
		body = fmt.Sprintf(`"imax":[%d,%d]`, f.writeLevel(term.Level(n.A)), f.writeLevel(term.Level(n.B)))
	case term.LevelParam:
		body = fmt.Sprintf(`"param":%d`, f.name(term.Name(n.A)))
	}
	i := f.index(levelSpace)
	f.levels[l] = i + 1
	f.put(fmt.Sprintf(`{"il":%d,%s}`, i, body))
	return i
}

// expression writes e and its parts where they are not written yet, and returns its index.
func (f *File) expression(e term.Expr) uint32 {
	if i, ok := known(&f.exprs, uint32(e)); ok {
		return i
	}
	n := f.Store.Node(e)
	var line []byte
	switch n.Kind {
	case term.KindApp:
		fn := f.expression(term.Expr(n.A))
		arg := f.expression(term.Expr(n.B))
		line = f.object(`{"app":{"arg":`, arg, `,"fn":`, fn, `},`)
	case term.KindLam, term.KindPi:
		typ := f.expression(term.Expr(n.A))
		body := f.expression(term.Expr(n.B))
		name := f.name(f.binders[int(e)%len(f.binders)])
		start := `{"lam":{"binderInfo":"default","body":`
		if n.Kind == term.KindPi {
			start = `{"forallE":{"binderInfo":"default","body":`
		}
		line = f.object(start, body, `,"name":`, name, `,"type":`, typ, `},`)
	case term.KindLet:
		typ, value, body := f.expression(term.Expr(n.A)), f.expression(term.Expr(n.B)), f.expression(term.Expr(n.C))
		line = f.object(`{"letE":{"body":`, body, `,"name":`, f.name(f.binders[0]), `,"nondep":false,"type":`, typ, `,"value":`, value, `},`)
	case term.KindProj:
		structure := f.expression(term.Expr(n.C))
		line = f.object(`{"proj":{"idx":`, n.B, `,"struct":`, structure, `,"typeName":`, f.name(term.Name(n.A)), `},`)
	case term.KindBVar:
		line = f.object(`{"bvar":`, n.A, `,`)
	case term.KindSort:
		line = f.object(`{"sort":`, f.writeLevel(term.Level(n.A)), `,`)
	case term.KindConst:
		var levels []string
		for _, l := range f.Store.LevelsOf(term.Levels(n.B)) {
			levels = append(levels, fmt.Sprint(f.writeLevel(l)))
		}
		line = f.object(`{"const":{"name":`, f.name(term.Name(n.A)), `,"us":[`+strings.Join(levels, ",")+`]},`)
	case term.KindNat:
		line = f.object(`{"natVal":"` + f.Store.NatValue(e).String() + `",`)
	case term.KindStr:
		line = f.object(`{"strVal":` + jsonString(f.Store.StrValue(e)) + `,`)
	default:
		panic("a free variable is no part of a declaration")
	}
	i := f.index(exprSpace)
	if _, ok := known(&f.exprs, uint32(e)); !ok {
		f.exprs[e] = i + 1
	}
	f.line = strconv.AppendUint(append(line, `"ie":`...), uint64(i), 10)
	f.line = append(f.line, '}', '\n')
	f.flushLine()
	return i
}

// object joins texts and numbers in the scratch line.
func (f *File) object(parts ...any) []byte {
	line := f.line[:0]
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			line = append(line, p...)
		case uint32:
			line = strconv.AppendUint(line, uint64(p), 10)
		}
	}
	return line
}

func jsonString(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(out)
}
