package httpkit

import (
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// maxFaults is how many faults of a request are looked for and told. A body of MaxJSONBytes can have half a million, and a
// request that is refused is not counted against any limit.
const maxFaults = 20

// faultFinder looks for at most maxFaults faults in a body. It judges as huma.Validate does, which finds all of them.
type faultFinder struct {
	schemas huma.Registry
	path    *huma.PathBuffer
	found   huma.ValidateResult
}

// faultsIn returns at most maxFaults faults of a decoded JSON body, in an order that depends on nothing but the body.
func faultsIn(schemas huma.Registry, schema *huma.Schema, body any) []error {
	f := &faultFinder{schemas: schemas, path: huma.NewPathBuffer(nil, 0)}
	f.path.Push("body")
	f.look(schema, body)
	return f.found.Errors[:min(maxFaults, len(f.found.Errors))]
}

func (f *faultFinder) full() bool { return len(f.found.Errors) >= maxFaults }

// nothing is a schema that every value has.
var nothing = &huma.Schema{}

func (f *faultFinder) look(s *huma.Schema, value any) {
	for s.Ref != "" {
		s = f.schemas.SchemaFromRef(s.Ref)
	}
	if s.OneOf == nil && s.AnyOf == nil && s.AllOf == nil && s.Not == nil {
		switch v := value.(type) {
		case []any:
			if s.Type == huma.TypeArray && s.Items != nil {
				f.lookInArray(s, v)
				return
			}
		case map[string]any:
			if s.Type == huma.TypeObject && len(s.Properties) > 0 {
				f.lookInObject(s, v)
				return
			}
		}
	}
	f.validate(s, value)
}

func (f *faultFinder) validate(s *huma.Schema, value any) {
	huma.Validate(f.schemas, s, f.path, huma.ModeWriteToServer, value, &f.found)
}

func (f *faultFinder) lookInArray(s *huma.Schema, list []any) {
	itself := *s
	itself.Items = nothing
	f.validate(&itself, list)
	for i, item := range list {
		if f.full() {
			return
		}
		f.path.PushIndex(i)
		f.look(s.Items, item)
		f.path.Pop()
	}
}

func (f *faultFinder) lookInObject(s *huma.Schema, object map[string]any) {
	itself, known := *s, map[string]any{}
	itself.Properties = map[string]*huma.Schema{}
	for name := range s.Properties {
		itself.Properties[name] = nothing
		if value, given := object[name]; given {
			known[name] = value
		}
	}
	if allowed, ok := s.AdditionalProperties.(bool); ok && !allowed && len(known) < len(object) {
		f.tellUnknown(s, object)
	}
	f.validate(&itself, known)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if f.full() {
			return
		}
		property := s.Properties[name]
		if known[name] == nil && (!slices.Contains(s.Required, name) || s.Nullable) {
			continue
		}
		f.path.Push(name)
		f.look(property, known[name])
		f.path.Pop()
	}
}

// tellUnknown adds the fields of an object that its schema does not have, the first ones in the order of their names.
func (f *faultFinder) tellUnknown(s *huma.Schema, object map[string]any) {
	var unknown []string
	for name := range object {
		if _, ok := s.Properties[name]; !ok {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		if f.full() {
			return
		}
		f.found.Errors = append(f.found.Errors, &huma.ErrorDetail{Location: f.path.String() + "." + name, Message: validation.MsgUnexpectedProperty})
	}
}
