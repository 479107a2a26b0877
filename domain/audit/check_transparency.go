package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/transparency"
)

// transparencyCheck makes the Merkle tree of the transparency log again, from receipts and certificates in their order, by code of
// its own (RFC 6962, section 2.1), and compares each checkpoint with it.
type transparencyCheck struct {
	p       *pass
	keys    *keyCheck
	size    int64      // leaves in subtrees
	perfect []subtree  // of the tree of the last checkpoint, the largest first
	after   []leafItem // leaves that no checkpoint covers
	last    transparency.Signed
	cosigns map[string]bool // witnesses of the last checkpoint
}

// subtree is a complete one: of 2^height leaves.
type subtree struct {
	height int
	root   [sha256.Size]byte
}

type leafItem struct {
	place transparency.LeafPlace
	hash  [sha256.Size]byte
}

func newTransparencyCheck(p *pass, keys *keyCheck) *transparencyCheck {
	return &transparencyCheck{p: p, keys: keys}
}

func (c *transparencyCheck) take(it *Item) {
	switch e := it.Event.(type) {
	case run.Sealed:
		if e.Signature != "" {
			c.addLeaf(it, "receipt", e.ReceiptID, e.KID, e.Signature)
		}
	case certificate.Issued:
		findings := ""
		if e.FindingsBlob != nil {
			findings = e.FindingsBlob.SHA256
		} else if document, err := event.Marshal(e.Findings); err == nil {
			sum := sha256.Sum256(document)
			findings = hex.EncodeToString(sum[:])
		}
		c.addLeaf(it, "certificate", e.CertificateID, string(e.Verdict), e.Export.SHA256, e.Checker.Rev, e.CreatedAt, findings)
	case transparency.Signed:
		c.signed(it, e)
	case transparency.Cosigned:
		c.cosigned(it, e)
	}
}

func (c *transparencyCheck) addLeaf(it *Item, lines ...string) {
	entry := sha256.Sum256([]byte("reckon leaf v1\n" + strings.Join(lines, "\n") + "\n"))
	c.after = append(c.after, leafItem{transparency.LeafPlace{Stream: it.Stream, Revision: it.Revision}, sha256.Sum256(append([]byte{0}, entry[:]...))})
}

// grow puts leaves into the tree.
func (c *transparencyCheck) grow(leaves []leafItem) {
	for _, leaf := range leaves {
		top := subtree{root: leaf.hash}
		for n := len(c.perfect); n > 0 && c.perfect[n-1].height == top.height; n = len(c.perfect) {
			top = subtree{top.height + 1, above(c.perfect[n-1].root, top.root)}
			c.perfect = c.perfect[:n-1]
		}
		c.perfect = append(c.perfect, top)
		c.size++
	}
}

func above(left, right [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

func (c *transparencyCheck) signed(it *Item, e transparency.Signed) {
	wrong := func(expected, found string) {
		c.p.found(checkTransparency, KindCheckpoint, it.Recorded, expected, found)
	}
	more := e.Size - c.size
	switch {
	case more < 1:
		wrong(fmt.Sprintf("more than the %d leaves of the checkpoint before", c.size), fmt.Sprintf("%d leaves", e.Size))
		return
	case more > int64(len(c.after)):
		wrong(fmt.Sprintf("at most the %d leaves that the log has here", c.size+int64(len(c.after))), fmt.Sprintf("%d leaves", e.Size))
		return
	}
	if last := c.after[more-1].place; last != e.Last {
		wrong(fmt.Sprintf("%s, revision %d, as the last of %d leaves", last.Stream, last.Revision, e.Size), fmt.Sprintf("%s, revision %d", shown(e.Last.Stream), e.Last.Revision))
	}
	c.grow(c.after[:more])
	c.after = slices.Clone(c.after[more:])
	root, roots := c.perfect[len(c.perfect)-1].root, make([]string, len(c.perfect))
	for i, s := range slices.Backward(c.perfect) {
		if roots[i] = base64.StdEncoding.EncodeToString(s.root[:]); i < len(c.perfect)-1 {
			root = above(s.root, root)
		}
	}
	derived := base64.StdEncoding.EncodeToString(root[:])
	if e.Root != derived || !slices.Equal(e.Roots, roots) {
		wrong(fmt.Sprintf("root %s of the log's first %d leaves, and the roots of its complete subtrees", derived, e.Size), "root "+shown(e.Root))
	}
	if c.last.Origin != "" && e.Origin != c.last.Origin {
		wrong("origin "+c.last.Origin+", as in the checkpoint before", shown(e.Origin))
	}
	c.verify(it, e, derived)
	c.last, c.cosigns = e, map[string]bool{}
}

// verify checks the signature over the derived tree.
func (c *transparencyCheck) verify(it *Item, e transparency.Signed, root string) {
	public, unfit := c.keys.sealing(e.KID, it.Metadata.At)
	if unfit != "" {
		c.p.found(checkTransparency, KindCheckpoint, it.Recorded, "a key that sealed then", unfit)
	}
	if encoded := base64.RawURLEncoding.EncodeToString(public); public != nil && encoded != e.PublicKey {
		c.p.found(checkTransparency, KindCheckpoint, it.Recorded, "the public half "+encoded+" of "+e.KID, shown(e.PublicKey))
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(e.Signature)
	body := fmt.Sprintf("%s\n%d\n%s\n", e.Origin, e.Size, root)
	if public != nil && (err != nil || !ed25519.Verify(public, []byte(body), signature)) {
		c.p.found(checkTransparency, KindCheckpointSignature, it.Recorded, "a signature of "+e.KID+" over the tree that the log makes", shown(e.Signature))
	}
}

func (c *transparencyCheck) cosigned(it *Item, e transparency.Cosigned) {
	if e.Size != c.last.Size || e.Root != c.last.Root {
		c.p.found(checkTransparency, KindCheckpoint, it.Recorded, fmt.Sprintf("cosignatures of the checkpoint before, of %d leaves", c.last.Size), fmt.Sprintf("of one of %d leaves", e.Size))
		return
	}
	for _, line := range e.Cosignatures {
		fields := strings.Split(line, " ")
		var signature []byte
		if len(fields) == 3 && fields[0] == "—" {
			signature, _ = base64.StdEncoding.Strict().DecodeString(fields[2])
		}
		if len(signature) != 4+8+ed25519.SignatureSize || c.cosigns[fields[1]] {
			c.p.found(checkTransparency, KindCheckpoint, it.Recorded, "one line with a name and a timestamped signature for each witness (C2SP tlog-cosignature)", shown(line))
			continue
		}
		c.cosigns[fields[1]] = true
	}
}

func (c *transparencyCheck) end() {}
