package export

import "reckon/domain/lean/term"

// FormatWindowText is the range of format versions read.
const FormatWindowText = ">=3.1.0 <3.2.0"

// File is an export that was read. Nothing in it is checked.
type File struct {
	Store        *term.Store
	Declarations []term.Declaration
	Meta         Meta
	Bytes        int64  // as read
	SHA256       string // lower-case hex, of the file with CRLF line ends made LF and exactly one LF at the end
	Lines        int

	written []Written             // expressions as written, in the order of the file
	types   map[term.Name]ordinal // the written type of each declared name
	values  map[term.Name]ordinal // the written value of each definition and opaque constant
}

// Meta is the first line. Everything but the format version may be absent.
type Meta struct {
	ExporterName, ExporterVersion string
	LeanVersion, LeanGitHash      string
	FormatVersion                 string
}

type ordinal uint32

// Written is one expression with the names and annotations of binders, which package term leaves out. A, B and C are as
// in term.Node, except that expressions are handles for File.Written.
type Written struct {
	Expr    term.Expr
	A, B, C uint32
	Name    term.Name // of the binder
	Kind    term.Kind
	Binder  Binder
}

// Binder is the annotation of a binder.
type Binder uint8

// The annotations of binders.
const (
	Default Binder = iota
	Implicit
	StrictImplicit
	InstImplicit
)

// Written returns the expression with the given handle.
func (f *File) Written(handle uint32) Written { return f.written[handle] }

// WrittenType returns the handle of the type a name is declared with.
func (f *File) WrittenType(n term.Name) (handle uint32, ok bool) {
	o, ok := f.types[n]
	return uint32(o), ok
}

// WrittenValue returns the handle of the value that a definition or an opaque constant is declared with.
func (f *File) WrittenValue(n term.Name) (handle uint32, ok bool) {
	o, ok := f.values[n]
	return uint32(o), ok
}

// Limits bound reading. A zero field takes its default; a file beyond a limit is refused with TooLarge.
type Limits struct {
	Bytes      int64 // of the whole file; default 1 GiB
	LineBytes  int   // of one line; default 64 MiB
	Records    int   // lines; default 1<<26
	Depth      int   // nesting of JSON values; default 512
	DigitCount int   // of one numeric literal; default 1<<20
	Threads    int   // 1 to parse lines on the caller's goroutine; default two goroutines

	Room *term.Room // bounds the memory of the process; nil: no limit
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, def int) {
		if *v <= 0 {
			*v = def
		}
	}
	if l.Bytes <= 0 {
		l.Bytes = 1 << 30
	}
	set(&l.LineBytes, 64<<20)
	set(&l.Records, 1<<26)
	set(&l.Depth, 512)
	set(&l.DigitCount, 1<<20)
	return l
}

// Children are the handles of the immediate subexpressions of w.
func (w Written) Children() []uint32 {
	switch w.Kind {
	case term.KindApp, term.KindLam, term.KindPi:
		return []uint32{w.A, w.B}
	case term.KindLet:
		return []uint32{w.A, w.B, w.C}
	case term.KindProj:
		return []uint32{w.C}
	}
	return nil
}
