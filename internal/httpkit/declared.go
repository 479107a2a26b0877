package httpkit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Declared is the part of an API's description that comes from declarations outside its
// Go types, such as the kinds of job that a process has.
type Declared struct {
	// Kinds are problems beside those that Kinds lists; all are of status 400.
	Kinds []Kind
	// Sets are the values of fields with the tag enum:"@name", by name.
	Sets map[string][]string
	// Unions are the schemas that are variants of each other.
	Unions []Union
	// Words are the values of properties of types that name no set, by schema and property: "Suggestion.code".
	Words map[string][]string
	// Texts stand for @name in the tags doc, by name.
	Texts map[string]string
}

// Kinds lists every kind of problem of this API in the order of docs/errors.md: by status.
func (a *API) Kinds() []Kind {
	all := slices.Concat(Kinds(), a.settings.Declared.Kinds)
	slices.SortStableFunc(all, func(x, y Kind) int { return x.Status - y.Status })
	return all
}

// Kind returns the kind of problem with a code. It panics for a code that the API does not
// have, which is a mistake in the declaration that names it.
func (a *API) Kind(code string) Kind {
	i := slices.IndexFunc(a.Kinds(), func(k Kind) bool { return k.Code == code })
	if i < 0 {
		panic(fmt.Sprintf("httpkit: no kind of problem has the code %q", code))
	}
	return a.Kinds()[i]
}

// addDeclaredSchemas adds what Declared holds to the schemas that huma made from the Go
// types of an operation.
func (a *API) addDeclaredSchemas(route Route) {
	if op := a.described(route); op != nil {
		for _, parameter := range op.Parameters {
			a.replaceDeclaredNames(parameter.Schema)
		}
		if len(route.BodyFields) > 0 {
			a.addFields(jsonBody(op), route.BodyFields)
		}
	}
	a.addDeclaredNames()
}

// addDeclaredNames replaces the @names in all schemas.
func (a *API) addDeclaredNames() {
	for _, schema := range a.huma.OpenAPI().Components.Schemas.Map() {
		for _, property := range schema.Properties {
			a.replaceDeclaredNames(property)
		}
	}
}

// described returns the route's operation in the description; nil for a hidden route.
func (a *API) described(route Route) *huma.Operation {
	item := a.huma.OpenAPI().Paths[route.Path]
	if item == nil {
		return nil
	}
	for _, op := range []*huma.Operation{item.Get, item.Post, item.Delete} {
		if op != nil && op.OperationID == route.ID {
			return op
		}
	}
	return nil
}

// jsonBody returns the schema of an operation's JSON body; nil where it has none.
func jsonBody(op *huma.Operation) *huma.Schema {
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	return op.RequestBody.Content["application/json"].Schema
}

// refuseEmptyTexts gives every text in a JSON body at least one character: to leave a field
// out is the way to say nothing. A route with BodyFields does the same itself.
func (a *API) refuseEmptyTexts(route Route, op *huma.Operation) {
	body := jsonBody(op)
	if body == nil || len(route.BodyFields) > 0 {
		return
	}
	if body.Ref != "" {
		body = a.huma.OpenAPI().Components.Schemas.SchemaFromRef(body.Ref)
	}
	for _, property := range body.Properties {
		for _, text := range []*huma.Schema{property, property.Items} {
			if text != nil && text.Type == huma.TypeString && text.MinLength == nil {
				text.MinLength = new(1)
			}
		}
		property.PrecomputeMessages()
	}
}

// replaceDeclaredNames replaces the @names in a schema's description and enum by the declared texts and values.
// It panics for an enum that is not declared.
func (a *API) replaceDeclaredNames(s *huma.Schema) {
	for name, text := range a.settings.Declared.Texts {
		s.Description = strings.ReplaceAll(s.Description, "@"+name, text)
	}
	if s.Items != nil {
		a.replaceDeclaredNames(s.Items)
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

// describeWords lists the values of the properties that Words names, and the codes of problems.
func (a *API) describeWords() {
	var codes []string
	for _, kind := range a.Kinds() {
		codes = append(codes, kind.Code)
	}
	words := maps.Clone(a.settings.Declared.Words)
	if words == nil {
		words = map[string][]string{}
	}
	words["Problem.code"] = codes
	schemas := a.huma.OpenAPI().Components.Schemas.Map()
	for at, values := range words {
		name, property, _ := strings.Cut(at, ".")
		if schemas[name] == nil {
			continue // no route answers it
		}
		described := schemas[name].Properties[property]
		described.Enum = nil
		for _, value := range values {
			described.Enum = append(described.Enum, value)
		}
	}
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
