package job

import (
	"reflect"
	"slices"
)

// Kind names a kind of job. The set is closed when the process starts: it is
// the names of what runners/kinds lists.
type Kind string

// Declaration is what is known of a kind without running it. The API's
// description, its validation and the docs are made from declarations.
type Declaration struct {
	Name      Kind
	Summary   string // one sentence: what such a job does
	Fields    []Field
	Either    []string // fields of which exactly one is sent; empty: there is no such choice
	Waits     bool     // a submission may be held with wait_ms until the job has ended
	Publishes Publication
	Result    string // what the structured result holds
	// ResultType is the Go type that the structured result is the JSON of; nil: any JSON object.
	ResultType reflect.Type
	Refusals   []Refusal // why a submission may be refused, beside the reasons of every kind
	Example    string    // JSON of a submission that succeeds on every plan; empty: none stands for itself
}

// Field is a field of a submission that not every kind takes.
type Field struct {
	Name     string
	Type     FieldType
	Required bool // by its kind; two fields of which one is needed are not
	Doc      string
	Example  string // JSON
	// EmptyCode is the code of Refusals with which an empty text is refused; empty: as any other bad value is.
	EmptyCode string
	Pattern   string       // regular expression that a text matches whole; empty: any
	Least     *int64       // smallest integer; nil: any
	Most      int          // characters of a text, or entries of a list; 0: not said
	Shape     reflect.Type // Go type whose tags describe the members of an object; nil: any
}

// FieldType is what a field's JSON may be.
type FieldType string

// Types of fields.
const (
	Text    FieldType = "string"
	Integer FieldType = "integer" // of 64 bits
	UUID    FieldType = "UUID"    // in letters of either case
	Texts   FieldType = "array of strings"
	Object  FieldType = "object" // its members are the kind's own to check
)

// Publication is what a job writes outside its own stream once it has ended. The
// id is fixed when the slot is spent.
type Publication string

// Publications.
const (
	PublishesNothing     Publication = ""
	PublishesRun         Publication = "run"         // run.evaluated and its receipt, or why there is none
	PublishesCertificate Publication = "certificate" // certificate.issued
)

// Refusal is a problem that a submission of a kind may be answered with.
type Refusal struct {
	Code string // stable, as docs/errors.md lists it
	// Title and Help describe a code of this kind alone, answered with status 400.
	// Both are empty where the API has the code for other routes too.
	Title, Help string
}

// Declarations are the kinds of a process, in the order they are shown in.
type Declarations []Declaration

// Names lists the kinds.
func (d Declarations) Names() []string {
	names := make([]string, len(d))
	for i, kind := range d {
		names[i] = string(kind.Name)
	}
	return names
}

// Fields lists the fields of all kinds, each once, with the kinds that take it.
func (d Declarations) Fields() []FieldOfKinds {
	var fields []FieldOfKinds
	for _, kind := range d {
		for _, f := range kind.Fields {
			i := slices.IndexFunc(fields, func(known FieldOfKinds) bool { return known.Name == f.Name })
			if i < 0 {
				i = len(fields)
				fields = append(fields, FieldOfKinds{Field: f})
			}
			fields[i].Kinds = append(fields[i].Kinds, kind.Name)
		}
	}
	return fields
}

// FieldOfKinds is a field with the kinds that take it.
type FieldOfKinds struct {
	Field
	Kinds []Kind
}
