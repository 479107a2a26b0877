package export

import "fmt"

// Class is the class of a fault for which a file cannot be read.
type Class string

// The classes of reading errors.
const (
	BadJSON        Class = "bad_json"        // a line is not a JSON object, or not UTF-8
	BlankLine      Class = "blank_line"      // a line is empty (one at the very end is tolerated)
	BadRecord      Class = "bad_record"      // a record lacks a field, has one of the wrong kind, or has two kinds
	UnknownRecord  Class = "unknown_record"  // a record of a kind the format does not have
	UndefinedIndex Class = "undefined_index" // a name, level or expression is used before it is defined
	RedefinedIndex Class = "redefined_index" // a name, level or expression is defined twice
	BadMeta        Class = "bad_meta"        // the first line is not a meta record
	FormatWindow   Class = "format_window"   // the format version is outside [3.1.0, 3.2.0)
	TooLarge       Class = "too_large"       // a bound on bytes, records or nesting is met
	Stopped        Class = "stopped"         // the caller cancelled
)

// Error says why a file cannot be read as an export.
type Error struct {
	Line    int // from 1
	Class   Class
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s: %s", e.Line, e.Class, e.Message) }

func fail(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...)}
}
