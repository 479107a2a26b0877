package keyring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"reckon/internal/private"
)

// signedTreeFile lies beside the private keys: who restores the log from a backup does not restore it too.
const signedTreeFile = "signed-tree"

// maxSignedTree bounds the file, in bytes.
const maxSignedTree = 4096

// SignedTree remembers the largest tree of the transparency log that was signed with the keys of a folder.
type SignedTree struct{ folder string }

// SignedTree is that of the ring's folder.
func (r Ring) SignedTree() SignedTree { return SignedTree(r) }

// Load returns the body of the checkpoint that was stored last; empty before the first.
func (t SignedTree) Load() (string, error) {
	path := filepath.Join(t.folder, signedTreeFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && len(content) > maxSignedTree {
		err = fmt.Errorf("%s has %d bytes: it is no checkpoint", path, len(content))
	}
	return string(content), err
}

// Store keeps the body of a checkpoint durably. Processes that share the folder may store at once: each file is whole.
func (t SignedTree) Store(body string) error {
	return private.ReplaceFile(filepath.Join(t.folder, signedTreeFile), []byte(body))
}
