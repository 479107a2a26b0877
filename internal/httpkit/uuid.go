package httpkit

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

// UUID is an id that a client sends. Letters of either case mean the same UUID (RFC 9562
// §4): it is decoded to the lower case in which streams are named. A text that is no UUID
// is left as it is, and names nothing.
type UUID string

// UnmarshalText is encoding.TextUnmarshaler, for bodies.
func (u *UUID) UnmarshalText(text []byte) error {
	*u = UUID(CanonicalUUID(string(text)))
	return nil
}

// OnParamSet is huma.ParamReactor, for paths and queries.
func (u *UUID) OnParamSet(bool, any) { *u = UUID(CanonicalUUID(string(*u))) }

// uuidLength is the length of a UUID with hyphens; uuid.Parse reads other forms too.
const uuidLength = 36

// CanonicalUUID writes a UUID in lower case; any other text is returned as it is.
func CanonicalUUID(s string) string {
	if _, err := uuid.Parse(s); err != nil || len(s) != uuidLength {
		return s
	}
	return strings.ToLower(s)
}

// describeParameters gives the parameters of an operation the schemas of the description,
// beside those that huma validates by. The format of a UUID is not validated: a path that
// names nothing is answered with 404, whatever it looks like. patternDescription is huma's
// own keyword.
func describeParameters(parameters []*huma.Param, input reflect.Type) {
	for _, parameter := range parameters {
		described := *parameter.Schema
		described.PatternDescription = ""
		if parameter.In == "path" && isUUID(parameter.Name, input) {
			described.Format = "uuid"
		}
		parameter.Schema = &described
	}
}

// isUUID reports whether a parameter of the path is a field of type UUID.
func isUUID(name string, input reflect.Type) bool {
	return slices.ContainsFunc(reflect.VisibleFields(input), func(field reflect.StructField) bool {
		return field.Type == reflect.TypeFor[UUID]() && field.Tag.Get("path") == name
	})
}
