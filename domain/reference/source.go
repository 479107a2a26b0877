package reference

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"reckon/domain/expression"
)

// Bounds of what is read of a source.
const (
	MaxFileBytes  = 1 << 20
	MaxLineBytes  = 4 << 10
	MaxEntries    = 2_000 // of a file
	MaxUsages     = 20    // of an entry, and as many notes
	MaxExamples   = 30    // of an entry
	MaxListed     = 60    // words of tags, elsewhere, see and symbols
	minOfSymbol   = 2     // examples
	maxInputBytes = 4 << 10
)

// Kind tells entries apart.
type Kind string

// The kinds of entry.
const (
	Function Kind = "function" // a symbol of the language
	Task     Kind = "task"     // a how-to that names symbols
)

// Entry is one entry of the source.
type Entry struct {
	Name      string // of the symbol; of a task what one wants to do, in small letters
	Kind      Kind
	Summary   string // one sentence
	Usage     []Usage
	Tags      []string
	Elsewhere []string // what people of other systems type
	See       []string // other symbols
	Symbols   []string // of a task: what it is done with
	Notes     []string
	Examples  []Example
	Place     Place
}

// Usage is a form in which a symbol is called.
type Usage struct {
	Form  string // Sin[z]
	About string // what it gives
}

// Example is an input, and what is right for it.
type Example struct {
	Input string // an expression, or the request that submits a job
	Right Right
	Place Place
}

// Way is the way of comparing an answer with the right one.
type Way string

// The ways to compare.
const (
	ByValue   Way = "value"   // the same expression, or one that the checker proves equal
	ByPlot    Way = "plot"    // a picture that is not empty
	ByMessage Way = "message" // a message of that name, and the value if there is one
	ByText    Way = "text"    // this text exactly: the result, or what was printed
	ByJob     Way = "job"     // these members of the job's result
)

// Right is the right answer of an example, by mathematics or the documented behaviour of the language.
type Right struct {
	Way       Way
	Text      string           // as written: the expression, the message's name, the text, the members of a job's result
	Value     *expression.Expr // of ByValue, and of ByMessage where one is given
	Tolerance *big.Rat         // relative difference of numbers; nil: none
	AnyOrder  bool             // of the elements of the outer list
	Checked   bool             // the independent checker must verify the answer
	Source    string           // where it comes from
}

// Place is a line of a file of the source.
type Place struct {
	File string
	Line int // from 1
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// SourceError is a mistake in a file of the source.
type SourceError struct {
	Place   Place
	Message string
}

func (e *SourceError) Error() string { return e.Place.String() + ": " + e.Message }

// IsTaskFile tells whether a file holds tasks: its name begins with tasks-.
func IsTaskFile(file string) bool {
	return strings.HasPrefix(file[strings.LastIndexByte(file, '/')+1:], "tasks-")
}

// Parse reads a file of the source. It answers the entries it could read together with all mistakes it found, each a *SourceError.
func Parse(file, text string) ([]Entry, []error) {
	r := &reader{file: file, kind: Function}
	if IsTaskFile(file) {
		r.kind = Task
	}
	switch {
	case len(text) > MaxFileBytes:
		r.fail("the file has %d bytes, at most %d are read", len(text), MaxFileBytes)
		return nil, r.errors
	case !utf8.ValidString(text):
		r.fail("the file is not valid UTF-8")
		return nil, r.errors
	}
	for line := range strings.Lines(text) {
		r.line++
		r.read(strings.TrimRight(line, " \t\r\n"))
	}
	r.endEntry()
	return r.entries, r.errors
}

// reader reads one file.
type reader struct {
	file    string
	line    int
	kind    Kind
	entries []Entry
	errors  []error

	entry   *Entry   // that is being read; nil between entries
	example *Example // that has no right answer yet
	skip    bool     // to the next entry
}

func (r *reader) place() Place { return Place{r.file, r.line} }

func (r *reader) fail(format string, args ...any) { r.failAt(r.place(), format, args...) }

func (r *reader) failAt(at Place, format string, args ...any) {
	r.errors = append(r.errors, &SourceError{at, fmt.Sprintf(format, args...)})
}

func (r *reader) read(line string) {
	switch {
	case len(line) > MaxLineBytes:
		r.fail("the line has %d bytes, at most %d are read", len(line), MaxLineBytes)
	case strings.TrimSpace(line) == "":
		r.endEntry()
	case strings.HasPrefix(line, "# "):
		r.begin(strings.TrimSpace(line[2:]))
	case r.skip:
	case r.entry == nil:
		r.fail("an entry begins with a line `# name`")
		r.skip = true
	case strings.HasPrefix(line, ">> "), line == ">>":
		r.continueInput(strings.TrimPrefix(strings.TrimPrefix(line, ">>"), " "))
	case strings.HasPrefix(line, "> "):
		r.input(line[2:])
	case strings.HasPrefix(line, "= "):
		r.right(line[2:])
	default:
		r.field(line)
	}
}

var (
	symbolName = regexp.MustCompile(`^\$?[A-Z][A-Za-z0-9$]*$`)
	taskName   = regexp.MustCompile(`^[^\s#>=][^#\x00-\x1f]{2,79}$`)
)

// IsSymbol tells whether a text is the name of a symbol of the language.
func IsSymbol(name string) bool { return symbolName.MatchString(name) }

func (r *reader) begin(name string) {
	r.endEntry()
	r.skip = false
	switch {
	case len(r.entries) == MaxEntries:
		r.fail("more than %d entries", MaxEntries)
	case r.kind == Function && !IsSymbol(name):
		r.fail("%q is not the name of a symbol", name)
	case r.kind == Task && !taskName.MatchString(name):
		r.fail("%q is not the name of a task: 3 to 80 characters", name)
	default:
		r.entry = &Entry{Name: name, Kind: r.kind, Place: r.place()}
		return
	}
	r.skip = true
}

func (r *reader) endEntry() {
	if r.skip = false; r.entry == nil {
		return
	}
	e := r.entry
	r.entry = nil
	if r.example != nil {
		r.failAt(r.example.Place, "the example has no line `= value | source`")
		r.example = nil
	}
	switch {
	case e.Summary == "":
		r.failAt(e.Place, "%s has no summary", e.Name)
	case e.Kind == Function && len(e.Usage) == 0:
		r.failAt(e.Place, "%s has no usage", e.Name)
	case e.Kind == Task && len(e.Symbols) == 0:
		r.failAt(e.Place, "%s names no symbols", e.Name)
	case e.Kind == Function && len(e.Examples) < minOfSymbol:
		r.failAt(e.Place, "%s has %d examples, a symbol has at least %d", e.Name, len(e.Examples), minOfSymbol)
	case len(e.Examples) == 0:
		r.failAt(e.Place, "%s has no example", e.Name)
	default:
		r.entries = append(r.entries, *e)
	}
}

func (r *reader) field(line string) {
	if r.example != nil {
		r.fail("after `> input` stands `= value | source`")
		return
	}
	name, value, ok := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	if !ok || value == "" {
		r.fail("not `field: value`: %.60q", line)
		return
	}
	e := r.entry
	switch name {
	case "summary":
		r.once(&e.Summary, name, value)
	case "usage":
		r.usage(value)
	case "note":
		if e.Notes = append(e.Notes, value); len(e.Notes) > MaxUsages {
			r.fail("more than %d notes", MaxUsages)
		}
	case "tags":
		r.list(&e.Tags, strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ',' }))
	case "elsewhere":
		r.list(&e.Elsewhere, commas(value))
	case "see":
		r.list(&e.See, commas(value))
	case "symbols":
		r.list(&e.Symbols, commas(value))
	default:
		r.fail("an unknown field %q: there are summary, usage, tags, elsewhere, see, symbols and note", name)
	}
}

func (r *reader) once(field *string, name, value string) {
	if *field != "" {
		r.fail("a second %s", name)
		return
	}
	*field = value
}

func (r *reader) usage(value string) {
	form, about, ok := strings.Cut(value, " | ")
	form, about = strings.TrimSpace(form), strings.TrimSpace(about)
	switch {
	case r.entry.Kind == Task:
		r.fail("a task has symbols and no usage")
	case !ok || form == "" || about == "":
		r.fail("not `usage: form | what it gives`")
	case len(r.entry.Usage) == MaxUsages:
		r.fail("more than %d usages", MaxUsages)
	default:
		r.entry.Usage = append(r.entry.Usage, Usage{form, about})
	}
}

// list adds words, each once.
func (r *reader) list(to *[]string, words []string) {
	for _, word := range words {
		switch {
		case slices.Contains(*to, word):
			r.fail("%s stands there twice", word)
		case len(*to) == MaxListed:
			r.fail("more than %d words", MaxListed)
			return
		default:
			*to = append(*to, word)
		}
	}
}

func commas(value string) []string {
	var words []string
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func (r *reader) input(text string) {
	switch {
	case r.example != nil:
		r.fail("the example before has no line `= value | source`")
	case len(r.entry.Examples) == MaxExamples:
		r.fail("more than %d examples", MaxExamples)
	}
	r.example = &Example{Input: strings.TrimSpace(text), Place: r.place()}
}

func (r *reader) continueInput(text string) {
	if r.example == nil {
		r.fail("`>>` continues an input, and there is none before it")
		return
	}
	if r.example.Input += "\n" + text; len(r.example.Input) > maxInputBytes {
		r.fail("the input has more than %d bytes", maxInputBytes)
	}
}

func (r *reader) right(text string) {
	if r.example == nil {
		r.fail("`= value` follows an input, and there is none before it")
		return
	}
	example := *r.example
	r.example = nil
	var err error
	if example.Right, err = parseRight(text); err != nil {
		r.fail("%v", err)
		return
	}
	if err := example.checkJob(); err != nil {
		r.failAt(example.Place, "%v", err)
		return
	}
	if _, err := expression.ParseAll(example.Input); err != nil && example.Right.Checked {
		r.failAt(example.Place, "the input cannot be read, so that nothing can check its answer: %v", err)
		return
	}
	r.entry.Examples = append(r.entry.Examples, example)
}
