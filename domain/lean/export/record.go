package export

import (
	"math"

	"reckon/domain/lean/term"
)

// recordKind is the kind of a line, given by its one key that is not an index.
type recordKind uint8

const (
	noRecord recordKind = iota
	metaRecord
	nameStr
	nameNum
	levelSucc
	levelMax
	levelIMax
	levelParam
	exprBVar
	exprSort
	exprConst
	exprApp
	exprLam
	exprPi
	exprLet
	exprProj
	exprNat
	exprStr
	exprMData
	axiomRecord
	defRecord
	thmRecord
	opaqueRecord
	quotRecord
	inductiveRecord
)

// indexSpace is an index space.
type indexSpace uint8

const (
	noIndex indexSpace = iota
	nameIndex
	levelIndex
	exprIndex
)

// spaceOf is the index space a kind of record defines an index of.
func (k recordKind) spaceOf() indexSpace {
	switch {
	case k == nameStr || k == nameNum:
		return nameIndex
	case k >= levelSucc && k <= levelParam:
		return levelIndex
	case k >= exprBVar && k <= exprMData:
		return exprIndex
	}
	return noIndex
}

func kindOfKey(key []byte) recordKind {
	switch string(key) {
	case "app":
		return exprApp
	case "lam":
		return exprLam
	case "forallE":
		return exprPi
	case "const":
		return exprConst
	case "bvar":
		return exprBVar
	case "sort":
		return exprSort
	case "letE":
		return exprLet
	case "proj":
		return exprProj
	case "natVal":
		return exprNat
	case "strVal":
		return exprStr
	case "mdata":
		return exprMData
	case "str":
		return nameStr
	case "num":
		return nameNum
	case "succ":
		return levelSucc
	case "max":
		return levelMax
	case "imax":
		return levelIMax
	case "param":
		return levelParam
	case "axiom":
		return axiomRecord
	case "def":
		return defRecord
	case "thm":
		return thmRecord
	case "opaque":
		return opaqueRecord
	case "quot":
		return quotRecord
	case "inductive":
		return inductiveRecord
	case "meta":
		return metaRecord
	}
	return noRecord
}

// record is one parsed line, its indices not yet resolved. Records are reused to save allocations.
type record struct {
	line  int   // of the file, from 1
	bytes int64 // of the file up to the end of the line
	err   *Error

	kind    recordKind
	space   indexSpace
	index   uint64
	a, b, c uint64
	list    []uint64 // levels of a constant
	text    string
	digits  []byte
	binder  Binder

	declaration *declared
	block       *declaredBlock
	meta        *Meta
}

// parser turns lines into records, each without regard to the others.
type parser struct {
	*record    // being read
	limits     Limits
	scan       scanner
	internText map[string]string // one copy of each string
}

// decoder resolves the indices of records in file order and adds what they define to the file.
type decoder struct {
	*record // being defined
	file    *File
	limits  Limits
	names   indexMap // to term.Name
	sizes   map[term.Name]nameSize
	levels  indexMap // to term.Level
	exprs   indexMap // to positions in file.written
}

// keptCapacity is the largest capacity of a slice that a record keeps when it is reused.
const keptCapacity = 64

// emptied returns s with length 0, or nil when its capacity is more than keptCapacity.
func emptied[T any](s []T) []T {
	if cap(s) > keptCapacity {
		return nil
	}
	return s[:0]
}

// readRecord reads the line into the record.
func (d *parser) readRecord() *Error {
	d.kind, d.space = noRecord, noIndex
	d.list, d.digits = emptied(d.list), emptied(d.digits)
	err := d.scan.object(func(key []byte) *Error {
		if sp := spaceOfKey(key); sp != noIndex {
			if d.space != noIndex {
				return fail(BadRecord, "a record has two indices")
			}
			d.space = sp
			return d.number(&d.index)
		}
		kind := kindOfKey(key)
		if kind == noRecord {
			return d.scan.skipValue()
		}
		if d.kind != noRecord {
			return fail(BadRecord, "a record is of two kinds")
		}
		d.kind = kind
		return d.readBody()
	})
	if err != nil {
		return err
	}
	if err := d.scan.expectEnd(); err != nil {
		return err
	}
	if d.kind == noRecord {
		return fail(UnknownRecord, "the record is of no kind the format has")
	}
	if d.space != d.kind.spaceOf() {
		return fail(BadRecord, "the record has no index of its kind, or one of another")
	}
	return nil
}

func spaceOfKey(key []byte) indexSpace {
	if len(key) == 2 && key[0] == 'i' {
		switch key[1] {
		case 'n':
			return nameIndex
		case 'l':
			return levelIndex
		case 'e':
			return exprIndex
		}
	}
	return noIndex
}

// fieldSet is the fields of an object seen so far.
type fieldSet uint32

// markSeen marks a field as seen and refuses a field seen before.
func (f *fieldSet) markSeen(bit uint) *Error {
	if *f&(1<<bit) != 0 {
		return fail(BadRecord, "a field is there twice")
	}
	*f |= 1 << bit
	return nil
}

// object reads an object whose fields must be those of the list, each once; others are skipped.
func (d *parser) object(fields []string, read func(field int) *Error) *Error {
	var seen fieldSet
	err := d.scan.object(func(key []byte) *Error {
		for i, name := range fields {
			if string(key) == name {
				if err := seen.markSeen(uint(i)); err != nil {
					return err
				}
				return read(i)
			}
		}
		return d.scan.skipValue()
	})
	if err != nil {
		return err
	}
	if want := fieldSet(1)<<len(fields) - 1; seen != want {
		for i, name := range fields {
			if seen&(1<<i) == 0 {
				return fail(BadRecord, "the field %q is missing", name)
			}
		}
	}
	return nil
}

func (d *parser) number(v *uint64) *Error {
	n, err := d.scan.number()
	*v = n
	return err
}

// numbers reads a list of natural numbers.
func (d *parser) numbers(out []uint64) ([]uint64, *Error) {
	out = out[:0]
	err := d.scan.array(func() *Error {
		n, err := d.scan.number()
		out = append(out, n)
		return err
	})
	return out, err
}

// string reads a string and keeps one copy of each distinct text.
func (d *parser) string() (string, *Error) {
	text, err := d.scan.string()
	if err != nil {
		return "", err
	}
	if kept, ok := d.internText[string(text)]; ok {
		return kept, nil
	}
	if d.internText == nil {
		d.internText = map[string]string{}
	}
	d.limits.Room.Require(len(text))
	kept := string(text)
	d.internText[kept] = kept
	return kept, nil
}

var (
	strFields   = []string{"pre", "str"}
	numFields   = []string{"pre", "i"}
	constFields = []string{"name", "us"}
	appFields   = []string{"fn", "arg"}
	binderField = []string{"name", "type", "body", "binderInfo"}
	letFields   = []string{"name", "type", "value", "body", "nondep"}
	projFields  = []string{"typeName", "idx", "struct"}
	mdataFields = []string{"expr", "data"}
)

// readBody reads the value of the key that gives the record its kind.
func (d *parser) readBody() *Error {
	switch d.kind {
	case levelSucc, levelParam, exprBVar, exprSort:
		return d.number(&d.a)
	case levelMax, levelIMax:
		return d.readPair()
	case exprApp:
		return d.object(appFields, func(field int) *Error { return d.number([]*uint64{&d.a, &d.b}[field]) })
	case exprLam, exprPi:
		return d.object(binderField, func(field int) *Error {
			switch field {
			case 0:
				return d.number(&d.c)
			case 1:
				return d.number(&d.a)
			case 2:
				return d.number(&d.b)
			}
			return d.readBinder()
		})
	case exprConst:
		return d.object(constFields, func(field int) (err *Error) {
			if field == 0 {
				return d.number(&d.a)
			}
			d.list, err = d.numbers(d.list)
			return err
		})
	case exprLet:
		return d.readLet()
	case exprProj:
		return d.object(projFields, func(field int) *Error { return d.number([]*uint64{&d.a, &d.b, &d.c}[field]) })
	case exprMData:
		return d.object(mdataFields, func(field int) *Error {
			if field == 0 {
				return d.number(&d.a)
			}
			return d.scan.skipValue()
		})
	case exprNat:
		return d.readDigitString()
	case exprStr:
		return d.readText()
	case nameStr:
		return d.object(strFields, func(field int) *Error {
			if field == 0 {
				return d.number(&d.a)
			}
			return d.readText()
		})
	case nameNum:
		return d.object(numFields, func(field int) *Error {
			if field == 0 {
				return d.number(&d.a)
			}
			digits, err := d.scan.digits()
			d.digits = append(d.digits, digits...)
			return err
		})
	case metaRecord:
		return d.readMetaBody()
	case inductiveRecord:
		return d.readInductive()
	default:
		return d.readDeclaration()
	}
}

func (d *parser) readText() (err *Error) {
	d.text, err = d.string()
	return err
}

func (d *parser) readPair() *Error {
	var err *Error
	if d.list, err = d.numbers(d.list); err != nil {
		return err
	}
	if len(d.list) != 2 {
		return fail(BadRecord, "expected two levels")
	}
	d.a, d.b = d.list[0], d.list[1]
	return nil
}

func (d *parser) readBinder() *Error {
	text, err := d.scan.string()
	if err != nil {
		return err
	}
	switch string(text) {
	case "default":
		d.binder = Default
	case "implicit":
		d.binder = Implicit
	case "strictImplicit":
		d.binder = StrictImplicit
	case "instImplicit":
		d.binder = InstImplicit
	default:
		return fail(BadRecord, "%q is no binderInfo", text)
	}
	return nil
}

func (d *parser) readLet() *Error {
	var name uint64
	err := d.object(letFields, func(field int) *Error {
		switch field {
		case 0:
			return d.number(&name)
		case 1:
			return d.number(&d.a)
		case 2:
			return d.number(&d.b)
		case 3:
			return d.number(&d.c)
		}
		_, err := d.scan.boolean()
		return err
	})
	d.list = append(d.list[:0], name)
	return err
}

// readDigitString reads a numeric literal: a string of decimal digits.
func (d *parser) readDigitString() *Error {
	text, err := d.scan.string()
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return fail(BadRecord, "a numeric literal has no digits")
	}
	if len(text) > d.limits.DigitCount {
		return fail(TooLarge, "a numeric literal has more than %d digits", d.limits.DigitCount)
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return fail(BadRecord, "a numeric literal is not decimal")
		}
	}
	d.digits = append(d.digits, text...)
	return nil
}

func (d *decoder) name(i uint64) (term.Name, *Error) {
	n, ok := d.names.get(i)
	if !ok {
		return 0, fail(UndefinedIndex, "the name %d is not defined", i)
	}
	return term.Name(n), nil
}

func (d *decoder) level(i uint64) (term.Level, *Error) {
	n, ok := d.levels.get(i)
	if !ok {
		return 0, fail(UndefinedIndex, "the level %d is not defined", i)
	}
	return term.Level(n), nil
}

func (d *decoder) expr(i uint64) (ordinal, *Error) {
	n, ok := d.exprs.get(i)
	if !ok {
		return 0, fail(UndefinedIndex, "the expression %d is not defined", i)
	}
	return ordinal(n), nil
}

// define enters what the record defines.
func (d *decoder) define() *Error {
	switch d.space {
	case nameIndex:
		return d.defineName()
	case levelIndex:
		return d.defineLevel()
	case exprIndex:
		return d.defineExpr()
	}
	switch d.kind {
	case metaRecord:
		return fail(BadMeta, "there is a second meta record")
	case inductiveRecord:
		return d.declareBlock()
	default:
		return d.declare()
	}
}

func (d *decoder) defineName() *Error {
	prefix, err := d.name(d.a)
	if err != nil {
		return err
	}
	if _, ok := d.names.get(d.index); ok {
		return fail(RedefinedIndex, "the name %d is defined twice", d.index)
	}
	size := d.sizes[prefix]
	size.components++
	size.bytes += len(d.text) + len(d.digits) + 1
	if size.components > maxNameComponents || size.bytes > MaxNameBytes {
		return fail(TooLarge, "a name has more than %d components or %d bytes", maxNameComponents, MaxNameBytes)
	}
	var n term.Name
	if d.kind == nameStr {
		n = d.file.Store.NameStr(prefix, d.text)
	} else {
		n = d.file.Store.NameNum(prefix, string(d.digits))
	}
	d.names.define(d.index, uint32(n))
	d.sizes[n] = size
	return nil
}

// Names are spelled out in reports, each whole: without bounds a file of names that are each one component longer than
// the one before would need text quadratic in its size.
const (
	maxNameComponents = 256
	// MaxNameBytes is the length of a name in UTF-8, its components joined by dots.
	MaxNameBytes = 16 << 10
)

// nameSize is the length of a name.
type nameSize struct{ components, bytes int }

func (d *decoder) defineLevel() *Error {
	s := d.file.Store
	var l term.Level
	switch d.kind {
	case levelParam:
		n, err := d.name(d.a)
		if err != nil {
			return err
		}
		l = s.Param(n)
	case levelSucc:
		a, err := d.level(d.a)
		if err != nil {
			return err
		}
		l = s.Succ(a)
	default:
		a, err := d.level(d.a)
		if err != nil {
			return err
		}
		b, err := d.level(d.b)
		if err != nil {
			return err
		}
		if d.kind == levelMax {
			l = s.Max(a, b)
		} else {
			l = s.IMax(a, b)
		}
	}
	if _, ok := d.levels.get(d.index); ok {
		return fail(RedefinedIndex, "the level %d is defined twice", d.index)
	}
	d.levels.define(d.index, uint32(l))
	return nil
}

func (d *decoder) defineExpr() *Error {
	if d.kind == exprMData {
		target, err := d.expr(d.a)
		if err != nil {
			return err
		}
		return d.enterExpr(target)
	}
	w, err := d.buildExpr()
	if err != nil {
		return err
	}
	if len(d.file.written) >= term.MaxExprs {
		return fail(TooLarge, "the file has too many expressions")
	}
	d.file.written = term.Append(d.limits.Room, d.file.written, w)
	return d.enterExpr(ordinal(len(d.file.written) - 1))
}

func (d *decoder) enterExpr(o ordinal) *Error {
	if _, ok := d.exprs.get(d.index); ok {
		return fail(RedefinedIndex, "the expression %d is defined twice", d.index)
	}
	d.exprs.define(d.index, uint32(o))
	return nil
}

func (d *decoder) buildExpr() (w Written, err *Error) {
	s := d.file.Store
	switch d.kind {
	case exprBVar:
		w.Kind, w.A = term.KindBVar, clamp(d.a, term.MaxBVar)
		w.Expr = s.BVar(w.A)
	case exprSort:
		l, err := d.level(d.a)
		if err != nil {
			return w, err
		}
		w.Kind, w.A, w.Expr = term.KindSort, uint32(l), s.Sort(l)
	case exprConst:
		n, err := d.name(d.a)
		if err != nil {
			return w, err
		}
		ls, err := d.levelList(d.list)
		if err != nil {
			return w, err
		}
		w.Kind, w.A, w.B, w.Expr = term.KindConst, uint32(n), uint32(ls), s.Const(n, ls)
	case exprApp:
		fn, arg, err := d.exprPair(d.a, d.b)
		if err != nil {
			return w, err
		}
		w.Kind, w.A, w.B, w.Expr = term.KindApp, uint32(fn), uint32(arg), s.App(d.exprAt(fn), d.exprAt(arg))
	case exprLam, exprPi:
		typ, body, err := d.exprPair(d.a, d.b)
		if err != nil {
			return w, err
		}
		if w.Name, err = d.name(d.c); err != nil {
			return w, err
		}
		w.A, w.B, w.Binder = uint32(typ), uint32(body), d.binder
		if d.kind == exprLam {
			w.Kind, w.Expr = term.KindLam, s.Lam(d.exprAt(typ), d.exprAt(body))
		} else {
			w.Kind, w.Expr = term.KindPi, s.Pi(d.exprAt(typ), d.exprAt(body))
		}
	case exprLet:
		typ, value, err := d.exprPair(d.a, d.b)
		if err != nil {
			return w, err
		}
		body, err := d.expr(d.c)
		if err != nil {
			return w, err
		}
		if w.Name, err = d.name(d.list[0]); err != nil {
			return w, err
		}
		w.Kind, w.A, w.B, w.C = term.KindLet, uint32(typ), uint32(value), uint32(body)
		w.Expr = s.Let(d.exprAt(typ), d.exprAt(value), d.exprAt(body))
	case exprProj:
		n, err := d.name(d.a)
		if err != nil {
			return w, err
		}
		e, err := d.expr(d.c)
		if err != nil {
			return w, err
		}
		w.Kind, w.A, w.B, w.C = term.KindProj, uint32(n), clamp(d.b, math.MaxUint32), uint32(e)
		w.Expr = s.Proj(n, w.B, d.exprAt(e))
	case exprNat:
		v, ok := decimal(string(d.digits))
		if !ok {
			return w, fail(BadRecord, "a numeric literal is not decimal")
		}
		w.Kind, w.Expr = term.KindNat, s.Nat(v)
	case exprStr:
		w.Kind, w.Expr = term.KindStr, s.Str(d.text)
	}
	return w, nil
}

// exprAt is the expression at a position.
func (d *decoder) exprAt(o ordinal) term.Expr { return d.file.written[o].Expr }

func (d *decoder) exprPair(a, b uint64) (x, y ordinal, err *Error) {
	if x, err = d.expr(a); err != nil {
		return x, y, err
	}
	y, err = d.expr(b)
	return x, y, err
}

func (d *decoder) levelList(indices []uint64) (term.Levels, *Error) {
	var buf [8]term.Level
	out := buf[:0]
	for _, i := range indices {
		l, err := d.level(i)
		if err != nil {
			return 0, err
		}
		out = append(out, l)
	}
	return d.file.Store.List(out), nil
}

func clamp(n, most uint64) uint32 { return uint32(min(n, most)) }
