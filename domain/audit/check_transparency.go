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
	tree    tree       // of the last checkpoint
	after   []leafItem // leaves that no checkpoint covers
	last    transparency.Signed
	cosigns map[string]bool // witnesses of the last checkpoint
	state   Transparency
	// whole is the tree of all leaves, which is made where checkpoints were kept, and compared at their sizes.
	whole     tree
	roots     map[int64]string // of whole, at the sizes of the checkpoints that were kept; empty: not reached
	listed    map[int64]string // the bodies of those of these sizes that the stream has
	cosigners map[string]int   // places in state.Cosigned
	uncovered []place          // by witness: the first checkpoint after the last that it cosigned
	chainLog  string           // id of the hash chain; empty: the source shows none
	migrated  bool             // checkpoints of before it are of another chain
	copied    bool             // the events that follow are those that the migration copied
	commits   bool             // a checkpoint before was of a version that commits to the event log
	links     map[uint64]link  // at the positions that kept checkpoints commit to; zero: not reached
}

// link is one of the hash chain.
type link = [sha256.Size]byte

// tree is a Merkle tree (RFC 6962, section 2.1).
type tree struct {
	size    int64
	perfect []subtree // its complete subtrees, the largest first
}

// Transparency says what a log's transparency log is, and how far it was signed and cosigned.
type Transparency struct {
	Origin      string         `json:"origin"`
	Leaves      int64          `json:"leaves"`      // in the log
	Checkpoints int64          `json:"checkpoints"` // in the log
	Signed      int64          `json:"signed"`      // leaves that the newest checkpoint covers
	Root        string         `json:"root"`        // of the newest checkpoint, base64
	Cosigned    []Cosignatures `json:"cosigned"`    // by witness, in the order in which they came first
	Kept        int            `json:"kept"`        // checkpoints that were kept elsewhere and compared
	Chained     int64          `json:"chained"`     // checkpoints in the log whose hash chain was compared with the log's
	Anchored    uint64         `json:"anchored"`    // position up to which the log is that of a checkpoint that was kept elsewhere; 0: none was compared
}

// Cosignatures are those of one witness.
type Cosignatures struct {
	Witness  string `json:"witness"`
	Size     int64  `json:"size"`     // of the newest checkpoint that it cosigned, in leaves
	Verified bool   `json:"verified"` // its signature verifies under a key that was given
}

// subtree is a complete one: of 2^height leaves.
type subtree struct {
	height int
	root   [sha256.Size]byte
}

type leafItem struct {
	place transparency.LeafPlace
	hash  [sha256.Size]byte
	at    place
	link  link
}

func newTransparencyCheck(p *pass, keys *keyCheck) *transparencyCheck {
	c := &transparencyCheck{p: p, keys: keys, cosigners: map[string]int{}, roots: map[int64]string{}, listed: map[int64]string{}, links: map[uint64]link{}, uncovered: make([]place, len(p.config.Witnesses))}
	c.state.Cosigned = []Cosignatures{}
	for _, kept := range p.config.Checkpoints {
		c.roots[kept.Size] = ""
		if kept.chain != nil {
			c.links[kept.chain.Position] = link{}
		}
	}
	return c
}

func (c *transparencyCheck) take(it *Item) {
	c.takeChain(it)
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
	case transparency.Conflicted:
		c.conflicted(it, e)
	}
}

// takeChain follows which hash chain the log has, and keeps its links where checkpoints that were kept commit to them.
func (c *transparencyCheck) takeChain(it *Item) {
	if it.link != (link{}) && c.chainLog == "" { // the first record of a hash chain has the log's id, and begins it
		c.chainLog = it.ID
		if it.Stream != nodeStream || it.Name != nodeCreated {
			c.p.found(checkTransparency, KindIdentity, it.Recorded, nodeCreated+" in "+nodeStream+" as the first record of a log with a hash chain", shown(it.Name)+" in "+shown(it.Stream))
		}
	}
	switch {
	case it.Stream == identityStream && it.Name == copyingName: // it stands before what was copied
		c.migrated, c.copied = true, true
	case it.Stream == identityStream && it.Name == identityName: // the last one stands behind it
		c.copied = false
	}
	if _, wanted := c.links[it.Position.Commit]; wanted {
		c.links[it.Position.Commit] = it.link
	}
}

// conflicted: two histories of the log were shown, whatever else the log says. That is found at once.
func (c *transparencyCheck) conflicted(it *Item, e transparency.Conflicted) {
	if e.Size != c.last.Size || e.Root != c.last.Root {
		c.p.found(checkTransparency, KindCheckpoint, it.Recorded, fmt.Sprintf("an answer to the checkpoint before, of %d leaves", c.last.Size), fmt.Sprintf("to one of %d leaves", e.Size))
	}
	found := fmt.Sprintf("%s, which has cosigned %d leaves that are not its beginning", shown(e.Witness), e.Held)
	if e.Conflict == transparency.Ahead {
		found = fmt.Sprintf("%s, which has cosigned %d leaves", shown(e.Witness), e.Held)
	}
	c.p.found(checkTransparency, KindConflict, it.Recorded, fmt.Sprintf("no witness that contradicts the checkpoint of %d leaves", e.Size), found)
}

func (c *transparencyCheck) addLeaf(it *Item, lines ...string) {
	entry := sha256.Sum256([]byte("reckon leaf v1\n" + strings.Join(lines, "\n") + "\n"))
	hash := sha256.Sum256(append([]byte{0}, entry[:]...))
	c.after = append(c.after, leafItem{transparency.LeafPlace{Stream: it.Stream, Revision: it.Revision}, hash, placeOf(it), it.link})
	c.state.Leaves++
	if len(c.roots) > 0 {
		c.whole.add(hash)
		if _, kept := c.roots[c.whole.size]; kept {
			c.roots[c.whole.size], _ = c.whole.encoded()
		}
	}
}

func (t *tree) add(leaf [sha256.Size]byte) {
	top := subtree{root: leaf}
	for n := len(t.perfect); n > 0 && t.perfect[n-1].height == top.height; n = len(t.perfect) {
		top = subtree{top.height + 1, above(t.perfect[n-1].root, top.root)}
		t.perfect = t.perfect[:n-1]
	}
	t.perfect = append(t.perfect, top)
	t.size++
}

// encoded returns the root of a tree with leaves, and those of its complete subtrees, base64.
func (t *tree) encoded() (root string, roots []string) {
	top := t.perfect[len(t.perfect)-1].root
	roots = make([]string, len(t.perfect))
	for i, s := range slices.Backward(t.perfect) {
		if roots[i] = base64.StdEncoding.EncodeToString(s.root[:]); i < len(t.perfect)-1 {
			top = above(s.root, top)
		}
	}
	return base64.StdEncoding.EncodeToString(top[:]), roots
}

func above(left, right [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

func (c *transparencyCheck) signed(it *Item, e transparency.Signed) {
	wrong := func(expected, found string) {
		c.p.found(checkTransparency, KindCheckpoint, it.Recorded, expected, found)
	}
	c.state.Checkpoints++
	more := e.Size - c.tree.size
	switch {
	case more < 1:
		wrong(fmt.Sprintf("more than the %d leaves of the checkpoint before", c.tree.size), fmt.Sprintf("%d leaves", e.Size))
		return
	case more > int64(len(c.after)):
		wrong(fmt.Sprintf("at most the %d leaves that the log has here", c.tree.size+int64(len(c.after))), fmt.Sprintf("%d leaves", e.Size))
		return
	}
	if last := c.after[more-1].place; last != e.Last {
		wrong(fmt.Sprintf("%s, revision %d, as the last of %d leaves", last.Stream, last.Revision, e.Size), fmt.Sprintf("%s, revision %d", shown(e.Last.Stream), e.Last.Revision))
	}
	c.chained(it, e, c.after[more-1])
	for _, leaf := range c.after[:more] {
		c.tree.add(leaf.hash)
	}
	c.after = slices.Clone(c.after[more:])
	derived, roots := c.tree.encoded()
	if e.Root != derived || !slices.Equal(e.Roots, roots) {
		wrong(fmt.Sprintf("root %s of the log's first %d leaves, and the roots of its complete subtrees", derived, e.Size), "root "+shown(e.Root))
	}
	if c.last.Origin != "" && e.Origin != c.last.Origin {
		wrong("origin "+c.last.Origin+", as in the checkpoint before", shown(e.Origin))
	}
	c.verify(it, e, derived)
	c.last, c.cosigns = e, map[string]bool{}
	c.state.Origin, c.state.Signed, c.state.Root = e.Origin, e.Size, e.Root
	if _, kept := c.roots[e.Size]; kept {
		c.listed[e.Size] = bodyOf(e, e.Root)
	}
	for i := range c.uncovered {
		if c.uncovered[i].stream == "" {
			c.uncovered[i] = placeOf(it)
		}
	}
}

// committingVersion is the first version of checkpoint.signed that commits to the event log.
const committingVersion = 2

// chained compares the hash chain that a checkpoint commits to with that of the log at the last leaf. One that was copied has that of another
// log, or none where that was on a server without a chain. One of an older version has none; whoever signs that cannot read a newer one.
func (c *transparencyCheck) chained(it *Item, e transparency.Signed, last leafItem) {
	older := it.Metadata.Version < committingVersion
	if older && c.commits {
		c.p.found(checkTransparency, KindCheckpoint, it.Recorded, fmt.Sprintf("version %d or later, as a checkpoint before", committingVersion), fmt.Sprintf("version %d", it.Metadata.Version))
	}
	c.commits = c.commits || !older
	switch {
	case c.chainLog == "" || older || c.copied && e.Chain.LogID() != c.chainLog:
	case e.Chain.LogID() != c.chainLog:
		c.p.found(checkTransparency, KindCheckpointChain, it.Recorded, "the hash chain of the log "+c.chainLog, "that of "+shown(e.Chain.LogID()))
	default:
		c.state.Chained++
		if here := chainText(c.chainLog, last.at.position, last.link); chainLine(e.Chain) != here {
			c.p.found(checkTransparency, KindCheckpointChain, it.Recorded, "the hash chain at the last leaf: "+here, chainLine(e.Chain))
		}
	}
}

// chainText is the line of a checkpoint about the hash chain (docs/transparency.md).
func chainText(log string, position uint64, at link) string {
	return fmt.Sprintf("chain %s %d %x", log, position, at[:])
}

// chainLine is the line of what an event or a checkpoint says; empty of nil.
func chainLine(c *transparency.Chain) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("chain %s %d %s", c.Log, c.Position, c.Link)
}

// bodyOf is the signed part of a checkpoint whose tree has a root (C2SP tlog-checkpoint).
func bodyOf(e transparency.Signed, root string) string {
	body := fmt.Sprintf("%s\n%d\n%s\n", e.Origin, e.Size, root)
	if e.Chain != nil {
		body += chainLine(e.Chain) + "\n"
	}
	return body
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
	body := bodyOf(e, root)
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
		s, ok := parseSignature(line)
		if !ok || len(s.signature) != 8+ed25519.SignatureSize || c.cosigns[s.name] {
			c.p.found(checkTransparency, KindCheckpoint, it.Recorded, "one line with a name and a timestamped signature for each witness (C2SP tlog-cosignature)", shown(line))
			continue
		}
		c.cosigns[s.name] = true
		c.cosignedBy(it, s)
	}
}

// maxCosigners bounds the witnesses that a report lists.
const maxCosigners = 64

// cosignedBy verifies a cosignature of the last checkpoint if its witness is known. One of another key is as one of an unknown
// witness: a witness may have changed its key (C2SP signed-note).
func (c *transparencyCheck) cosignedBy(it *Item, s signatureLine) {
	body := bodyOf(c.last, c.last.Root)
	verified := false
	for i, w := range c.p.config.Witnesses {
		switch {
		case !w.isOf(s):
		case w.cosigned(s, body):
			verified, c.uncovered[i] = true, place{}
		default:
			c.p.found(checkTransparency, KindCosignature, it.Recorded, "a signature of "+w.Name+" over the checkpoint before", "one that does not verify under its key")
		}
	}
	i, known := c.cosigners[s.name]
	if !known {
		if i = len(c.state.Cosigned); i == maxCosigners {
			return
		}
		c.cosigners[s.name] = i
		c.state.Cosigned = append(c.state.Cosigned, Cosignatures{Witness: s.name})
	}
	if now := &c.state.Cosigned[i]; verified || !now.Verified {
		now.Size, now.Verified = c.last.Size, verified
	}
}

func (c *transparencyCheck) end() {
	// A checkpoint follows in seconds: that one is not there yet is no news, and the report says how far it is.
	overdue := func(began place) bool { return c.p.newest.Sub(began.at) > patience }
	if len(c.after) > 0 && c.keys.active != "" && overdue(c.after[0].at) {
		c.p.unfinished(checkTransparency, KindNoCheckpoint, c.after[0].at, "a checkpoint that covers it", fmt.Sprintf("none for this leaf and %d after it", len(c.after)-1))
	}
	for i, w := range c.p.config.Witnesses {
		if began := c.uncovered[i]; began.stream != "" && overdue(began) {
			c.p.unfinished(checkTransparency, KindNotCosigned, began, "a cosignature of "+w.Name+" (--witness-key) of this checkpoint or of a later one", "none that verifies")
		}
	}
	for _, kept := range c.p.config.Checkpoints {
		c.compare(kept)
	}
}

// compare compares a checkpoint that was kept with the log.
func (c *transparencyCheck) compare(kept Checkpoint) {
	c.state.Kept++
	name := fmt.Sprintf("the checkpoint of %d leaves that was kept (--checkpoint)", kept.Size)
	wrong := func(expected, found string) {
		c.p.note(checkTransparency, KindCheckpointKept, expected, found)
	}
	if !c.signedByLog(kept) {
		wrong(name+" to be signed by a key of the log or of --keys, as "+shown(kept.Origin), "no signature of it that verifies")
	}
	switch root := c.roots[kept.Size]; {
	case root == "":
		wrong(fmt.Sprintf("at least the %d leaves of %s", kept.Size, name), fmt.Sprintf("%d leaves", c.state.Leaves))
	case root != kept.Root:
		wrong(fmt.Sprintf("root %s of %s", kept.Root, name), "root "+root+" of the log's first leaves")
	case c.listed[kept.Size] != kept.body:
		wrong(name+" as an event of the stream "+transparency.Stream, "no such event")
	}
	c.compareChain(kept, name)
	for _, w := range c.p.config.Witnesses {
		for _, s := range kept.signatures {
			if w.isOf(s) && !w.cosigned(s, kept.body) {
				wrong("a signature of "+w.Name+" over "+name, "one that does not verify under its key")
			}
		}
	}
}

// compareChain compares the hash chain that a kept checkpoint commits to with that of the log. A log that was migrated has another one.
func (c *transparencyCheck) compareChain(kept Checkpoint, name string) {
	if kept.chain == nil || c.chainLog == "" {
		return
	}
	if c.migrated && kept.chain.Log != c.chainLog {
		c.p.note(checkTransparency, KindCheckpointOther, "the event log of "+name+": "+chainLine(kept.chain), "the log "+c.chainLog+", which says that it was migrated")
		return
	}
	at := c.links[kept.chain.Position]
	if here := chainText(c.chainLog, kept.chain.Position, at); at == (link{}) || here != chainLine(kept.chain) {
		found := "another event there, or one before it that is not the one that it was: " + here
		if at == (link{}) {
			found = fmt.Sprintf("the log %s, which ends before", c.chainLog)
		}
		c.p.findings = append(c.p.findings, c.p.finding(checkTransparency, KindCheckpointKept, Finding{Revision: -1, Position: kept.chain.Position},
			"the event log of "+name+": "+chainLine(kept.chain), found))
		return
	}
	c.state.Anchored = max(c.state.Anchored, kept.chain.Position)
}

// signedByLog tells whether a key of the log, or one that was handed out, has signed a checkpoint.
func (c *transparencyCheck) signedByLog(kept Checkpoint) bool {
	for _, s := range c.keys.byKID {
		if s.public != nil && kept.signedBy(s.public) {
			return true
		}
	}
	for _, public := range c.p.config.OutsideKeys {
		if kept.signedBy(public) {
			return true
		}
	}
	return false
}
