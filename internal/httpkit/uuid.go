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

// describeParameters gives the parameters of an operation the schemas of the description,
// beside those that huma validates by. The format of a UUID is not validated: a path that
// names nothing is answered with 404, whatever it looks like. An empty text is refused
// (refuseParameters). patternDescription is huma's own keyword.
func describeParameters(parameters []*huma.Param, input reflect.Type) {
	fields := map[string]reflect.StructField{}
	for _, field := range reflect.VisibleFields(input) {
		for _, in := range []string{"path", "query", "header"} {
			if name := field.Tag.Get(in); name != "" {
				fields[in+" "+name] = field
			}
		}
	}
	for _, parameter := range parameters {
		field := fields[parameter.In+" "+parameter.Name]
		described := *parameter.Schema
		described.PatternDescription = ""
		if field.Type == reflect.TypeFor[UUID]() {
			described.Format = "uuid"
		}
		if described.Type == huma.TypeString && len(described.Enum) == 0 && described.MinLength == nil {
			described.MinLength = new(1)
		}
		describeTags(&described, field.Tag)
		parameter.Schema = &described
	}
}
