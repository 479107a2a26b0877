package httpkit_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"reckon/internal/httpkit"
)

// FuzzCheckJSON: what is accepted is JSON that survives decoding and encoding
// unchanged in meaning, and nothing in it was replaced.
func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":[1,2,{"b":null}],"c":"\ud83d\ude00"}`, `"\ud800"`, `"\udc00\ud800"`, `"\\ud800"`, `{"a":1,"a":1}`, `[[[]]]`,
		`{"a":1,}`, `[1,]`, `{"a" 1}`, "\xff", "\xef\xbb\xbf1", `1 2`, `"\u0000"`, `"\u12"`, `-0`, `1e999`, `{"":{"":[]}}`, `[{"a":1},{"a":1}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if httpkit.CheckJSON(data) != nil {
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("accepted %q", data)
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			t.Fatalf("accepted %q: %v", data, err)
		}
		once, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(once, []byte("�")) && !bytes.Contains(data, []byte("�")) && !bytes.Contains(bytes.ToLower(data), []byte(`\ufffd`)) {
			t.Fatalf("a character of %q was replaced: %q", data, once)
		}
		if err := httpkit.CheckJSON(once); err != nil {
			t.Fatalf("%q became %q: %v", data, once, err)
		}
	})
}

func FuzzConsistencyToken(f *testing.F) {
	f.Add(httpkit.ConsistencyToken{Log: "log"}.String())
	f.Add("AQAAAAAAAAAAAAAAAAAAAAA")
	f.Add("AX0000000\r00000000000000")
	f.Fuzz(func(t *testing.T, s string) {
		token, err := httpkit.ParseConsistencyToken(s)
		if err == nil && token.String() != s {
			t.Fatalf("%q reads as %+v, which writes %q", s, token, token.String())
		}
	})
}
