package transparency

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Hash is a node of the tree (RFC 6962, section 2.1).
type Hash [sha256.Size]byte

// LeafHash is the node of an entry.
func LeafHash(e Entry) Hash {
	return sha256.Sum256(append([]byte{0}, e[:]...))
}

// NodeHash is the node above two others.
func NodeHash(left, right Hash) Hash {
	var both [1 + 2*sha256.Size]byte
	both[0] = 1
	copy(both[1:], left[:])
	copy(both[1+sha256.Size:], right[:])
	return sha256.Sum256(both[:])
}

// Tree is a Merkle tree of which only the roots of its complete subtrees are kept: one for each binary digit 1 of Size, the
// largest subtree first. That is enough to append to it and to compute its root. The zero Tree is empty.
type Tree struct {
	Size  int64
	Roots []Hash
}

// With returns the tree with one more entry; t stays as it is. completed is called with each node that became complete, its
// height above the leaves, from 0, and its index at that height; nil: no caller needs them.
func (t Tree) With(e Entry, completed func(height int, index int64, h Hash)) Tree {
	if completed == nil {
		completed = func(int, int64, Hash) {}
	}
	roots := append(slices.Clone(t.Roots), LeafHash(e))
	completed(0, t.Size, roots[len(roots)-1])
	for height, rest := 1, t.Size; rest&1 == 1; height, rest = height+1, rest>>1 {
		last := len(roots) - 1
		roots = append(roots[:last-1], NodeHash(roots[last-1], roots[last]))
		completed(height, t.Size>>height, roots[last-1])
	}
	return Tree{Size: t.Size + 1, Roots: roots}
}

// Root is the hash of the whole tree; of an empty one the hash of nothing.
func (t Tree) Root() Hash {
	if len(t.Roots) == 0 {
		return sha256.Sum256(nil)
	}
	root := t.Roots[len(t.Roots)-1]
	for _, left := range slices.Backward(t.Roots[:len(t.Roots)-1]) {
		root = NodeHash(left, root)
	}
	return root
}

// String is a hash in base64, as checkpoints and proofs have it.
func (h Hash) String() string { return base64.StdEncoding.EncodeToString(h[:]) }

// EncodeRoots are a tree's roots in base64.
func (t Tree) EncodeRoots() []string {
	encoded := make([]string, len(t.Roots))
	for i, root := range t.Roots {
		encoded[i] = root.String()
	}
	return encoded
}

// errNoTree is every error of DecodeTree.
var errNoTree = errors.New("not the roots of a tree of this size")

// DecodeTree reads what EncodeRoots wrote of a tree of a size.
func DecodeTree(size int64, encoded []string) (Tree, error) {
	if size < 0 || len(encoded) != bits.OnesCount64(uint64(size)) {
		return Tree{}, fmt.Errorf("%w: %d roots of %d leaves", errNoTree, len(encoded), size)
	}
	t := Tree{Size: size, Roots: make([]Hash, len(encoded))}
	for i, text := range encoded {
		decoded, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil || len(decoded) != sha256.Size {
			return Tree{}, fmt.Errorf("%w: root %d", errNoTree, i)
		}
		copy(t.Roots[i][:], decoded)
	}
	return t, nil
}
