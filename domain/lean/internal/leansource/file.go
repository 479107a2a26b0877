package leansource

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"reckon/domain/lean/term"
)

// File is an export under construction. Store holds its expressions.
type File struct {
	Store *term.Store

	out     *bufio.Writer
	written int64
	line    []byte
	names   []uint32 // by handle: the index in the file, 0 when not written; Anonymous is 0
	levels  []uint32 // by handle: 1 + the index in the file
	exprs   []uint32 // by handle: 1 + the index in the file
	next3   [3]uint32
	binders []term.Name

	types     map[term.Name]*declaredType // inductive types, by name
	heights   map[term.Name]uint32        // of definitions, as Lean's exporter writes them
	recursors map[term.Name]term.Recursor
	highest   []uint32 // by expression: 1 + the largest height of a definition in it

	text   string
	at     int
	token  token
	scope  []bound
	depth  int
	params []string // universe parameters of the declaration
}

// LeanVersion is the version of Lean that the files name.
const LeanVersion = "4.29.1"

// New starts a file on w. Close ends it.
func New(w io.Writer) *File {
	f := &File{Store: term.NewStore(), out: bufio.NewWriterSize(w, 1<<16), types: map[term.Name]*declaredType{},
		heights: map[term.Name]uint32{}, recursors: map[term.Name]term.Recursor{}}
	for _, name := range []string{"a", "b", "x", "y", "h", "self", "motive", "inst"} {
		f.binders = append(f.binders, f.intern(name))
	}
	f.put(`{"meta":{"exporter":{"name":"reckon","version":"1"},"format":{"version":"3.1.0"},"lean":{"githash":"","version":"` + LeanVersion + `"}}}`)
	f.next3 = [3]uint32{1, 1, 0} // names and levels have an index 0 of their own
	return f
}

// Close writes what is still held back.
func (f *File) Close() error { return f.out.Flush() }

// Written is the number of bytes so far.
func (f *File) Written() int64 { return f.written }

// Write turns text into an export.
func Write(w io.Writer, text string) error {
	f := New(w)
	if err := f.Add(text); err != nil {
		return err
	}
	return f.Close()
}

var keywords = map[string]bool{"def": true, "abbrev": true, "irreducible": true, "theorem": true, "opaque": true, "axiom": true,
	"unsafe": true, "inductive": true, "mutual": true, "end": true, "quotients": true, "fun": true, "let": true, "share": true}

// Add writes the declarations of a text.
func (f *File) Add(text string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			failed, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = failed.error
		}
	}()
	f.text, f.at, f.scope, f.depth = text, 0, nil, 0
	f.next()
	for f.token.kind != endOfText {
		f.declaration()
	}
	return nil
}

func (f *File) declaration() {
	unsafe := f.accept("unsafe")
	keyword := f.word()
	switch keyword {
	case "quotients":
		f.quotients()
		return
	case "inductive":
		f.inductive(false)
		return
	case "mutual":
		f.inductive(true)
		return
	case "def", "abbrev", "irreducible", "theorem", "opaque", "axiom":
	default:
		f.fail("no declaration starts with %q", keyword)
	}
	name, params := f.declaredName()
	types, leave := f.telescope()
	f.expect(":")
	typ := f.close(term.KindPi, types, f.expr())
	var value term.Expr
	if keyword != "axiom" {
		f.expect(":=")
		value = f.close(term.KindLam, types, f.expr())
	}
	leave()
	f.declare(keyword, name, params, typ, value, unsafe)
}

// declaredName parses c.{u, v}.
func (f *File) declaredName() (term.Name, []term.Name) {
	name := f.intern(f.word())
	f.params = nil
	var params []term.Name
	if f.accept(".{") {
		for !f.accept("}") {
			f.params = append(f.params, f.word())
			params = append(params, f.intern(f.params[len(f.params)-1]))
			f.accept(",")
		}
	}
	return name, params
}

// telescope parses (x : T) (y z : U).
func (f *File) telescope() (types []term.Expr, leave func()) {
	var leaves []func()
	for f.is("(") {
		more, l := f.binder()
		types, leaves = append(types, more...), append(leaves, l)
	}
	return types, func() {
		for _, l := range slices.Backward(leaves) {
			l()
		}
	}
}

// Theorem and Definition declare what was built in the store.
func (f *File) Theorem(name term.Name, params []term.Name, typ, value term.Expr) {
	f.declare("theorem", name, params, typ, value, false)
}

func (f *File) Definition(name term.Name, params []term.Name, typ, value term.Expr) {
	f.declare("def", name, params, typ, value, false)
}

func (f *File) declare(keyword string, name term.Name, params []term.Name, typ, value term.Expr, unsafe bool) {
	n, ps, t := f.name(name), f.nameList(params), f.expression(typ)
	header := fmt.Sprintf(`"levelParams":%s,"name":%d`, ps, n)
	if keyword == "axiom" {
		f.put(fmt.Sprintf(`{"axiom":{"isUnsafe":%v,%s,"type":%d}}`, unsafe, header, t))
		return
	}
	v := f.expression(value)
	switch keyword {
	case "theorem":
		f.put(fmt.Sprintf(`{"thm":{"all":[%d],%s,"type":%d,"value":%d}}`, n, header, t, v))
	case "opaque":
		f.put(fmt.Sprintf(`{"opaque":{"all":[%d],"isUnsafe":%v,%s,"type":%d,"value":%d}}`, n, unsafe, header, t, v))
	default:
		hints := `"` + keyword + `"`
		switch keyword {
		case "def":
			height := f.height(value)
			f.heights[name] = height
			hints = fmt.Sprintf(`{"regular":%d}`, height)
		case "irreducible":
			hints = `"opaque"`
		}
		safety := "safe"
		if unsafe {
			safety = "unsafe"
		}
		f.put(fmt.Sprintf(`{"def":{"all":[%d],"hints":%s,%s,"safety":"%s","type":%d,"value":%d}}`, n, hints, header, safety, t, v))
	}
}

// quotients declares Quot and what belongs to it. Eq must be there.
func (f *File) quotients() {
	for _, q := range [][3]string{
		{"type", "Quot.{u}", `(α : Sort u) -> (α -> α -> Prop) -> Sort u`},
		{"ctor", "Quot.mk.{u}", `(α : Sort u) -> (r : α -> α -> Prop) -> α -> Quot.{u} α r`},
		{"lift", "Quot.lift.{u, v}", `(α : Sort u) -> (r : α -> α -> Prop) -> (β : Sort v) -> (f : α -> β) ->
			((a b : α) -> r a b -> Eq.{v} β (f a) (f b)) -> Quot.{u} α r -> β`},
		{"ind", "Quot.ind.{u}", `(α : Sort u) -> (r : α -> α -> Prop) -> (β : Quot.{u} α r -> Prop) ->
			((a : α) -> β (Quot.mk.{u} α r a)) -> (q : Quot.{u} α r) -> β q`},
	} {
		saved := *f
		f.text, f.at = q[1]+" "+q[2], 0
		f.next()
		name, params := f.declaredName()
		typ := f.expr()
		f.text, f.at, f.token = saved.text, saved.at, saved.token
		n, ps, t := f.name(name), f.nameList(params), f.expression(typ)
		f.put(fmt.Sprintf(`{"quot":{"kind":"%s","levelParams":%s,"name":%d,"type":%d}}`, q[0], ps, n, t))
	}
}

func (f *File) nameList(names []term.Name) string {
	items := make([]string, len(names))
	for i, n := range names {
		items[i] = fmt.Sprint(f.name(n))
	}
	return "[" + strings.Join(items, ",") + "]"
}

// height is one more than the largest height of a definition that e mentions.
func (f *File) height(e term.Expr) uint32 {
	if h, ok := known(&f.highest, uint32(e)); ok {
		return h
	}
	height := uint32(1)
	n := f.Store.Node(e)
	if n.Kind == term.KindConst {
		height = f.heights[term.Name(n.A)] + 1
	}
	children, count := n.Children()
	for _, child := range children[:count] {
		height = max(height, f.height(child))
	}
	if _, ok := known(&f.highest, uint32(e)); !ok {
		f.highest[e] = height + 1
	}
	return height
}

// Prelude is a part of Lean 4.29.1's Init.Prelude: Nat with its arithmetic, Decidable, characters and strings with all
// they are made of, so that literals stand for the real things. It was printed from an export; terms are Lean's.
//
//go:embed prelude.txt
var Prelude string
