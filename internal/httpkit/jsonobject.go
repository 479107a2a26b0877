package httpkit

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// JSONObject is a JSON object that is passed on byte for byte. Its members are defined and
// checked where the object is used.
type JSONObject struct{ json.RawMessage }

// Schema is huma.SchemaProvider.
func (JSONObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}
