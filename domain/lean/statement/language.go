package statement

import (
	"errors"

	"reckon/domain/lean/export"
	"reckon/domain/lean/term"
)

// Language prints the statements of one file in Lean's notation and reads them back. It is not safe for concurrent use.
type Language struct {
	*Names
	file           *export.File
	isLeanConstant func(term.Name) bool
	params         map[term.Name][]term.Name // universe parameters of the declared names
	notation       notation
	arena          *arena
	copied         map[uint32]exprID
}

// MaxBytes bounds the text of one statement.
const MaxBytes = 64 << 10

// maxDepth bounds how deep expressions may be nested.
const maxDepth = 10_000

// The errors of Statement and Expression.
var (
	ErrTooLong    = errors.New("the statement is too long to be printed")
	ErrUnreadable = errors.New("the printed statement does not read back")
	errUndeclared = errors.New("the name is not declared")
)

// tooLong is the panic of printing and reading beyond a bound; render recovers it.
type tooLong struct{}

// New returns the language of a file. known reports whether a constant is Lean's own; only those are printed with
// notation.
func New(file *export.File, names *Names, known func(term.Name) bool) *Language {
	l := &Language{Names: names, file: file, isLeanConstant: known, params: map[term.Name][]term.Name{}, arena: newArena(), copied: map[uint32]exprID{}}
	for i := range file.Declarations {
		forEachName(&file.Declarations[i], func(n term.Name, params []term.Name) {
			if _, ok := l.params[n]; !ok { // of a name declared twice, the first stands
				l.params[n] = params
			}
		})
	}
	l.resolveNotation()
	return l
}

// Statement renders the type a name is declared with.
func (l *Language) Statement(n term.Name) (string, error) {
	handle, found := l.file.WrittenType(n)
	if !found {
		return "", errUndeclared
	}
	return l.Expression(handle)
}

// Expression renders a closed expression of the file. The text reads back to that very expression: with the notation or,
// where that fails, fully explicit. The error is ErrTooLong or, which no expression is known to lead to, ErrUnreadable.
func (l *Language) Expression(handle uint32) (string, error) {
	for _, explicit := range []bool{false, true} {
		text, ok, err := l.render(handle, explicit)
		if ok || err != nil {
			return text, err
		}
	}
	return "", ErrUnreadable
}

// render prints an expression and says whether it reads back.
func (l *Language) render(handle uint32, explicit bool) (text string, ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, bound := r.(tooLong); !bound {
				panic(r)
			}
			text, ok, err = "", false, ErrTooLong
		}
	}()
	s := l.newSession()
	s.explicit = explicit
	whole, copied := s.importer.expr(handle)
	if !copied {
		return "", false, ErrTooLong
	}
	text = s.print(handle, whole)
	s.arena.stepsLeft = maxSteps // as many for reading as for printing
	back, readable := s.read(text)
	return text, readable == nil && back == whole, nil
}

// session is the state of printing and reading one statement. It empties and uses the arena of the language, so a language
// has one session at a time.
type session struct {
	*Language
	importer  importer
	constants map[term.Name]constantType
	heads     []builtHead
	explicit  bool
}

// maxKept is the largest number of entries of a map that is cleared and used again for the next statement.
const maxKept = 1 << 10

func (l *Language) newSession() *session {
	if len(l.arena.levels) > maxKept || len(l.arena.texts) > maxKept || len(l.arena.nodes) > 64*maxKept {
		l.arena = newArena()
	} else {
		l.arena.reset()
	}
	if len(l.copied) > maxKept {
		l.copied = map[uint32]exprID{}
	} else {
		clear(l.copied)
	}
	s := &session{Language: l, constants: map[term.Name]constantType{}, heads: make([]builtHead, len(l.notation.operators))}
	s.importer = importer{file: l.file, arena: l.arena, exprs: l.copied, levels: map[term.Level]levelID{}, nodesLeft: maxNodes / 2}
	return s
}
