package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"reckon/domain/event"
)

// The events of this stream say which log it is (ADR 12, ADR 48): the newest that names it does so to read models and clients.
const (
	identityStream = "reckon-log"
	identityName   = "reckon.log_named"
	copyingName    = "reckon.log_copying"
	movedName      = "reckon.log_moved"
)

// The first record of a node's log (docs/log-format.md).
const (
	nodeStream  = "$reckon-log"
	nodeCreated = "$reckon-log-created"
)

// removedName is what a migration calls an event whose payload its source had removed.
const (
	removedName   = "reckon.payload_removed"
	tombstoneName = "$streamDeleted"
)

// NamesLog tells whether the item's id is a name of the log.
func (it *Item) NamesLog() bool { return it.Stream == identityStream && it.Name == identityName }

// LogCopy is the name of the log to which this one is handed over by the item; empty by any other.
func (it *Item) LogCopy() string {
	if it.Stream != identityStream || it.Name != movedName {
		return ""
	}
	return it.named.Copy
}

// named is what an event of identityStream says.
type named struct {
	Copy     string `json:"copy"`     // of copyingName and movedName
	To       string `json:"to"`       // of movedName
	From     string `json:"from"`     // of copyingName and identityName
	Reopened bool   `json:"reopened"` // of identityName
	// Of identityName: what was copied. Digested counts the events that SHA256 is about.
	Events   uint64 `json:"events"`
	Streams  uint64 `json:"streams"`
	Position uint64 `json:"source_position"`
	Digested uint64 `json:"digested"`
	SHA256   string `json:"sha256"`
	ChainLog string `json:"source_chain_log"`
	Link     string `json:"source_link"`
}

func (it *Item) readNamed(s Stored) {
	err := strictUnmarshal(s.Data, &it.named)
	switch {
	case len(s.Metadata) > 0 || s.Name != identityName && s.Name != copyingName && s.Name != movedName:
		it.problem(checkSchema, KindSchema, "an event that names the log, without metadata", shown(s.Name))
	case err != nil:
		it.problem(checkSchema, KindSchema, "what names the log", err.Error())
	case s.Revision == 0 && (s.Name != identityName || string(s.Data) != "{}"):
		it.problem(checkSchema, KindSchema, identityName+" without data as the first event of "+identityStream, shown(s.Name))
	}
}

// eventDigest is the hash of an event that a migration keeps: stream, revision, id, type, data and metadata, each after its length.
func eventDigest(s Stored) (sum [sha256.Size]byte) {
	h := sha256.New()
	var length [8]byte
	for _, field := range [][]byte{[]byte(s.Stream), strconv.AppendInt(nil, int64(s.Revision), 10), []byte(s.ID), []byte(s.Name), s.Data, s.Metadata} {
		binary.BigEndian.PutUint64(length[:], uint64(len(field)))
		h.Write(length[:])
		h.Write(field)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// migrationCheck proves that a migrated log has what was copied. A log that was migrated twice has all names but the last before its
// first other event, so that what a name says is compared when so many events were read.
type migrationCheck struct {
	p       *pass
	sum     hash.Hash
	events  uint64
	claims  []claim   // that are not compared yet
	kept    []Content // of the configuration, by Events, that are not compared yet
	last    string    // id of the newest name
	before  string    // name of the event before in identityStream
	copy    string    // id that the copy that is being made gets
	unready event.Recorded
}

// claim is what a name says of the events that were copied.
type claim struct {
	named
	by event.Recorded
}

func newMigrationCheck(p *pass) *migrationCheck {
	kept := slices.SortedFunc(slices.Values(p.config.Contents), func(a, b Content) int { return cmp.Compare(a.Events, b.Events) })
	return &migrationCheck{p: p, sum: sha256.New(), kept: kept}
}

// content is that of the events so far.
func (c *migrationCheck) content() Content {
	return Content{c.events, hex.EncodeToString(c.sum.Sum(nil))}
}

func (c *migrationCheck) take(it *Item) {
	switch {
	case it.Stream == nodeStream:
		if it.Name != nodeCreated || it.Position.Commit != 1 {
			c.p.found(checkMigration, KindIdentity, it.Recorded, nodeCreated+" as the first record of a node's log, and nothing else in "+nodeStream, shown(it.Name))
		}
		return
	case it.Stream == identityStream:
		c.takeName(it)
		return
	case strings.HasPrefix(it.Stream, "$"), strings.HasPrefix(it.Stream, "runner-"), it.Name == tombstoneName:
		return
	}
	c.sum.Write(it.digest[:])
	c.events++
	c.compare()
	for len(c.kept) > 0 && c.kept[0].Events <= c.events {
		if have := c.content(); have != c.kept[0] {
			c.p.found(checkMigration, KindContent, it.Recorded, "content "+c.kept[0].String()+" up to here, as was kept", have.String())
		}
		c.kept = c.kept[1:]
	}
}

// takeName: a log is named, then copied from (a copying, then a name) or moved and reopened (a moving, then a name), any number of times.
func (c *migrationCheck) takeName(it *Item) {
	legal := c.before == "" && it.Name == identityName ||
		c.before == identityName && (it.Name == copyingName || it.Name == movedName) ||
		c.before == copyingName && it.Name == identityName && !it.named.Reopened && it.ID == c.copy ||
		c.before == movedName && it.Name == identityName && it.named.Reopened
	if it.Name == identityName && c.before != "" && it.named.From != c.last {
		c.p.found(checkMigration, KindMigration, it.Recorded, "from "+shown(c.last)+", the name that the log had before", shown(it.named.From))
	}
	if it.Name == identityName {
		c.last = it.ID
	}
	if !legal {
		c.p.found(checkMigration, KindMigration, it.Recorded, "names of the log in an order in which they are given", shown(it.Name)+" after "+shown(c.before))
	}
	c.before, c.copy, c.unready = it.Name, it.named.Copy, it.Recorded
	if it.Name == identityName && it.named.SHA256 != "" {
		c.claims = append(c.claims, claim{it.named, it.Recorded})
		c.compare()
	}
}

// compare compares the claims about as many events as were read.
func (c *migrationCheck) compare() {
	for len(c.claims) > 0 && c.claims[0].Digested <= c.events {
		first := c.claims[0]
		c.claims = c.claims[1:]
		if copied, have := (Content{first.Digested, first.SHA256}), c.content(); copied != have {
			c.p.found(checkMigration, KindMigration, first.by, "content "+copied.String()+", which was copied", have.String())
		}
	}
}

func (c *migrationCheck) end() {
	for _, one := range c.kept {
		c.p.note(checkMigration, KindContent, "content "+one.String()+", as was kept", fmt.Sprintf("%d events", c.events))
	}
	for _, one := range c.claims {
		c.p.found(checkMigration, KindMigration, one.by, fmt.Sprintf("%d events that were copied", one.Digested), fmt.Sprintf("%d", c.events))
	}
	if c.before == "" && c.p.counts.Runs+c.p.counts.Jobs > 0 {
		c.p.note(checkMigration, KindIdentity, identityName+", which a server writes before it serves", "no such event")
	}
	if c.before == copyingName {
		c.p.found(checkMigration, KindMigration, c.unready, "a copy that was finished and compared", "a copy that `reckon migrate` has not finished")
	}
}
