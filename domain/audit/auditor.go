package audit

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"reckon/domain/event"
)

// patience is how long before the log's end something may have begun whose consequence is not there yet: reactions come
// seconds later, and are tried again while a part of the installation is away.
const patience = 15 * time.Minute

// clockSkew is how far apart the clocks of two processes of an installation, and a request and what overtakes it, may be.
const clockSkew = time.Minute

// check is one derivation. Each takes every item of the log, in its order, and then the end.
type check interface {
	take(it *Item)
	end()
}

// CheckInfo says what a check proves.
type CheckInfo struct{ Name, Proves string }

// Names of the checks.
const (
	checkSchema       = "schema"
	checkMigration    = "migration"
	checkOrder        = "order"
	checkTimes        = "times"
	checkLegal        = "legality"
	checkAccounts     = "accounts"
	checkKeys         = "keys"
	checkReceipts     = "receipts"
	checkSlots        = "slots"
	checkOutcomes     = "outcomes"
	checkProofs       = "proofs"
	checkBilling      = "billing"
	checkTransparency = "transparency"
	CheckBlobs        = "blobs"
	CheckChain        = "chain"
	CheckTables       = "read models"
	CheckRecheck      = "kernel"
	CheckReverify     = "verdicts"
)

// Checks lists all checks with what each proves; docs/audit.md has the same lines.
func Checks() []CheckInfo {
	return []CheckInfo{
		{CheckChain, "every record of a data folder is the one that was appended: checksums, hash chain, revisions, HEAD, and the anchors that are kept elsewhere"},
		{checkSchema, "every event is one of the catalogue, of a known version, in the very bytes that the service writes for what it says, with ids, times and names in their forms"},
		{CheckBlobs, "every text and file that an event names is in the blob store with its SHA-256 and size"},
		{checkOrder, "positions rise, revisions have no gap, no event id stands twice, every cause is an earlier event of the same correlation, and an event stands in the stream and account that it names"},
		{checkTimes, "the times that one command has written are one; where those of different commands and the stamps of records contradict each other, a clock was set, or a time was changed: a note"},
		{checkLegal, "the decider of each stream could have decided each of its events, given those before it: no run sealed twice, no job finished twice, claimed by two, or continued after its end"},
		{checkAccounts, "whatever is done for an account is done for one that was registered and not closed, on a plan that was in force, by a token or an app of its own, if by one, that had not ended 90 minutes before, and nothing of a closed one goes on"},
		{checkKeys, "a key's id is its thumbprint, it seals only after it was published for its time, and the log's keys are those that were handed out (--keys)"},
		{checkReceipts, "every answer has one receipt, whose canonical bytes are those of the run, whose id is their SHA-256, and whose signature verifies under a key that sealed then"},
		{checkSlots, "every slot of an account's day is spent once for one job, whose id and kind are those of its key and of what it publishes, every job has its slot, and each refund, and no other, is due by one of the three rules"},
		{checkOutcomes, "what a job published is byte for byte what its terminal event carries, under the id fixed when its slot was spent, a run is of the account, expression, session and time that were submitted, the job ended as that says, and nothing is published of a job that ended otherwise"},
		{checkProofs, "a certificate is about the upload's bytes, for the job and account that submitted them, and its digests are those of its texts"},
		{checkBilling, "periods, prices, credit, invoices, payments and the plan in force follow from the subscription's events by docs/billing.md, numbers have no gaps, and a quote that was honoured could be issued then"},
		{checkTransparency, "every checkpoint is the Merkle tree of the receipts and certificates before it, in the log's order, larger than the one before, over the hash chain at its last leaf where the source shows it, and signed by a key that sealed then; every leaf is covered 15 minutes later; cosignatures are of the checkpoint that they follow, and those of a known witness verify (--witness-key); what others kept of it is in the log (--checkpoint)"},
		{checkMigration, "a log has its name, and is begun once; one that was migrated has the events that its name says were copied, in their order, and is no unfinished copy; its first events are those that it had when the content was noted (--content)"},
		{CheckRecheck, "the kernel of this binary says of each certificate's export what the certificate says (--recheck); where it does not finish, the verdict is not reproduced, and not contradicted"},
		{CheckReverify, "the checker says of each answer what the verdicts in the log say (--reverify); where it decides nothing, a verdict is not reproduced, and not contradicted"},
		{CheckTables, "each row of each read model is what the service's own projections make of the log up to the model's checkpoint"},
	}
}

// NeedsBlobs tells whether a check looks at texts and files that may lie in blobs.
func NeedsBlobs(check string) bool {
	return slices.Contains([]string{CheckBlobs, checkReceipts, checkOutcomes, checkProofs}, check)
}

// Config configures New.
type Config struct {
	// OutsideKeys are public keys that were handed out, by kid, kept where the operator cannot write; nil: there are none.
	OutsideKeys map[string]ed25519.PublicKey
	// Checkpoints of the transparency log that users or witnesses kept.
	Checkpoints []Checkpoint
	// Contents that the log had when it was audited before, kept where the operator cannot write.
	Contents []Content
	// Witnesses by whom cosignatures are verified; those of others are only counted.
	Witnesses []Witness
	// Defer runs work that needs no order, on other goroutines; what it returns are findings. nil: it is run at once.
	Defer func(work func() []Finding)
	// Certified is called with every certificate whose texts and job are known, in order; nil: no caller needs them.
	Certified func(Certified)
	// MaxFindings bounds what is kept of one kind; 0: 1000.
	MaxFindings int
}

// Auditor takes the items of a log in its order. Its methods are called by one goroutine.
type Auditor struct {
	pass         *pass
	checks       []check
	transparency *transparencyCheck
	migration    *migrationCheck
	ended        bool
}

// Counts is what an audit has looked at.
type Counts struct {
	Events       int64  `json:"events"`
	Streams      int64  `json:"streams"`
	Runs         int64  `json:"runs"`
	Receipts     int64  `json:"receipts"`
	Signatures   int64  `json:"signatures"`
	Jobs         int64  `json:"jobs"`
	Slots        int64  `json:"slots"`
	Refunds      int64  `json:"refunds"`
	Uploads      int64  `json:"uploads"`
	Certificates int64  `json:"certificates"`
	Invoices     int64  `json:"invoices"`
	Accounts     int64  `json:"accounts"`
	NotChecked   int64  `json:"not_checked"` // events whose blobs were not looked at
	Position     uint64 `json:"position"`    // of the last event
}

// New returns an auditor that has seen nothing.
func New(c Config) *Auditor {
	if c.MaxFindings == 0 {
		c.MaxFindings = 1000
	}
	p := &pass{config: c, kinds: Kinds(), dropped: map[Kind]int{}, kept: map[Kind]int{}}
	keys := newKeyCheck(p)
	kept := newStreams()
	jobs := newLegalCheck(p, kept)
	leaves := newTransparencyCheck(p, keys)
	names := newMigrationCheck(p)
	return &Auditor{pass: p, transparency: leaves, migration: names, checks: []check{
		newOrderCheck(p, kept), newTimeCheck(p, jobs), jobs, newAccountCheck(p, jobs), keys, newReceiptCheck(p, keys), newSlotCheck(p, jobs), newOutcomeCheck(p, jobs), newProofCheck(p, jobs),
		newBillingCheck(p, jobs), leaves, names,
	}}
}

// Take judges the next item.
func (a *Auditor) Take(it *Item) {
	p := a.pass
	p.counts.Events++
	p.counts.Position = it.Position.Commit
	for _, problem := range it.problems {
		p.found(problem.check, problem.kind, it.Recorded, problem.expected, problem.found)
	}
	if it.texts.missing != "" || it.noExport {
		p.counts.NotChecked++
	}
	if p.newest.Before(it.Metadata.At) {
		p.newest = it.Metadata.At
	}
	for _, c := range a.checks {
		c.take(it)
	}
}

// End judges what the log leaves open, and returns what was found so far, without what was deferred.
func (a *Auditor) End() ([]Finding, Counts) {
	if !a.ended {
		a.ended = true
		for _, c := range a.checks {
			c.end()
		}
		for kind, n := range a.pass.dropped {
			a.pass.findings = append(a.pass.findings, Unlisted(kind, n))
		}
		if n := a.pass.counts.NotChecked; n > 0 {
			a.pass.note(CheckBlobs, KindNotChecked, "every blob looked at", fmt.Sprintf("%d events whose blobs were not", n))
		}
	}
	return a.pass.findings, a.pass.counts
}

// Content is that of the whole log, as far as it was taken.
func (a *Auditor) Content() Content { return a.migration.content() }

// Transparency says how far the transparency log was signed and cosigned.
func (a *Auditor) Transparency() Transparency { return a.transparency.state }

// pass is what the checks share: where findings go.
type pass struct {
	config   Config
	kinds    map[Kind]KindInfo
	findings []Finding
	kept     map[Kind]int
	dropped  map[Kind]int
	counts   Counts
	newest   time.Time // of the times at which commands were given
}

// finding completes a finding by its kind.
func (p *pass) finding(check string, kind Kind, place Finding, expected, found string) Finding {
	info := p.kinds[kind]
	place.Check, place.Kind, place.Severity, place.Remedy, place.Expected, place.Found = check, kind, info.Severity, info.Remedy, expected, found
	return place
}

// found reports what is wrong with an event.
func (p *pass) found(check string, kind Kind, r event.Recorded, expected, found string) {
	if p.kept[kind]++; p.kept[kind] > p.config.MaxFindings {
		p.dropped[kind]++
		return
	}
	p.findings = append(p.findings, p.finding(check, kind, at(r), expected, found))
}

func (p *pass) note(check string, kind Kind, expected, found string) {
	p.findings = append(p.findings, p.finding(check, kind, Finding{Revision: -1}, expected, found))
}

// unfinished reports that what has to follow an event has not. Shortly before the end of the log it is only noted.
func (p *pass) unfinished(check string, kind Kind, began place, expected, found string) {
	r := began.recorded()
	if p.newest.Sub(began.at) <= patience {
		kind, found = KindUnderWay, found+" yet"
	}
	p.found(check, kind, r, expected, found)
}

// place is where and when something stands that may have to be reported later.
type place struct {
	stream   string
	revision event.Revision
	position uint64
	at       time.Time
}

func (p place) recorded() event.Recorded {
	return event.Recorded{Stream: p.stream, Revision: p.revision, Position: event.Position{Commit: p.position}}
}

func placeOf(it *Item) place {
	return place{it.Stream, it.Revision, it.Position.Commit, it.Metadata.At}
}

// later runs work that needs no order.
func (p *pass) later(work func() []Finding) {
	if p.config.Defer != nil {
		p.config.Defer(work)
		return
	}
	p.findings = append(p.findings, work()...)
}

// Found is how many findings there are so far, without what was deferred.
func (a *Auditor) Found() int { return len(a.pass.findings) }

// Complete makes a finding of its kind: for what is found outside this package.
func Complete(check string, kind Kind, place Finding, expected, found string) Finding {
	p := pass{kinds: Kinds()}
	return p.finding(check, kind, place, expected, found)
}

// Unlisted says that there are more findings of a kind than are listed.
func Unlisted(kind Kind, n int) Finding {
	return Complete("", kind, Finding{Revision: -1}, "no more of these", fmt.Sprintf("%d more of this kind, which are not listed", n))
}
