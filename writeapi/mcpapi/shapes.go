package mcpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// shapes are the schemas of the API's description, by name.
type shapes map[string]schema

// schema is a JSON Schema (2020-12, as OpenAPI 3.1 has it).
type schema map[string]any

const componentPrefix = "#/components/schemas/"

// readShapes reads the schemas of a description (OpenAPI).
func readShapes(description []byte) (shapes, error) {
	var api struct {
		Components struct{ Schemas shapes }
	}
	if err := json.Unmarshal(description, &api); err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	return api.Components.Schemas, nil
}

// object is the schema of an object with these properties, complete in itself.
func (s shapes) object(properties schema, required ...string) (schema, error) {
	whole := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		whole["required"] = required
	}
	return s.complete(whole)
}

// input is the schema of the description with this name, for arguments, complete in itself. Its alternatives are not at its top, where models'
// interfaces refuse them: it has the properties of all, and the route says what goes together.
func (s shapes) input(name string) (schema, error) {
	found, ok := s[name]
	if !ok {
		return nil, fmt.Errorf("the description has no schema %q", name)
	}
	whole := schema{"type": "object", "additionalProperties": false}
	properties := schema{}
	for _, form := range s.forms(found) {
		for property, described := range asSchema(form["properties"]) {
			if known, given := properties[property]; !given || asSchema(known)["type"] == "null" {
				properties[property] = described
			}
		}
	}
	whole["properties"] = properties
	if found["oneOf"] == nil {
		if required, ok := found["required"]; ok {
			whole["required"] = required
		}
	}
	return s.complete(whole)
}

// forms are the alternatives of a schema that has some, and otherwise the schema.
func (s shapes) forms(of schema) []schema {
	alternatives, _ := of["oneOf"].([]any)
	if len(alternatives) == 0 {
		return []schema{of}
	}
	var forms []schema
	for _, alternative := range alternatives {
		name, _ := asSchema(alternative)["$ref"].(string)
		forms = append(forms, s[strings.TrimPrefix(name, componentPrefix)])
	}
	return forms
}

// output is the schema of the description with this name, for answers, complete in itself.
func (s shapes) output(name string) (schema, error) {
	found, ok := s[name]
	if !ok {
		return nil, fmt.Errorf("the description has no schema %q", name)
	}
	whole := maps.Clone(found)
	whole["type"] = "object"
	return s.complete(whole)
}

// complete puts what a schema refers to into its $defs.
func (s shapes) complete(whole schema) (schema, error) {
	definitions := schema{}
	copied, err := s.copy(whole, definitions)
	if err != nil {
		return nil, err
	}
	complete := asSchema(copied)
	if len(definitions) > 0 {
		complete["$defs"] = definitions
	}
	return complete, nil
}

// formats are those of JSON Schema that the description uses. Clients warn of any other, of which OpenAPI has some.
var formats = []any{"date", "date-time", "uri-reference", "uuid"}

// copy copies a part of a schema with its references to $defs, and adds what they name to definitions. What is OpenAPI's own,
// the keyword discriminator and formats, is left out.
func (s shapes) copy(part any, definitions schema) (any, error) {
	switch part := part.(type) {
	case schema:
		return s.copyMembers(part, definitions)
	case map[string]any:
		return s.copyMembers(part, definitions)
	case []any:
		copied := make([]any, len(part))
		for i, member := range part {
			var err error
			if copied[i], err = s.copy(member, definitions); err != nil {
				return nil, err
			}
		}
		return copied, nil
	}
	return part, nil
}

func (s shapes) copyMembers(part map[string]any, definitions schema) (any, error) {
	copied := schema{}
	for _, key := range slices.Sorted(maps.Keys(part)) {
		value := part[key]
		reference, isText := value.(string)
		name, refers := strings.CutPrefix(reference, componentPrefix)
		switch {
		case key == "discriminator" || key == "format" && !slices.Contains(formats, value):
		case key == "properties":
			named := schema{}
			for _, property := range slices.Sorted(maps.Keys(asSchema(value))) {
				member, err := s.copy(asSchema(value)[property], definitions)
				if err != nil {
					return nil, err
				}
				named[property] = member
			}
			copied[key] = named
		case key == "examples" || key == "enum" || key == "const" || key == "default":
			copied[key] = value
		case key == "$ref" && isText && refers:
			copied[key] = "#/$defs/" + name
			if err := s.define(name, definitions); err != nil {
				return nil, err
			}
		default:
			member, err := s.copy(value, definitions)
			if err != nil {
				return nil, err
			}
			copied[key] = member
		}
	}
	return copied, nil
}

// define adds a schema of the description to definitions, with all that it refers to.
func (s shapes) define(name string, definitions schema) error {
	if _, known := definitions[name]; known {
		return nil
	}
	found, ok := s[name]
	if !ok {
		return fmt.Errorf("the description refers to a schema %q that it does not have", name)
	}
	definitions[name] = schema{} // it may refer to itself
	copied, err := s.copy(found, definitions)
	definitions[name] = copied
	return err
}

// asSchema is a part of a schema that is an object; anything else is an empty one.
func asSchema(part any) schema {
	switch part := part.(type) {
	case schema:
		return part
	case map[string]any:
		return part
	}
	return schema{}
}
