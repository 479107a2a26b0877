// Package keyring keeps the private halves of the keys that seal receipts: one
// PEM file each, readable by its owner only, named by the key's kid.
//
// It promises that a key file is durable before Generate returns the public half. Which
// key seals is decided by the stream `keys`.
package keyring

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

	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/internal/disk"
	"reckon/internal/private"
)

// Ring is a folder of private keys.
type Ring struct{ folder string }

// Open makes the folder if it is missing.
func Open(folder string) (Ring, error) {
	if err := disk.MakeFolder(folder); err != nil {
		return Ring{}, fmt.Errorf("folder of signing keys: %w", err)
	}
	return Ring{folder: folder}, nil
}

// ErrKeyNotFound is returned when the folder has no private half of a key.
var ErrKeyNotFound = errors.New("the private half of this signing key is not in the key folder")

func (r Ring) path(kid string) string { return filepath.Join(r.folder, kid+".pem") }

// Generate makes a key pair, stores its private half durably and returns the public half.
func (r Ring) Generate() (ed25519.PublicKey, error) {
	public, made, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(made)
	if err != nil {
		return nil, err
	}
	path := r.path(keys.Thumbprint(public))
	if err := private.ReplaceFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
		return nil, fmt.Errorf("keep signing key: %w", err)
	}
	return public, nil
}

// Sign signs with the private half of a key; ErrKeyNotFound when it is not here.
func (r Ring) Sign(kid string, message []byte) ([]byte, error) {
	signer, err := r.Signer(kid)
	if err != nil {
		return nil, err
	}
	return ed25519.Sign(signer.Key, message), nil
}

// Holds reports whether the private half of a key is here and can be used.
func (r Ring) Holds(kid string) bool {
	_, err := r.Signer(kid)
	return err == nil
}

// Signer loads the private half of a key, or returns ErrKeyNotFound.
func (r Ring) Signer(kid string) (*receipt.Signer, error) {
	content, err := os.ReadFile(r.path(kid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrKeyNotFound, kid)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("signing key %s is not a PEM file", kid)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w", kid, err)
	}
	own, ok := parsed.(ed25519.PrivateKey)
	if !ok || keys.Thumbprint(own.Public().(ed25519.PublicKey)) != kid {
		return nil, fmt.Errorf("signing key %s: the file holds another key", kid)
	}
	return &receipt.Signer{KID: kid, Key: own}, nil
}
