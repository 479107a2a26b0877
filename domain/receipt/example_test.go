package receipt_test

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reckon/domain/receipt"
)

// A receipt is checked with published keys alone. Whoever changes one letter of the record breaks it.
func ExampleCheck() {
	secret := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	published := map[string]ed25519.PublicKey{"key-1": secret.Public().(ed25519.PublicKey)}

	seal, err := receipt.SealJSON(receipt.Record{V: receipt.Version, RunID: 1, Expression: "1+1", Answer: "2", Status: "success"}, &receipt.Signer{KID: "key-1", Key: secret})
	if err != nil {
		panic(err)
	}
	served := seal.Envelope("/.well-known/service-keys.json", "/api/receipts/1")
	fmt.Println(receipt.Check(served, published))

	forged := served
	forged.Record = json.RawMessage(strings.Replace(string(served.Record), `"answer":"2"`, `"answer":"3"`, 1))
	fmt.Println(errors.Is(receipt.Check(forged, published), receipt.ErrCanonicalDiffers))
	// Output:
	// <nil>
	// true
}
