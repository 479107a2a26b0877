package export

import (
	"math"

	"reckon/domain/lean/term"
)

// declared is a declaring record with its indices not yet looked up.
type declared struct {
	name, typ, value uint64
	levelParams, all []uint64
	hint             term.Hint
	safety           string
	unsafe           bool
	quotKind         term.QuotKind
}

// declarationFields are the fields of each kind of declaration.
var declarationFields = map[recordKind][]string{
	axiomRecord:  {"name", "levelParams", "type", "isUnsafe"},
	defRecord:    {"name", "levelParams", "type", "value", "all", "hints", "safety"},
	thmRecord:    {"name", "levelParams", "type", "value", "all"},
	opaqueRecord: {"name", "levelParams", "type", "value", "all", "isUnsafe"},
	quotRecord:   {"name", "levelParams", "type", "kind"},
}

func (d *parser) readDeclaration() *Error {
	fields := declarationFields[d.kind]
	if d.declaration == nil {
		d.declaration = &declared{}
	}
	r := d.declaration
	*r = declared{levelParams: emptied(r.levelParams), all: emptied(r.all)}
	return d.object(fields, func(field int) (err *Error) {
		switch fields[field] {
		case "name":
			return d.number(&r.name)
		case "levelParams":
			r.levelParams, err = d.numbers(r.levelParams)
		case "type":
			return d.number(&r.typ)
		case "value":
			return d.number(&r.value)
		case "all":
			r.all, err = d.numbers(r.all)
		case "isUnsafe":
			r.unsafe, err = d.scan.boolean()
		case "hints":
			r.hint, err = d.readHints()
		case "safety":
			r.safety, err = d.readOneOf("safe", "partial", "unsafe")
		case "kind":
			var kind string
			kind, err = d.readOneOf(string(term.QuotType), string(term.QuotCtor), string(term.QuotLift), string(term.QuotInd))
			r.quotKind = term.QuotKind(kind)
		}
		return err
	})
}

// readOneOf reads a string and refuses it unless it is one of the options.
func (d *parser) readOneOf(options ...string) (string, *Error) {
	text, err := d.scan.string()
	if err != nil {
		return "", err
	}
	for _, o := range options {
		if string(text) == o {
			return o, nil
		}
	}
	return "", fail(BadRecord, "%q is none of %v", text, options)
}

// readHints reads "opaque", "abbrev" or {"regular": height}. The height is checked for form and dropped: the kernel
// computes heights itself.
func (d *parser) readHints() (term.Hint, *Error) {
	if d.scan.peek() == '{' {
		var height uint64
		err := d.object([]string{"regular"}, func(int) *Error { return d.number(&height) })
		if err == nil && height > math.MaxUint32 {
			err = fail(BadRecord, "a height exceeds 32 bits")
		}
		return term.HintRegular, err
	}
	text, err := d.readOneOf("opaque", "abbrev")
	if text == "abbrev" {
		return term.HintAbbrev, err
	}
	return term.HintOpaque, err
}

func (d *decoder) nameList(indices []uint64) ([]term.Name, *Error) {
	if len(indices) == 0 {
		return nil, nil
	}
	out := make([]term.Name, len(indices))
	for i, index := range indices {
		n, err := d.name(index)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// declare adds the declaration of the record.
func (d *decoder) declare() *Error {
	r := d.declaration
	decl := term.Declaration{Line: d.file.Lines, Hint: r.hint, QuotKind: r.quotKind,
		Unsafe: r.unsafe || r.safety == "unsafe", Partial: r.safety == "partial"}
	var err *Error
	if decl.Name, err = d.name(r.name); err != nil {
		return err
	}
	if decl.LevelParams, err = d.nameList(r.levelParams); err != nil {
		return err
	}
	if _, err = d.nameList(r.all); err != nil {
		return err
	}
	typ, err := d.expr(r.typ)
	if err != nil {
		return err
	}
	decl.Type = d.exprAt(typ)
	switch d.kind {
	case axiomRecord:
		decl.Kind = term.Axiom
	case quotRecord:
		decl.Kind = term.Quotient
	case defRecord:
		decl.Kind = term.Definition
	case thmRecord:
		decl.Kind = term.Theorem
	case opaqueRecord:
		decl.Kind = term.Opaque
	}
	if decl.Kind == term.Definition || decl.Kind == term.Theorem || decl.Kind == term.Opaque {
		value, err := d.expr(r.value)
		if err != nil {
			return err
		}
		decl.Value = d.exprAt(value)
		if _, declared := d.file.types[decl.Name]; !declared && decl.Kind != term.Theorem {
			d.file.values[decl.Name] = value
		}
	}
	d.file.addDeclaration(decl)
	d.file.addType(decl.Name, typ)
	return nil
}

func (f *File) addDeclaration(d term.Declaration) { f.Declarations = append(f.Declarations, d) }

// addType records the written type of a name; of a name declared twice the first declaration counts, as in the kernel.
func (f *File) addType(n term.Name, typ ordinal) {
	if _, ok := f.types[n]; !ok {
		f.types[n] = typ
	}
}

// declaredBlock is an inductive record with its indices not yet looked up.
type declaredBlock struct {
	types []declaredType
	ctors []declaredCtor
	recs  []declaredRec
}

type declaredType struct {
	name, typ, numParams, numIndices, numNested uint64
	levelParams, all, ctors                     []uint64
	isRec, isUnsafe, isReflexive                bool
}

type declaredCtor struct {
	name, typ, induct, cidx, numParams, numFields uint64
	levelParams                                   []uint64
	isUnsafe                                      bool
}

type declaredRec struct {
	name, typ, numParams, numIndices, numMotives, numMinors uint64
	levelParams, all                                        []uint64
	rules                                                   []declaredRule
	k, isUnsafe                                             bool
}

type declaredRule struct{ ctor, nfields, rhs uint64 }

var (
	blockFields = []string{"types", "ctors", "recs"}
	typeFields  = []string{"name", "levelParams", "type", "numParams", "numIndices", "all", "ctors", "numNested", "isRec", "isUnsafe", "isReflexive"}
	ctorFields  = []string{"name", "levelParams", "type", "induct", "cidx", "numParams", "numFields", "isUnsafe"}
	recFields   = []string{"name", "levelParams", "type", "all", "numParams", "numIndices", "numMotives", "numMinors", "rules", "k", "isUnsafe"}
	ruleFields  = []string{"ctor", "nfields", "rhs"}
)

func (d *parser) readInductive() *Error {
	d.block = &declaredBlock{}
	return d.object(blockFields, func(field int) *Error {
		return d.scan.array(func() *Error {
			switch field {
			case 0:
				return d.readType()
			case 1:
				return d.readCtor()
			default:
				return d.readRec()
			}
		})
	})
}

func (d *parser) readType() *Error {
	var t declaredType
	err := d.object(typeFields, func(field int) (err *Error) {
		switch typeFields[field] {
		case "name":
			return d.number(&t.name)
		case "levelParams":
			t.levelParams, err = d.numbers(nil)
		case "type":
			return d.number(&t.typ)
		case "numParams":
			return d.number(&t.numParams)
		case "numIndices":
			return d.number(&t.numIndices)
		case "all":
			t.all, err = d.numbers(nil)
		case "ctors":
			t.ctors, err = d.numbers(nil)
		case "numNested":
			return d.number(&t.numNested)
		case "isRec":
			t.isRec, err = d.scan.boolean()
		case "isUnsafe":
			t.isUnsafe, err = d.scan.boolean()
		case "isReflexive":
			t.isReflexive, err = d.scan.boolean()
		}
		return err
	})
	d.block.types = append(d.block.types, t)
	return err
}

func (d *parser) readCtor() *Error {
	var k declaredCtor
	err := d.object(ctorFields, func(field int) (err *Error) {
		switch ctorFields[field] {
		case "name":
			return d.number(&k.name)
		case "levelParams":
			k.levelParams, err = d.numbers(nil)
		case "type":
			return d.number(&k.typ)
		case "induct":
			return d.number(&k.induct)
		case "cidx":
			return d.number(&k.cidx)
		case "numParams":
			return d.number(&k.numParams)
		case "numFields":
			return d.number(&k.numFields)
		case "isUnsafe":
			k.isUnsafe, err = d.scan.boolean()
		}
		return err
	})
	d.block.ctors = append(d.block.ctors, k)
	return err
}

func (d *parser) readRec() *Error {
	var r declaredRec
	err := d.object(recFields, func(field int) (err *Error) {
		switch recFields[field] {
		case "name":
			return d.number(&r.name)
		case "levelParams":
			r.levelParams, err = d.numbers(nil)
		case "type":
			return d.number(&r.typ)
		case "all":
			r.all, err = d.numbers(nil)
		case "numParams":
			return d.number(&r.numParams)
		case "numIndices":
			return d.number(&r.numIndices)
		case "numMotives":
			return d.number(&r.numMotives)
		case "numMinors":
			return d.number(&r.numMinors)
		case "rules":
			return d.scan.array(func() *Error {
				var rule declaredRule
				err := d.object(ruleFields, func(field int) *Error {
					return d.number([]*uint64{&rule.ctor, &rule.nfields, &rule.rhs}[field])
				})
				r.rules = append(r.rules, rule)
				return err
			})
		case "k":
			r.k, err = d.scan.boolean()
		case "isUnsafe":
			r.isUnsafe, err = d.scan.boolean()
		}
		return err
	})
	d.block.recs = append(d.block.recs, r)
	return err
}

// narrowCount converts a count to 32 bits, larger ones to 2^31 - 1, which no block has: the kernel refuses both alike.
func narrowCount(n uint64) uint32 { return clamp(n, math.MaxInt32) }

// declareBlock adds the declaration of an inductive record.
func (d *decoder) declareBlock() *Error {
	b := &term.Block{}
	for i := range d.block.types {
		t, err := d.inductiveType(&d.block.types[i])
		if err != nil {
			return err
		}
		b.Types = append(b.Types, t)
	}
	for i := range d.block.ctors {
		k, err := d.constructor(&d.block.ctors[i])
		if err != nil {
			return err
		}
		b.Constructors = append(b.Constructors, k)
	}
	for i := range d.block.recs {
		r, err := d.recursor(&d.block.recs[i])
		if err != nil {
			return err
		}
		b.Recursors = append(b.Recursors, r)
	}
	decl := term.Declaration{Kind: term.Inductive, Line: d.file.Lines, Block: b}
	if len(b.Types) > 0 {
		decl.Name = b.Types[0].Name
	}
	d.file.addDeclaration(decl)
	return nil
}

// header resolves the name, type and universe parameters that types, constructors and recursors all have.
func (d *decoder) header(name, typ uint64, levelParams []uint64) (n term.Name, e term.Expr, ps []term.Name, err *Error) {
	if n, err = d.name(name); err != nil {
		return n, e, ps, err
	}
	o, err := d.expr(typ)
	if err != nil {
		return n, e, ps, err
	}
	d.file.addType(n, o)
	ps, err = d.nameList(levelParams)
	return n, d.exprAt(o), ps, err
}

func (d *decoder) inductiveType(t *declaredType) (out term.InductiveType, err *Error) {
	if out.Name, out.Type, out.LevelParams, err = d.header(t.name, t.typ, t.levelParams); err != nil {
		return out, err
	}
	out.NumParams, out.NumIndices, out.NumNested = narrowCount(t.numParams), narrowCount(t.numIndices), narrowCount(t.numNested)
	out.IsRec, out.IsReflexive, out.Unsafe = t.isRec, t.isReflexive, t.isUnsafe
	if out.All, err = d.nameList(t.all); err != nil {
		return out, err
	}
	out.Constructors, err = d.nameList(t.ctors)
	return out, err
}

func (d *decoder) constructor(k *declaredCtor) (out term.Constructor, err *Error) {
	if out.Name, out.Type, out.LevelParams, err = d.header(k.name, k.typ, k.levelParams); err != nil {
		return out, err
	}
	out.Index, out.NumParams, out.NumFields, out.Unsafe = narrowCount(k.cidx), narrowCount(k.numParams), narrowCount(k.numFields), k.isUnsafe
	out.Inductive, err = d.name(k.induct)
	return out, err
}

func (d *decoder) recursor(r *declaredRec) (out term.Recursor, err *Error) {
	if out.Name, out.Type, out.LevelParams, err = d.header(r.name, r.typ, r.levelParams); err != nil {
		return out, err
	}
	out.NumParams, out.NumIndices = narrowCount(r.numParams), narrowCount(r.numIndices)
	out.NumMotives, out.NumMinors = narrowCount(r.numMotives), narrowCount(r.numMinors)
	out.K, out.Unsafe = r.k, r.isUnsafe
	if out.All, err = d.nameList(r.all); err != nil {
		return out, err
	}
	for _, rule := range r.rules {
		ctor, err := d.name(rule.ctor)
		if err != nil {
			return out, err
		}
		rhs, err := d.expr(rule.rhs)
		if err != nil {
			return out, err
		}
		out.Rules = append(out.Rules, term.Rule{Constructor: ctor, NumFields: narrowCount(rule.nfields), Value: d.exprAt(rhs)})
	}
	return out, nil
}
