package httpkit

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// JSONObject is an object whose members others define and check: it is passed on
// byte for byte.
type JSONObject struct{ json.RawMessage }

// Schema is huma.SchemaProvider.
func (JSONObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}
