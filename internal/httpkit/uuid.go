package httpkit

import (
	"reflect"
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

// describeUUIDs adds the format to the description of the parameters of type UUID. It is not
// validated: a path that names nothing is answered with 404, whatever it looks like.
func describeUUIDs(parameters []*huma.Param, input reflect.Type) {
	for _, field := range reflect.VisibleFields(input) {
		if field.Type != reflect.TypeFor[UUID]() {
			continue
		}
		for _, parameter := range parameters {
			if parameter.In == "path" && parameter.Name == field.Tag.Get("path") {
				described := *parameter.Schema // huma validates by the original
				described.Format = "uuid"
				parameter.Schema = &described
			}
		}
	}
}
