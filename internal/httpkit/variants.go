package httpkit

import (
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// BodyVariant is one of the forms that a route's body may have, told apart by the value of
// one field. It is for the description: what is served is judged by the handler.
type BodyVariant struct {
	Name   string // of its schema
	Value  string // of the field that tells variants apart
	Schema *Schema
}

// describeBody describes a body that the schema of its Go type does not tell in full: one
// with variants, and one of which either fields or other fields are sent. huma goes on to
// validate by the schema that it made.
func (a *API) describeBody(route Route, op *huma.Operation) {
	validated := jsonBody(op)
	switch {
	case len(route.Variants) > 0:
		op.RequestBody.Content["application/json"].Schema = a.oneOfVariants(route, validated)
	case len(route.EitherFields) > 0:
		op.RequestBody.Content["application/json"].Schema = &huma.Schema{AllOf: []*huma.Schema{{Ref: validated.Ref}}, OneOf: requireEither(route.EitherFields)}
	}
}

// oneOfVariants adds the schema of each variant in place of the schema that huma validates by.
func (a *API) oneOfVariants(route Route, validated *huma.Schema) *huma.Schema {
	schemas := a.huma.OpenAPI().Components.Schemas
	ref := validated.Ref
	*validated = *schemas.SchemaFromRef(ref)
	delete(schemas.Map(), ref[len(schemaPrefix):])
	one := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: route.VariantField, Mapping: map[string]string{}}}
	for _, variant := range route.Variants {
		schemas.Map()[variant.Name] = variant.Schema
		one.OneOf = append(one.OneOf, &huma.Schema{Ref: schemaPrefix + variant.Name})
		one.Discriminator.Mapping[variant.Value] = schemaPrefix + variant.Name
	}
	return one
}

// requireEither is the schema of a body that has exactly one of these sets of fields.
func requireEither(sets [][]string) []*huma.Schema {
	var either []*huma.Schema
	for _, fields := range sets {
		either = append(either, &huma.Schema{Required: fields})
	}
	return either
}

// RequireOne describes that a body has exactly one of these properties of its schema.
func RequireOne(body *Schema, fields ...string) {
	for _, field := range fields {
		body.OneOf = append(body.OneOf, &huma.Schema{Required: []string{field}, Properties: map[string]*huma.Schema{field: body.Properties[field]}})
	}
}

// tags describes the groups of operations, in the order of their names.
func tags() []*huma.Tag {
	about := map[string]string{
		"Account": "Accounts, browser sessions and API tokens", "Evaluation": "Evaluating expressions, checking answers, receipts, plots and history",
		"Sessions": "Live sessions, whose variables and definitions last", "Jobs": "Work that takes longer than a request may",
		"Proofs": "Proof exports and the certificates about them", "Billing": "Plans, prices and limits", "Service": "The service itself: its health and its keys",
	}
	var all []*huma.Tag
	for _, name := range slices.Sorted(maps.Keys(about)) {
		all = append(all, &huma.Tag{Name: name, Description: about[name]})
	}
	return all
}
