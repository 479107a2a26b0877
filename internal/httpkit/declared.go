package httpkit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Declared is what an API takes from declarations made elsewhere, and not from
// its own Go types: what differs with the parts a process is put together of.
type Declared struct {
	// Kinds are problems beside those that Kinds lists; all are of status 400.
	Kinds []Kind
	// Sets are the values of fields with the tag enum:"@name", by name.
	Sets map[string][]string
	// Texts stand for @name in the tags doc, by name.
	Texts map[string]string
}

// Kinds lists every kind of problem of this API in the order of docs/errors.md: by status.
func (a *API) Kinds() []Kind {
	all := slices.Concat(Kinds(), a.settings.Declared.Kinds)
	slices.SortStableFunc(all, func(x, y Kind) int { return x.Status - y.Status })
	return all
}

// Kind is the kind of a code; it panics for a code that the API does not have,
// which is a fault of the declaration that names it.
func (a *API) Kind(code string) Kind {
	i := slices.IndexFunc(a.Kinds(), func(k Kind) bool { return k.Code == code })
	if i < 0 {
		panic(fmt.Sprintf("httpkit: no kind of problem has the code %q", code))
	}
	return a.Kinds()[i]
}

// addDeclaredSchemas fills in, after huma has made an operation's schemas from Go types,
// what is declared elsewhere.
func (a *API) addDeclaredSchemas(route Route) {
	if item := a.huma.OpenAPI().Paths[route.Path]; item != nil {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Delete} {
			if op == nil || op.OperationID != route.ID {
				continue
			}
			for _, parameter := range op.Parameters {
				a.replaceDeclaredNames(parameter.Schema)
			}
			if len(route.BodyFields) > 0 {
				a.addFields(op.RequestBody.Content["application/json"].Schema, route.BodyFields)
			}
		}
	}
	for _, schema := range a.huma.OpenAPI().Components.Schemas.Map() {
		for _, property := range schema.Properties {
			a.replaceDeclaredNames(property)
		}
	}
}

// replaceDeclaredNames puts the declared values in the place of the names that a schema's tags give.
func (a *API) replaceDeclaredNames(s *huma.Schema) {
	for name, text := range a.settings.Declared.Texts {
		s.Description = strings.ReplaceAll(s.Description, "@"+name, text)
	}
	if len(s.Enum) == 0 {
		return
	}
	first, _ := s.Enum[0].(string)
	name, named := strings.CutPrefix(first, "@")
	if !named {
		return
	}
	values, known := a.settings.Declared.Sets[name]
	if !known {
		panic(fmt.Sprintf("httpkit: a tag says enum:%q and nobody declares that set", first))
	}
	s.Enum = nil
	for _, value := range values {
		s.Enum = append(s.Enum, value)
	}
	s.PrecomputeMessages()
}

// addFields adds optional properties to a body's schema.
func (a *API) addFields(body *huma.Schema, fields map[string]*huma.Schema) {
	if body.Ref != "" {
		body = a.huma.OpenAPI().Components.Schemas.SchemaFromRef(body.Ref)
	}
	for name, field := range fields {
		field.PrecomputeMessages()
		body.Properties[name] = field
	}
	body.PrecomputeMessages()
}
