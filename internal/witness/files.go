package witness

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"reckon/internal/private"
)

// keyName is the file of a witness's private key, PKCS #8 in PEM. Its header Name is the witness's, which never changes: another name
// for the same key could be taken for another witness.
const keyName = "key.pem"

// HasKey reports whether a folder is one of a witness.
func HasKey(folder string) (bool, error) {
	_, err := os.Lstat(filepath.Join(folder, keyName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// openKey reads the witness's key, or makes it where it has cosigned nothing.
func openKey(folder, name string, now func() time.Time, isNew bool) (signer, error) {
	content, err := os.ReadFile(filepath.Join(folder, keyName))
	if errors.Is(err, fs.ErrNotExist) && !isNew {
		return signer{}, fmt.Errorf("%s is gone, of a witness that has cosigned: bring it back, or make another witness, with another name and folder", filepath.Join(folder, keyName))
	}
	if errors.Is(err, fs.ErrNotExist) {
		if content, err = makeKey(folder, name); err != nil {
			return signer{}, fmt.Errorf("key of the witness: %w", err)
		}
	}
	if err != nil {
		return signer{}, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return signer{}, fmt.Errorf("%s is not a PEM file", keyName)
	}
	if made := block.Headers["Name"]; made != name {
		return signer{}, fmt.Errorf("the key in %s is of the witness %q: give that name, or another folder", folder, made)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return signer{}, fmt.Errorf("key of the witness: %w", err)
	}
	own, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return signer{}, errors.New("the key of the witness is no Ed25519 key")
	}
	key, err := NewKey(name, own.Public().(ed25519.PublicKey))
	return signer{key, own, now}, err
}

func makeKey(folder, name string) ([]byte, error) {
	_, made, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(made)
	if err != nil {
		return nil, err
	}
	content := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Headers: map[string]string{"Name": name}, Bytes: der})
	return content, private.ReplaceFile(filepath.Join(folder, keyName), content)
}
