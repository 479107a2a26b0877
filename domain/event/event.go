package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
)

// Event is implemented by every domain event. The name is written down, never
// derived from the Go type: renaming a struct must not rename history.
type Event interface{ EventName() string }

// Upcast turns the JSON of one schema version into the JSON of the next.
type Upcast func(json.RawMessage) (json.RawMessage, error)

// Type is the one declaration that ties together stored name, schema version, Go type, the sample of the golden
// file, the upcasts from older versions, and what the type says of its events.
type Type struct {
	Name    string
	Version int
	Sample  Event
	*Facts           // nil: of a type that Of declares
	upcasts []Upcast // upcasts[i] turns version i+1 into version i+2
	decode  func([]byte, Unmarshal) (Event, error)
}

// Of declares the event type E without facts, as tests of logs and projections need it. Its version is one more than the number of upcasts.
func Of[E Event](sample E, upcasts ...Upcast) Type {
	return Type{
		Name:    sample.EventName(),
		Version: len(upcasts) + 1,
		Sample:  sample,
		upcasts: upcasts,
		decode: func(data []byte, unmarshal Unmarshal) (Event, error) {
			var e E
			if err := unmarshal(data, &e); err != nil {
				return nil, err
			}
			return e, nil
		},
	}
}

// Catalogue is the list of all event types of one binary, by stored name.
type Catalogue map[string]Type

// NewCatalogue joins the groups. Its error is a name that is declared twice.
func NewCatalogue(groups ...[]Type) (Catalogue, error) {
	c := Catalogue{}
	for _, group := range groups {
		for _, t := range group {
			if _, taken := c[t.Name]; taken {
				return nil, fmt.Errorf("event %q is declared twice", t.Name)
			}
			c[t.Name] = t
		}
	}
	return c, nil
}

// Names lists the declared names in order.
func (c Catalogue) Names() []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Free are the fields of all types from which nothing else in a log follows, by event name and path, each with the reason.
func (c Catalogue) Free() map[string]string {
	fields := map[string]string{}
	for name, t := range c {
		if t.Facts == nil {
			continue
		}
		for path, reason := range t.Free {
			fields[name+"."+path] = reason
		}
	}
	return fields
}

// ErrUnknown is returned for a stored name no declaration has.
var ErrUnknown = errors.New("unknown event")

// VersionError is returned for a stored version outside what this binary knows.
type VersionError struct {
	Name           string
	Stored, Newest int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("event %s v%d: this binary knows v1 to v%d; run a newer one", e.Name, e.Stored, e.Newest)
}

// Unmarshal is json.Unmarshal, or a function that does the same faster.
type Unmarshal func(data []byte, v any) error

// Decode turns stored bytes into the current Go value, through every upcast between.
func (c Catalogue) Decode(name string, version int, data []byte) (Event, error) {
	return c.DecodeWith(json.Unmarshal, name, version, data)
}

// DecodeWith is Decode with another decoder of JSON.
func (c Catalogue) DecodeWith(unmarshal Unmarshal, name string, version int, data []byte) (Event, error) {
	t, known := c[name]
	if !known {
		return nil, fmt.Errorf("%w %q", ErrUnknown, name)
	}
	if version < 1 || version > t.Version {
		return nil, &VersionError{Name: name, Stored: version, Newest: t.Version}
	}
	for i, up := range t.upcasts[version-1:] {
		next, err := up(data)
		if err != nil {
			return nil, fmt.Errorf("event %s: upcast v%d to v%d: %w", name, version+i, version+i+1, err)
		}
		data = next
	}
	e, err := t.decode(data, unmarshal)
	if err != nil {
		return nil, fmt.Errorf("event %s v%d: %w", name, version, err)
	}
	return e, nil
}

// Encode returns the schema version and the JSON under which e is stored: today's,
// but an Embedded event's own. A name that is not declared is ErrUnknown, an
// embedded version that this binary does not know a VersionError.
func (c Catalogue) Encode(e Event) (version int, data []byte, err error) {
	t, known := c[e.EventName()]
	if !known {
		return 0, nil, fmt.Errorf("%w %q: declare it in domain/catalogue.go", ErrUnknown, e.EventName())
	}
	if encoded, already := e.(Embedded); already {
		if encoded.Version < 1 || encoded.Version > t.Version {
			return 0, nil, &VersionError{Name: t.Name, Stored: encoded.Version, Newest: t.Version}
		}
		return encoded.Version, encoded.Data, nil
	}
	data, err = Marshal(e)
	return t.Version, data, err
}

// Marshal is JSON without Go's HTML escaping, so that a stored expression
// reads in the log as it was submitted.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
