package httpkit

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// BodyVariants are the forms of a route's body, told apart by the value of one field. They are for the description: what
// is served is judged by the handler.
type BodyVariants struct {
	Name  string // of the schema of all of them
	Field string
	Named string // name of the schema of those with the field
	List  []BodyVariant
	// Unnamed is the form of a body without the field; Value is empty.
	Unnamed BodyVariant
}

// BodyVariant is one of BodyVariants.
type BodyVariant struct {
	Name   string // of its schema
	Value  string // of the field that tells variants apart
	Schema *Schema
}

// EitherFields are fields of a body that are sent together, and then none of another EitherFields. Name names the schema of such a body.
type EitherFields struct {
	Name   string
	Fields []string
}

// describeBody describes a JSON body in full. huma goes on to validate by the schema that it made of the Go type, from which
// what is judged later is missing.
func (a *API) describeBody(route Route, op *huma.Operation, input reflect.Type) {
	validated := jsonBody(op)
	if validated == nil || validated.Ref == "" {
		return
	}
	schemas := a.huma.OpenAPI().Components.Schemas
	name := validated.Ref[len(schemaPrefix):]
	*validated = *schemas.SchemaFromRef(validated.Ref)
	described := describedBody(validated, input)
	schemas.Map()[name] = described
	switch {
	case route.Variants != nil:
		delete(schemas.Map(), name)
		name = a.describeVariants(*route.Variants)
	case len(route.EitherFields) > 0:
		schemas.Map()[name] = a.describeEither(described, route.EitherFields)
	}
	op.RequestBody.Content["application/json"].Schema = &huma.Schema{Ref: schemaPrefix + name}
}

// describedBody is the schema of a body with what the tags of its type say for the description alone. null is the same as a
// field that is left out.
func describedBody(validated *huma.Schema, input reflect.Type) *huma.Schema {
	described := *validated
	described.Properties = map[string]*huma.Schema{}
	for name, property := range validated.Properties {
		copied := *property
		described.Properties[name] = &copied
	}
	body, _ := input.FieldByName("Body")
	for _, field := range reflect.VisibleFields(body.Type) {
		if property := described.Properties[jsonName(field)]; property != nil {
			describeTags(property, field.Tag)
		}
	}
	permitNull(&described)
	return &described
}

// jsonName is the name of a field in JSON.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// permitNull lets the properties that are not required be null.
func permitNull(body *huma.Schema) {
	for name, property := range body.Properties {
		if slices.Contains(body.Required, name) {
			continue
		}
		switch {
		case property.Ref != "":
			body.Properties[name] = orNull(property)
		case property.Type != "" && property.Type != "null":
			property.Nullable = true
			allowNull(property)
			if property.Default != nil { // generators make a field with a default one that is required
				property.Description += fmt.Sprintf("; %v when left out", property.Default)
				property.Default = nil
			}
		}
	}
}

// describeTags adds what the tags of a field say for the description alone: its value is judged by the handler, which says more.
func describeTags(s *huma.Schema, tag reflect.StructTag) {
	if format, given := tag.Lookup("describedFormat"); given {
		s.Format = format
	}
	if pattern, given := tag.Lookup("describedPattern"); given {
		s.Pattern = pattern
	}
	s.UniqueItems = s.UniqueItems || tag.Get("describedUnique") == "true"
	number := func(name string) *int {
		n, err := strconv.Atoi(tag.Get(name))
		if err != nil {
			return nil
		}
		return &n
	}
	if most := number("describedMaxLength"); most != nil {
		s.MaxLength = most
	}
	if most := number("describedMaxItems"); most != nil {
		s.MaxItems = most
	}
}

// describeVariants adds the schema of each variant and of all, whose name it returns.
func (a *API) describeVariants(v BodyVariants) (name string) {
	schemas := a.huma.OpenAPI().Components.Schemas.Map()
	all := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: v.Field, Mapping: map[string]string{}}}
	for _, variant := range v.List {
		permitNull(variant.Schema)
		schemas[variant.Name] = variant.Schema
		all.OneOf = append(all.OneOf, &huma.Schema{Ref: schemaPrefix + variant.Name})
		all.Discriminator.Mapping[variant.Value] = schemaPrefix + variant.Name
	}
	schemas[v.Named] = all
	permitNull(v.Unnamed.Schema)
	schemas[v.Unnamed.Name] = v.Unnamed.Schema
	schemas[v.Name] = &huma.Schema{OneOf: []*huma.Schema{{Ref: schemaPrefix + v.Named}, {Ref: schemaPrefix + v.Unnamed.Name}}}
	return v.Name
}

// describeEither adds a schema for each set of fields and returns that of a body that has exactly one of the sets.
func (a *API) describeEither(body *huma.Schema, sets []EitherFields) *huma.Schema {
	schemas := a.huma.OpenAPI().Components.Schemas.Map()
	either := &huma.Schema{}
	for _, set := range sets {
		form := *body
		form.Properties, form.Required = map[string]*huma.Schema{}, slices.Concat(body.Required, set.Fields)
		for name, property := range body.Properties {
			copied := *property
			switch {
			case slices.Contains(set.Fields, name):
				copied.Nullable = false
			case inAnother(sets, name):
				copied = huma.Schema{Type: "null", Description: "Not with " + set.Fields[0]}
			}
			form.Properties[name] = &copied
		}
		schemas[set.Name] = &form
		either.OneOf = append(either.OneOf, &huma.Schema{Ref: schemaPrefix + set.Name})
	}
	return either
}

func inAnother(sets []EitherFields, name string) bool {
	return slices.ContainsFunc(sets, func(set EitherFields) bool { return slices.Contains(set.Fields, name) })
}

// Union makes the schemas of a Go type's JSON variants of each other, told apart by the value of one field.
type Union struct {
	Schemas  []string // names of the schemas
	Field    string
	Variants []UnionVariant
}

// UnionVariant is one form of a Union.
type UnionVariant struct {
	Prefix string                  // of the names of its schemas
	Value  string                  // of the field that tells variants apart
	Types  map[string]reflect.Type // of properties of which the Go type says less
	Lacks  []string                // properties that it never has
}

// describeUnions replaces the schemas of the unions, once.
func (a *API) describeUnions() {
	registry := a.huma.OpenAPI().Components.Schemas
	for _, union := range a.settings.Declared.Unions {
		for _, name := range union.Schemas {
			if base := registry.Map()[name]; base != nil && base.OneOf == nil {
				registry.Map()[name] = describeUnion(registry, base, name, union)
			}
		}
	}
}

func describeUnion(registry huma.Registry, base *huma.Schema, name string, union Union) *huma.Schema {
	all := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: union.Field, Mapping: map[string]string{}}}
	for _, variant := range union.Variants {
		form := *base
		form.Properties = maps.Clone(base.Properties)
		for _, property := range variant.Lacks {
			delete(form.Properties, property)
		}
		told := *base.Properties[union.Field]
		told.Enum = []any{variant.Value}
		form.Properties[union.Field] = &told
		for property, t := range variant.Types {
			form.Properties[property] = &huma.Schema{Ref: registry.Schema(t, true, "").Ref, Description: base.Properties[property].Description}
		}
		registry.Map()[variant.Prefix+name] = &form
		all.OneOf = append(all.OneOf, &huma.Schema{Ref: schemaPrefix + variant.Prefix + name})
		all.Discriminator.Mapping[variant.Value] = schemaPrefix + variant.Prefix + name
	}
	return all
}

// tags describes the groups of operations, in the order of their names.
func tags() []*huma.Tag {
	about := map[string]string{
		"Account": "Accounts, browser sessions and API tokens", "Evaluation": "Evaluating expressions, checking answers, receipts, plots and history",
		"Sessions": "Live sessions, whose variables and definitions last", "Jobs": "Work that takes longer than a request may",
		"Proofs": "Proof exports and the certificates about them", "Billing": "Plans, prices and limits", "Bursts": "What agents did, told by their credentials, sources and names", "Reference": "The function reference: what is supported, and how",
		"Service": "The service itself: its health and its keys", "Transparency": "The Merkle log of receipts and certificates: proofs that one is in it",
	}
	var all []*huma.Tag
	for _, name := range slices.Sorted(maps.Keys(about)) {
		all = append(all, &huma.Tag{Name: name, Description: about[name]})
	}
	return all
}
