package httpkit

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const schemaPrefix = "#/components/schemas/"

// describeFields adds to the schemas what huma leaves out of the fields of Go types: a pointer to a
// struct may be null (where it may be left out too: with null:"true", because huma refuses nullable for it), and so may a pointer to a
// string with an enum; one element may stand in place of an array with the tag
// single:"true", and text in place of a number with text:"true"; a struct with a blank field tagged either is one of the objects its
// fields point to. It panics for a field of a closed set of words without an enum.
func describeFields(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef(schemaPrefix + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		if blank, has := t.FieldByName("_"); has && blank.Tag.Get("either") != "" {
			describeForms(schemas, schema, t)
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			tag := jsonName(field)
			property := schema.Properties[tag]
			if property == nil {
				continue
			}
			requireEnum(name, tag, field.Type, property)
			if field.Tag.Get("single") == "true" && property.OneOf == nil {
				schema.Properties[tag] = oneOrMany(property)
			}
			if field.Tag.Get("text") == "true" && property.OneOf == nil {
				property = numberOrText(property)
				schema.Properties[tag] = property
			}
			if field.Type.Kind() == reflect.Pointer && (!strings.Contains(field.Tag.Get("json"), ",omitempty") || field.Tag.Get("null") == "true") {
				schema.Properties[tag] = orNull(property)
			} else if property.Nullable {
				allowNull(property)
			}
		}
	}
}

// describeForms makes the schema one of the objects that the fields of a type point to.
func describeForms(schemas huma.Registry, schema *huma.Schema, t reflect.Type) {
	if schema.OneOf != nil {
		return
	}
	*schema = huma.Schema{Description: schema.Description}
	for _, field := range reflect.VisibleFields(t) {
		if field.IsExported() {
			schema.OneOf = append(schema.OneOf, schemas.Schema(field.Type.Elem(), true, ""))
		}
	}
}

// orNull is the schema of a field that is null when there is no value.
func orNull(property *huma.Schema) *huma.Schema {
	if property.Ref != "" {
		return &huma.Schema{OneOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}, Description: property.Description}
	}
	allowNull(property)
	return property
}

// allowNull lets null be among the words of a property that may be null.
func allowNull(property *huma.Schema) {
	if len(property.Enum) > 0 && !slices.Contains(property.Enum, nil) {
		property.Enum = append(property.Enum, nil)
	}
}

// oneOrMany is the schema of an array in whose place one element may stand.
func oneOrMany(list *huma.Schema) *huma.Schema {
	many := *list
	many.Description, many.Nullable = "", false
	one := &huma.Schema{Description: list.Description, OneOf: []*huma.Schema{list.Items, &many}}
	if list.Nullable {
		one.OneOf = append(one.OneOf, &huma.Schema{Type: "null"})
	}
	return one
}

// numberOrText is the schema of a number, or of an array of numbers, in whose place strings may stand. It leaves an array that has them already.
func numberOrText(of *huma.Schema) *huma.Schema {
	text := &huma.Schema{Type: "string"}
	if of.Items != nil && of.Items.OneOf != nil {
		return of
	}
	if of.Items != nil {
		list := *of
		list.Items = &huma.Schema{OneOf: []*huma.Schema{of.Items, text}}
		return &list
	}
	number := *of
	number.Description, number.Nullable = "", false
	one := &huma.Schema{Description: of.Description, OneOf: []*huma.Schema{&number, text}}
	if of.Nullable {
		one.OneOf = append(one.OneOf, &huma.Schema{Type: "null"})
	}
	return one
}

// requireEnum panics for a field whose Go type is a string type of its own, a closed set, and whose schema does not list the words.
func requireEnum(schema, name string, t reflect.Type, property *huma.Schema) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	closed := t.Kind() == reflect.String && t.PkgPath() != "" && t != reflect.TypeFor[UUID]()
	if property.Items != nil {
		property = property.Items
	}
	if closed && len(property.Enum) == 0 {
		panic(fmt.Sprintf("httpkit: %s.%s is a %v, and no tag says enum", schema, name, t))
	}
}
