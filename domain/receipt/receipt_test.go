package receipt_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/test/need"
)

func testKey() ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	return ed25519.NewKeyFromSeed(seed)
}

// TestVectors compares with vectors made by Python's json and an independent Ed25519.
func TestVectors(t *testing.T) {
	raw, err := os.ReadFile(need.Shared(t, "receipt_vectors_sample.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		JWKS    struct{ Keys []struct{ Kid, X string } }
		Vectors []struct {
			Name, Canonical, SHA256, Signature string
			RecordJSON                         string `json:"record_json"`
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("no vectors in the file")
	}
	key := testKey()
	signer := &receipt.Signer{KID: keys.Thumbprint(key.Public().(ed25519.PublicKey)), Key: key}
	if signer.KID != file.JWKS.Keys[0].Kid {
		t.Errorf("kid %s, want %s", signer.KID, file.JWKS.Keys[0].Kid)
	}
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			seal, err := receipt.SealJSON(json.RawMessage(v.RecordJSON), signer)
			if err != nil {
				t.Fatal(err)
			}
			if string(seal.Canonical) != v.Canonical || seal.ID != v.SHA256 || seal.Signature != v.Signature {
				t.Errorf("got  %s %s %s\nwant %s %s %s", seal.Canonical, seal.ID, seal.Signature, v.Canonical, v.SHA256, v.Signature)
			}
		})
	}
}

// TestTraps are the differences between Go and Python seen in practice.
func TestTraps(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"<>&"}`:                          `{"a":"<>&"}`,
		"{\"a\":\"\x7f\"}":                     `{"a":"\u007f"}`,
		`{"a":"😀"}`:                            `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud83d\ude00"}`:                 `{"a":"\ud83d\ude00"}`,
		`{"a":"\/\b\f\u0001"}`:                 `{"a":"/\b\f\u0001"}`,
		`{"a":1E400}`:                          "",
		`{"a":-0}`:                             `{"a":0}`,
		`{"a":-0.0}`:                           `{"a":-0.0}`,
		`{"a":1e16}`:                           `{"a":1e+16}`,
		`{"a":1e2}`:                            `{"a":100.0}`,
		`{"\uffff":1,"😀":2}`:                   `{"\uffff":1,"\ud83d\ude00":2}`,
		`{"a":123456789012345678901234567890}`: `{"a":123456789012345678901234567890}`,
		`{"a":1,"a":2}`:                        "",
		`{"a":1,"\u0061":2}`:                   "",
		`{"a":"\ud800"}`:                       "",
		`{"a":"\udc00\ud800"}`:                 "",
		`{"a":"\ud800\ud800"}`:                 "",
		`{"a":"\\ud800"}`:                      `{"a":"\\ud800"}`,
		"{\"a\":\"\xff\"}":                     "",
		`{} {}`:                                "",
		`[1,]`:                                 "",
		``:                                     "",
		strings.Repeat("[", 70):                "",
	} {
		got, err := receipt.Canonical([]byte(in))
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%.40s: got %s (%v), want %s", in, got, err, want)
		}
	}
}

// TestEveryByteIsCovered changes each byte of record, id and signature in turn.
func TestEveryByteIsCovered(t *testing.T) {
	key := testKey()
	public := key.Public().(ed25519.PublicKey)
	known := map[string]ed25519.PublicKey{keys.Thumbprint(public): public}
	seal, err := receipt.SealJSON(receipt.Record{V: receipt.Version, RunID: 7, Account: "a", Expression: "1+1", Answer: "2", Warnings: []string{"é"}},
		&receipt.Signer{KID: keys.Thumbprint(public), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	good := seal.Envelope("/keys", "/api/receipts/7")
	if err := receipt.Check(good, known); err != nil {
		t.Fatal(err)
	}
	change := func(s string, i int) string {
		b := []byte(s)
		b[i] ^= 1
		return string(b)
	}
	for i := range good.Record {
		bad := good
		bad.Record = json.RawMessage(change(string(good.Record), i))
		if receipt.Check(bad, known) == nil {
			t.Errorf("record byte %d changed and not noticed", i)
		}
		bad.CanonicalForm = string(bad.Record)
		if receipt.Check(bad, known) == nil {
			t.Errorf("record and canonical byte %d changed and not noticed", i)
		}
	}
	for i := range good.ID {
		bad := good
		bad.ID = change(good.ID, i)
		if !errors.Is(receipt.Check(bad, known), receipt.ErrIDDiffers) {
			t.Errorf("id byte %d changed and not noticed", i)
		}
	}
	for i := range *good.Signature {
		bad := good
		changed := change(*good.Signature, i)
		bad.Signature = &changed
		if !errors.Is(receipt.Check(bad, known), receipt.ErrBadSignature) {
			t.Errorf("signature byte %d changed and not noticed", i)
		}
	}
	split := *good.Signature + "\n"
	{
		bad := good
		bad.Signature = &split
		if !errors.Is(receipt.Check(bad, known), receipt.ErrBadSignature) {
			t.Error("a signature with a line end was accepted")
		}
	}
	unsigned, err := receipt.SealJSON(map[string]int{"v": 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := unsigned.Envelope("/keys", "")
	if e.Signature != nil || e.UnsignedReason == "" || !errors.Is(receipt.Check(e, known), receipt.ErrUnsigned) {
		t.Errorf("an unsigned seal must say so: %+v", e)
	}
	if !errors.Is(receipt.Check(good, nil), receipt.ErrUnknownKey) {
		t.Error("a kid outside the key set must be named")
	}
}

func TestCanonicalIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "record")
		once, err := receipt.CanonicalOf(m)
		if err != nil {
			t.Skip("not canonicalisable")
		}
		twice, err := receipt.Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s then %s (%v)", once, twice, err)
		}
	})
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"z":{"b":[1,{"y":2}]},"a":"\u00e9 1e5","n":1.5e300}`))
	f.Add([]byte(`"\ud800"`))
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := receipt.Canonical(in)
		if err != nil {
			return
		}
		for _, b := range once {
			if b < ' ' || b > '~' {
				t.Fatalf("byte %#x in %s", b, once)
			}
		}
		twice, err := receipt.Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s then %s (%v)", once, twice, err)
		}
	})
}
