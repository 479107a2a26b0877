package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"reckon/domain/lean/export"
)

const smallExport = `{"meta":{"format":{"version":"3.1.0"}}}
{"in":1,"str":{"pre":0,"str":"a"}}
`

func TestNormalise(t *testing.T) {
	for raw, want := range map[string]string{
		"a\nb\n": "a\nb\n", "a\nb": "a\nb\n", "a\r\nb\r\n": "a\nb\n", "a\r\nb": "a\nb\n", "a\n\n": "a\n", "a\n  \r\n": "a\n", "a\n ": "a\n",
		"": "", "\n": "", " a \n": " a \n", "a\rb\n": "a\rb\n", "a\r\r\n": "a\n",
	} {
		if got, err := normalise([]byte(raw)); err != nil || string(got) != want {
			t.Errorf("%q: %q %v, want %q", raw, got, err, want)
		}
	}
	for raw, line := range map[string]int{"a\n\nb\n": 2, "\na\n": 1, "a\n\n\n": 2, "a\n \t\nb": 2} {
		var bad *export.Error
		if _, err := normalise([]byte(raw)); !errors.As(err, &bad) || bad.Class != export.BlankLine || bad.Line != line {
			t.Errorf("%q: %v, want a blank line %d", raw, err, line)
		}
	}
}

func TestNames(t *testing.T) {
	for _, good := range []string{"a", "A.b", "_private.Mod.0.foo", "Nat.add_comm'", "«a b»", "x.«term_+_».y", "«a.b»", "∀x", "a!", "instOfNat_1", "«»", "«».a", "a.«»", `«Nat\u{3164}»`, "«#5»", strings.Repeat("a", 1001)} {
		if !validName(good) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{"", ".", "a.", ".a", "a..b", "a b", "«a", "a»", "«»»", "«».", "«a»b", "a\x00", "«a\nb»", "\xff", "«a«b»»"} {
		if validName(bad) {
			t.Errorf("%q is taken for a name", bad)
		}
	}
}

func TestDeclarations(t *testing.T) {
	long := func(r string, n int) string { return strings.Repeat(r, n) }
	for _, c := range []struct {
		names []string
		want  string // beginning of the error
	}{
		{[]string{"a", long("b", export.MaxNameBytes)}, ""},
		{nil, "declarations must be 1 to 32 names"},
		{[]string{"a", "b c"}, `declarations[1] "b c" is no name`},
		{[]string{"a", "b", "a"}, `declarations[2] "a" is given twice`},
		{[]string{long("é", export.MaxNameBytes/2+1)}, `declarations[0] "` + long("é", 40) + `"… is longer than the 16384 bytes`},
		{[]string{long("a", export.MaxNameBytes), long("b", export.MaxNameBytes), long("c", export.MaxNameBytes), long("d", export.MaxNameBytes), "e"}, "declarations may have 65536 bytes together"},
	} {
		err := checkDeclarations(c.names)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestModules(t *testing.T) {
	for module, good := range map[string]bool{
		"Service": true, "A.B.C": true, "my_proofs": true, "": false, ".": false, "A.": false, "A..B": false, "../x": false, "A/B": false, "Lean": false, "Init.Prelude": false,
		"Std.X": false, "Lake": false, "1A": false, "é": false, "A B": false, strings.Repeat("A", 201): false,
	} {
		if validModule(module) != good {
			t.Errorf("%q: %v", module, !good)
		}
	}
}

// FuzzReadExport: whatever is uploaded, what is kept is known by its own hash,
// reads the same again, and never panics.
func FuzzReadExport(f *testing.F) {
	for _, seed := range []string{smallExport, strings.ReplaceAll(smallExport, "\n", "\r\n"), smallExport + "\n", strings.TrimSpace(smallExport), smallExport + "\n\n", "\r\r\n", "{}", smallExport + "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		content, e, err := readExport(t.Context(), bytes.NewReader(bytes.Clone(raw)))
		if err != nil {
			var bad *export.Error
			if !errors.As(err, &bad) {
				t.Fatalf("%v is no refusal", err)
			}
			return
		}
		sum := sha256.Sum256(content)
		if e.SHA256 != hex.EncodeToString(sum[:]) || e.Bytes != int64(len(content)) {
			t.Fatalf("%d bytes kept as %s of %d", len(content), e.SHA256, e.Bytes)
		}
		again, same, err := readExport(t.Context(), bytes.NewReader(bytes.Clone(content)))
		if err != nil || !bytes.Equal(again, content) || same.SHA256 != e.SHA256 {
			t.Fatalf("read again: %v", err)
		}
	})
}
