package keyring_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"reckon/domain/keys"
	"reckon/internal/keyring"
)

func TestAKeyComesBack(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "keys")
	ring, err := keyring.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	public, err := ring.Generate()
	if err != nil {
		t.Fatal(err)
	}
	kid := keys.Thumbprint(public)
	again, err := keyring.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := again.Signer(kid)
	if err != nil || signer.KID != kid || !public.Equal(signer.Key.Public()) {
		t.Fatalf("got %+v, %v", signer, err)
	}
	info, err := os.Stat(filepath.Join(folder, kid+".pem"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if _, err := ring.Signer("absent"); !errors.Is(err, keyring.ErrKeyNotFound) {
		t.Errorf("absent key: %v", err)
	}
	if err := os.Rename(filepath.Join(folder, kid+".pem"), filepath.Join(folder, "other.pem")); err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Signer("other"); err == nil {
		t.Error("a file under another key's name was accepted")
	}
}
