package job

import (
	"encoding/json"
	"reflect"
	"slices"

	"reckon/domain/event"
)

// Kind names a kind of job. The set is closed when the process starts: it is
// the names of what runners/kinds lists.
type Kind string

// Declaration describes a kind without running it. The API's
// description, its validation and the docs are made from declarations.
type Declaration struct {
	Name      Kind
	Summary   string // one sentence: what such a job does
	Fields    []Field
	Either    []string // fields of which exactly one is sent; empty: there is no such choice
	Waits     bool     // a submission may be held with wait_ms until the job has ended
	Publishes Publication
	// PayloadField is the field whose value a submission's payload is, a text or an object; empty: the payload is an object of fields.
	PayloadField string
	Result       string // what the structured result holds
	// ResultType is the Go type that the structured result is the JSON of; nil: any JSON object.
	ResultType reflect.Type
	Refusals   []Refusal // why a submission may be refused, beside the reasons of every kind
	Example    string    // JSON of a submission that succeeds on every plan; empty: none stands for itself
}

// payloadAsText is the field that Submitted gives a payload in which it finds no fields.
const payloadAsText = "payload"

// Submitted is the JSON of the fields that a job was submitted with: those of the payload, and the ids that stand beside it. A payload in which the declaration
// finds no fields, as one that an earlier declaration wrote, is the text of the field payload: whatever was accepted can be shown.
func (d Declaration) Submitted(s Submission, payload string) (json.RawMessage, error) {
	fields := map[string]any{}
	var own map[string]json.RawMessage
	isObject := json.Unmarshal([]byte(payload), &own) == nil && own != nil
	i := slices.IndexFunc(d.Fields, func(f Field) bool { return f.Name == d.PayloadField })
	switch {
	case d.PayloadField == "" && isObject:
		for name, value := range own {
			fields[name] = value
		}
	case d.PayloadField == "":
		fields[payloadAsText] = payload
	case i >= 0 && d.Fields[i].Type == Object && isObject:
		fields[d.PayloadField] = json.RawMessage(payload)
	default:
		fields[d.PayloadField] = payload
	}
	if s.SessionID != "" {
		fields["session_id"] = s.SessionID
	}
	if s.UploadID != "" {
		fields["upload_id"] = s.UploadID
	}
	if s.AboutRunID != 0 {
		fields["run_id"] = s.AboutRunID
	}
	return event.Marshal(fields)
}

// Of is the declaration of a kind.
func (d Declarations) Of(kind Kind) (Declaration, bool) {
	i := slices.IndexFunc(d, func(one Declaration) bool { return one.Name == kind })
	if i < 0 {
		return Declaration{}, false
	}
	return d[i], true
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

// FieldType is the JSON type of a field.
type FieldType string

// Types of fields.
const (
	Text    FieldType = "string"
	Integer FieldType = "integer" // of 64 bits
	UUID    FieldType = "UUID"    // in letters of either case
	Texts   FieldType = "array of strings"
	Object  FieldType = "object" // its members are the kind's own to check
)

// Publication is the record that an ended job writes outside its own stream. The
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
