package verifier

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"reckon/domain/receipt"
)

// Bounds of what is read: bytes of a file, objects and arrays within each other, signatures of a checkpoint.
const (
	MaxBytes      = 8 << 20
	maxDepth      = 64
	maxSignatures = 100
	maxLeaves     = 1 << 24 // of a tree that is read whole
)

// RefusedError says why a file does not verify.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// object is a JSON object: its values are objects, []any, string, json.Number, bool and nil.
type object = map[string]any

var (
	natural = regexp.MustCompile(`^(0|[1-9][0-9]{0,15})$`)
	integer = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,15})$`)
	marks   = regexp.MustCompile(`(?s)"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\z)|[\[\]{}]`)
)

// readJSON reads an object of which no two readers can disagree: names are unique at any depth, numbers are integers below 2^53.
func readJSON(raw []byte, what string) (object, error) {
	if len(raw) > MaxBytes {
		return nil, refuse("%s is longer than %d bytes", what, MaxBytes)
	}
	malformed := refuse("%s is not JSON of unique names, integers below 2^53 and Unicode", what)
	if !utf8.Valid(raw) {
		return nil, malformed
	}
	if depthOf(raw) > maxDepth {
		return nil, refuse("%s is nested deeper than %d", what, maxDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || !integersOnly(value) {
		return nil, malformed
	}
	if _, err := receipt.Canonical(raw); err != nil { // a name that stands twice, a lone surrogate, more than one value
		return nil, malformed
	}
	members, ok := value.(object)
	if !ok {
		return nil, refuse("%s is not a JSON object", what)
	}
	return members, nil
}

func depthOf(raw []byte) (deepest int) {
	depth := 0
	for _, mark := range marks.FindAll(raw, -1) {
		switch mark[0] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		deepest = max(deepest, depth)
	}
	return deepest
}

func integersOnly(value any) bool {
	switch v := value.(type) {
	case json.Number:
		n, err := v.Int64()
		return err == nil && integer.MatchString(v.String()) && n > -1<<53 && n < 1<<53
	case []any:
		return !slices.ContainsFunc(v, func(each any) bool { return !integersOnly(each) })
	case object:
		for _, each := range v {
			if !integersOnly(each) {
				return false
			}
		}
	}
	return true
}

func text(members object, name, what string) (string, error) {
	if value, ok := members[name].(string); ok {
		return value, nil
	}
	return "", refuse("%s has no text %s", what, name)
}

// canonical is the canonical form (interface §2.6) of a value that was read.
func canonical(value any) string {
	form, err := receipt.CanonicalOf(value)
	if err != nil {
		panic(fmt.Sprintf("what readJSON reads has a canonical form: %v", err))
	}
	return string(form)
}

// decode64 returns the bytes of base64 in its only spelling; length -1: of any length.
func decode64(encoding *base64.Encoding, spelled string, length int) ([]byte, bool) {
	raw, err := encoding.Strict().DecodeString(spelled)
	if err != nil || encoding.EncodeToString(raw) != spelled || length >= 0 && len(raw) != length {
		return nil, false
	}
	return raw, true
}
