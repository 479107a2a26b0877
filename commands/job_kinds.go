package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"reckon/domain/account"
	"reckon/domain/job"
)

// JobKind is a kind of job as it is submitted.
type JobKind struct {
	job.Declaration
	// Prepare refuses invalid requests, before a slot is spent, and fills in what the
	// kind knows of a submission that has its JobID, Account and TimeoutMS: the payload and the
	// ids of what the job is about. It may store blobs; it appends nothing.
	Prepare func(ctx context.Context, in Intent, r JobRequest, plan account.Plan, s *job.Submission) error
	// PrepareTimeout is the time that Prepare may take in addition to the timeout of a write; nil: none.
	PrepareTimeout func(r JobRequest) time.Duration
}

// JobKinds are the kinds that can be submitted; the first is the default.
type JobKinds []JobKind

// JobRequest is a job as submitted (interface §4.3): nothing is validated yet
// but the types of its fields.
type JobRequest struct {
	Kind           job.Kind // empty: the default
	TimeoutMS      *int64   // nil: as long as the plan allows
	WaitMS         *int64   // nil: not given; the caller waits
	IdempotencyKey string
	Fields         JobFields
}

// JobFields are the values of a request's fields that not every kind takes, by
// name: string, int64, []string or json.RawMessage, by the declared type.
type JobFields map[string]any

// Has tells whether a field was given.
func (f JobFields) Has(name string) bool {
	_, given := f[name]
	return given
}

// Text is a job.Text or job.UUID field; nil when it was not given.
func (f JobFields) Text(name string) *string { return valueOf[string](f, name) }

// Integer is a job.Integer field; nil when it was not given.
func (f JobFields) Integer(name string) *int64 { return valueOf[int64](f, name) }

// Texts is a job.Texts field; nil when it was not given.
func (f JobFields) Texts(name string) []string {
	list, _ := f[name].([]string)
	return list
}

// Object is a job.Object field; nil when it was not given.
func (f JobFields) Object(name string) json.RawMessage {
	object, _ := f[name].(json.RawMessage)
	return object
}

func valueOf[T any](f JobFields, name string) *T {
	value, given := f[name].(T)
	if !given {
		return nil
	}
	return &value
}

// UnknownJobKindError means that no job of this kind can be submitted here.
type UnknownJobKindError struct {
	Kind  job.Kind
	Known []string
}

func (e *UnknownJobKindError) Error() string {
	return fmt.Sprintf("there is no job kind %q here; the kinds are %s", shorten(string(e.Kind), 64), strings.Join(e.Known, ", "))
}

// JobFieldError means that one field of a request is missing, out of range, or
// does not go with its kind.
type JobFieldError struct{ Field, Problem string }

func (e *JobFieldError) Error() string { return e.Field + " " + e.Problem }

// JobRefusedError means that a kind refuses a submission by a code that its
// declaration lists.
type JobRefusedError struct {
	Code   string // as in job.Refusal
	Field  string // path of what is wrong, below the request
	Reason string // stable name of the reason within the code
	Detail string // the sentence for people
}

func (e *JobRefusedError) Error() string { return e.Detail }

// Declarations are the declarations of the kinds.
func (k JobKinds) Declarations() job.Declarations {
	declared := make(job.Declarations, len(k))
	for i, kind := range k {
		declared[i] = kind.Declaration
	}
	return declared
}

// ReadFields reads the fields of a request that not every kind takes; null is
// the same as not given. A value of another type is a *JobFieldError.
func (k JobKinds) ReadFields(members map[string]json.RawMessage) (JobFields, error) {
	fields := JobFields{}
	for _, f := range k.Declarations().Fields() {
		raw, given := members[f.Name]
		if !given || string(raw) == "null" {
			continue
		}
		value, err := readField(f.Type, raw)
		if err != nil {
			return nil, &JobFieldError{f.Name, "must be " + string(f.Type)}
		}
		fields[f.Name] = value
	}
	return fields, nil
}

func readField(t job.FieldType, raw json.RawMessage) (any, error) {
	switch t {
	case job.Text:
		return decoded[string](raw)
	case job.UUID:
		text, err := decoded[string](raw)
		return strings.ToLower(text), err
	case job.Integer:
		return decoded[int64](raw)
	case job.Texts:
		return decoded[[]string](raw)
	case job.Object:
		_, err := decoded[map[string]json.RawMessage](raw)
		return raw, err
	}
	return nil, fmt.Errorf("no field has the type %q", t)
}

func decoded[T any](raw json.RawMessage) (value T, err error) {
	err = json.Unmarshal(raw, &value)
	return value, err
}

// Command is the command of a request under a plan. Its Prepare refuses invalid
// requests, before a slot is spent.
func (k JobKinds) Command(r JobRequest, plan account.Plan) SubmitJob {
	kind := k.KindOf(r)
	c := SubmitJob{Submission: job.Submission{Kind: r.Kind, IdempotencyKey: r.IdempotencyKey}, Plan: plan}
	if r.TimeoutMS != nil {
		c.Submission.TimeoutMS = *r.TimeoutMS
	}
	if kind == nil {
		c.Prepare = func(context.Context, Intent, *job.Submission) error {
			return &UnknownJobKindError{Kind: r.Kind, Known: k.Declarations().Names()}
		}
		return c
	}
	c.Submission.Kind, c.Publishes = kind.Name, kind.Publishes
	c.Prepare = func(ctx context.Context, in Intent, s *job.Submission) error {
		if err := k.checkFields(kind, r); err != nil {
			return err
		}
		return kind.Prepare(ctx, in, r, plan, s)
	}
	return c
}

// KindOf returns the kind of a request; nil if none has that name.
func (k JobKinds) KindOf(r JobRequest) *JobKind {
	for i := range k {
		if k[i].Name == r.Kind || r.Kind == "" {
			return &k[i]
		}
	}
	return nil
}

// checkFields refuses fields that do not go with the kind, and values out of range of those of every kind.
func (k JobKinds) checkFields(kind *JobKind, r JobRequest) error {
	var takes []string
	for _, f := range kind.Fields {
		takes = append(takes, f.Name)
	}
	for _, f := range k.Declarations().Fields() {
		if r.Fields.Has(f.Name) && !slices.Contains(takes, f.Name) {
			return &JobFieldError{f.Name, fmt.Sprintf("does not go with jobs of kind %s, which take %s", kind.Name, strings.Join(takes, ", "))}
		}
	}
	for _, f := range kind.Fields {
		if err := refuseEmpty(f, r.Fields[f.Name]); err != nil {
			return err
		}
	}
	switch {
	case r.WaitMS != nil && !kind.Waits:
		return &JobFieldError{"wait_ms", fmt.Sprintf("goes with jobs of kind %s only; for others GET /api/jobs/{id}?wait_ms=… waits for the end", strings.Join(k.waiting(), ", "))}
	case r.TimeoutMS != nil && *r.TimeoutMS < 1:
		return &JobFieldError{"timeout_ms", "must be at least 1"}
	case r.WaitMS != nil && *r.WaitMS < 0:
		return &JobFieldError{"wait_ms", "must not be negative"}
	}
	return nil
}

// refuseEmpty refuses an empty text, alone or in a list: to leave a field out is the way to say nothing.
func refuseEmpty(f job.Field, value any) error {
	list, _ := value.([]string)
	if value != "" && !slices.Contains(list, "") {
		return nil
	}
	wrong := &JobFieldError{f.Name, "must not be empty; leave it out to say nothing"}
	if f.Required {
		wrong.Problem = "must not be empty"
	}
	if f.EmptyCode == "" {
		return wrong
	}
	return &JobRefusedError{Code: f.EmptyCode, Field: f.Name, Reason: "empty", Detail: wrong.Error()}
}

// waiting names the kinds whose submissions may be held.
func (k JobKinds) waiting() []string {
	var names []string
	for _, kind := range k {
		if kind.Waits {
			names = append(names, string(kind.Name))
		}
	}
	return names
}
