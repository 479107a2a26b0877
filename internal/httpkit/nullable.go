package httpkit

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const schemaPrefix = "#/components/schemas/"

// describeNulls adds to the schemas what huma leaves out: a pointer to a struct
// may be null, and so may a pointer to a string with an enum.
func describeNulls(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef(schemaPrefix + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			property := schema.Properties[tag]
			if property == nil || field.Type.Kind() != reflect.Pointer || strings.Contains(options, "omitempty") {
				continue
			}
			switch {
			case property.Ref != "":
				schema.Properties[tag] = &huma.Schema{
					OneOf:       []*huma.Schema{{Ref: property.Ref}, {Type: "null"}},
					Description: property.Description,
				}
			case len(property.Enum) > 0 && !slices.Contains(property.Enum, nil):
				property.Enum = append(property.Enum, nil)
			}
		}
	}
}
