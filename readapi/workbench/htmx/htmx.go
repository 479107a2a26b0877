// Package htmx holds the library by which pages of the workbench exchange a part of themselves: htmx by Big Sky Software, unmodified.
//
// It promises the bytes that manifest.json names, with their origin and licence; a test compares them.
package htmx

import _ "embed"

//go:embed htmx.min.js
var Script []byte

//go:embed manifest.json
var Manifest []byte
