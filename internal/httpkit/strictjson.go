package httpkit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxJSONDepth bounds how deep a body may nest; nothing the service takes is deeper than five.
const maxJSONDepth = 64

// JSONError says why bytes are refused as a request body.
type JSONError struct {
	OffsetBytes int64
	Reason      string
}

func (e *JSONError) Error() string {
	return fmt.Sprintf("%s (at byte %d)", e.Reason, e.OffsetBytes)
}

// CheckJSON accepts exactly one JSON value (RFC 8259) that means the same to
// every reader (RFC 7493, I-JSON): UTF-8 without a byte order mark, no lone
// surrogates, no U+0000, no key twice in one object, nothing after it, and no
// deeper than maxJSONDepth. It never recurses and stops at the first fault.
func CheckJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return &JSONError{0, "the body starts with a byte order mark; send UTF-8 without one"}
	}
	// jsontext refuses repeated keys, invalid UTF-8 and lone surrogates by default.
	decoder := jsontext.NewDecoder(bytes.NewReader(data))
	for values := 0; ; {
		token, err := decoder.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && values == 1:
			return nil
		case err != nil:
			return jsonError(decoder, err)
		case decoder.StackDepth() > maxJSONDepth:
			return &JSONError{decoder.InputOffset(), fmt.Sprintf("the body nests deeper than %d levels", maxJSONDepth)}
		case token.Kind() == '"' && strings.Contains(token.String(), "\x00"):
			return &JSONError{decoder.InputOffset(), `the character \u0000 is not accepted`}
		}
		if decoder.StackDepth() == 0 {
			if values++; values > 1 {
				return &JSONError{decoder.InputOffset(), "the body is not one JSON value: another one follows it"}
			}
		}
	}
}

func jsonError(decoder *jsontext.Decoder, err error) error {
	fault, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok: // it ended before anything began
		return &JSONError{decoder.InputOffset(), "the body is not one JSON value: " + err.Error()}
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &JSONError{fault.ByteOffset, fmt.Sprintf("the key %q stands twice in one object", truncate(fault.JSONPointer.LastToken()))}
	}
	return &JSONError{fault.ByteOffset, "the body is not one JSON value: " + truncate(fault.Err.Error())}
}

// truncate keeps foreign text short enough to repeat in an answer.
func truncate(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
