package transparency_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"reckon/domain/transparency"
)

func entry(i int) transparency.Entry { return sha256.Sum256(fmt.Append(nil, i)) }

// peer is the tree as golang.org/x/mod/sumdb/tlog keeps it: every stored hash.
type peer struct{ stored []tlog.Hash }

func (p *peer) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index >= int64(len(p.stored)) {
			return nil, errors.New("no such hash")
		}
		hashes[i] = p.stored[index]
	}
	return hashes, nil
}

func (p *peer) add(t rapid.TB, n int64, e transparency.Entry) {
	t.Helper()
	hashes, err := tlog.StoredHashes(n, e[:], p)
	if err != nil {
		t.Fatal(err)
	}
	p.stored = append(p.stored, hashes...)
}

// TestTreesAreThoseOfRFC6962: root after root, and node after node, they are those that another implementation makes.
func TestTreesAreThoseOfRFC6962(t *testing.T) {
	var tree transparency.Tree
	var other peer
	if empty := sha256.Sum256(nil); tree.Root() != empty {
		t.Error("the empty tree")
	}
	for n := range 1100 {
		other.add(t, int64(n), entry(n))
		before := slices.Clone(tree.Roots)
		next := tree.With(entry(n), func(height int, index int64, h transparency.Hash) {
			if want := other.stored[tlog.StoredHashIndex(height, index)]; tlog.Hash(h) != want {
				t.Fatalf("leaf %d completes node %d of height %d: %v, want %v", n, index, height, h, want)
			}
		})
		if !slices.Equal(before, tree.Roots) {
			t.Fatalf("leaf %d changed the tree that it was added to", n)
		}
		tree = next
		want, err := tlog.TreeHash(tree.Size, &other)
		if err != nil || tlog.Hash(tree.Root()) != want {
			t.Fatalf("size %d: %v, %v; want %v", tree.Size, tree.Root(), err, want)
		}
		if read, err := transparency.DecodeTree(tree.Size, tree.EncodeRoots()); err != nil || read.Root() != tree.Root() {
			t.Fatalf("size %d read back: %v, %v", tree.Size, read, err)
		}
	}
}

func FuzzDecodeTree(f *testing.F) {
	f.Add(int64(1), "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=")
	f.Add(int64(-1), "")
	f.Fuzz(func(t *testing.T, size int64, root string) {
		tree, err := transparency.DecodeTree(size, []string{root})
		if err == nil && (tree.Size != size || !slices.Equal(tree.EncodeRoots(), []string{root})) {
			t.Errorf("%d %q is read as %v", size, root, tree)
		}
	})
}
