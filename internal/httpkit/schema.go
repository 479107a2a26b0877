package httpkit

import "github.com/danielgtaylor/huma/v2"

// Schema is the JSON schema of a body field that a Route declares beside its input type.
type Schema = huma.Schema

// Types of a Schema.
const (
	TypeArray   = huma.TypeArray
	TypeInteger = huma.TypeInteger
	TypeObject  = huma.TypeObject
	TypeString  = huma.TypeString
)
