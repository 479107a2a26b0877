// Package audittest makes logs as the service writes them, for tests that change them.
package audittest

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/audit"
	"reckon/domain/billing"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/domain/keys"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/domain/runner"
	"reckon/domain/session"
	"reckon/domain/slots"
	"reckon/domain/token"
	"reckon/domain/transparency"
	"reckon/domain/upload"
)

// Logged is one event of a log under test, in the form in which a test changes it.
type Logged struct {
	ID       string
	Stream   string
	Name     string
	Event    event.Event
	Metadata event.Metadata
	Data     []byte // instead of Event's
	Meta     []byte // instead of Metadata's
	Removed  bool
	Created  time.Time // the record's stamp; zero: not known
}

// Log is a log that a test makes and changes.
type Log struct {
	Events    []*Logged
	Blobs     map[string][]byte
	Now       time.Time          // of the commands to come
	Signer    ed25519.PrivateKey // of the receipts to come
	Catalogue event.Catalogue    // of the log and of its audit
	KID       string
	next      int // number of the next id
}

const (
	Alice   = "0198a1b2-0000-7000-8000-00000000000a"
	Bob     = "0198a1b2-0000-7000-8000-00000000000b"
	Carol   = "0198a1b2-0000-7000-8000-00000000000c"
	Process = "0198a1b2-0000-7000-8000-0000000000ff"
)

// UUID is the n-th id of a test.
func UUID(n int) string { return fmt.Sprintf("0198a1b2-1111-7000-8000-%012x", n) }

// New is an empty log whose first signing key is made of a name.
func New(key string) *Log {
	seed := sha256.Sum256([]byte(key))
	l := &Log{Catalogue: domain.Catalogue(), Blobs: map[string][]byte{}, Now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), Signer: ed25519.NewKeyFromSeed(seed[:]), next: 1}
	l.KID = keys.Thumbprint(l.Signer.Public().(ed25519.PublicKey))
	return l
}

// NewID is an id that no event of the log has.
func (l *Log) NewID() string {
	l.next++
	return UUID(l.next)
}

// At is the log's time as events hold it.
func (l *Log) At() string { return event.Timestamp(l.Now) }

// Add appends events of one command to a stream; about is the account in the metadata.
func (l *Log) Add(stream, about string, events ...event.Event) *Logged {
	correlation := l.NewID()
	return l.caused(stream, about, correlation, "", "", events...)
}

func (l *Log) caused(stream, about, correlation, causation, actor string, events ...event.Event) *Logged {
	var last *Logged
	for _, e := range events {
		last = &Logged{ID: l.NewID(), Stream: stream, Name: e.EventName(), Event: e, Created: l.Now,
			Metadata: event.Metadata{Correlation: correlation, Causation: causation, At: l.Now, Account: about, Actor: actor, Build: "test"}}
		l.Events = append(l.Events, last)
	}
	return last
}

// Find returns the n-th event of a type, from 1.
func (l *Log) Find(name string, n int) *Logged {
	for _, e := range l.Events {
		if e.Name == name {
			if n--; n == 0 {
				return e
			}
		}
	}
	panic("no such event: " + name)
}

// Index is the place of an event.
func (l *Log) Index(e *Logged) int { return slices.Index(l.Events, e) }

// Remove removes an event.
func (l *Log) Remove(e *Logged) { l.Events = slices.Delete(l.Events, l.Index(e), l.Index(e)+1) }

// RemoveStream removes all events of a stream.
func (l *Log) RemoveStream(stream string) {
	l.Events = slices.DeleteFunc(l.Events, func(e *Logged) bool { return e.Stream == stream })
}

// InsertAfter puts an event behind another one.
func (l *Log) InsertAfter(e *Logged, other *Logged) {
	l.Events = slices.Insert(l.Events, l.Index(e)+1, other)
}

// CopyOf is the same event again under another id.
func (l *Log) CopyOf(e *Logged) *Logged {
	other := *e
	other.ID = l.NewID()
	return &other
}

// Stored is the log as a source without a hash chain reads it: positions and revisions as they come.
func (l *Log) Stored(t testing.TB) []audit.Stored {
	t.Helper()
	all, err := l.stored()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (l *Log) stored() ([]audit.Stored, error) {
	revisions := map[string]event.Revision{}
	all := make([]audit.Stored, len(l.Events))
	for i, e := range l.Events {
		version, data, err := l.Catalogue.Encode(e.Event)
		if err != nil {
			return nil, err
		}
		if e.Metadata.Version == 0 {
			e.Metadata.Version = version
		}
		meta, err := event.Marshal(e.Metadata)
		if err != nil {
			return nil, err
		}
		if e.Data != nil {
			data = e.Data
		}
		if e.Meta != nil {
			meta = e.Meta
		}
		at := uint64(i + 1)
		all[i] = audit.Stored{ID: e.ID, Stream: e.Stream, Revision: revisions[e.Stream], Position: event.Position{Commit: at, Prepare: at}, Name: e.Name, Data: data, Metadata: meta, Removed: e.Removed, Created: e.Created}
		revisions[e.Stream]++
	}
	return all, nil
}

var (
	errNoBlob      = errors.New("no such blob")
	errCorruptBlob = errors.New("another blob")
)

// Get is event.BlobReader.
func (l *Log) Get(_ context.Context, b event.Blob) ([]byte, error) {
	content, found := l.Blobs[b.SHA256]
	switch {
	case !found:
		return nil, errNoBlob
	case Sum(content) != b.SHA256 || int64(len(content)) != b.Bytes:
		return nil, errCorruptBlob
	}
	return content, nil
}

func (l *Log) put(content string) *event.Blob {
	l.Blobs[Sum([]byte(content))] = []byte(content)
	return &event.Blob{SHA256: Sum([]byte(content)), Bytes: int64(len(content))}
}

// Sum is a SHA-256, hexadecimal.
func Sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Audit is what an auditor finds.
func Audit(t testing.TB, l *Log, outside map[string]ed25519.PublicKey) []audit.Finding {
	t.Helper()
	return AuditStored(t, l, l.Stored(t), outside)
}

// AuditStored is Audit of events as a source reads them.
func AuditStored(t testing.TB, l *Log, all []audit.Stored, outside map[string]ed25519.PublicKey) []audit.Finding {
	t.Helper()
	findings, _ := AuditWith(t, l, all, audit.Config{OutsideKeys: outside, Witnesses: []audit.Witness{Witness()}})
	return findings
}

// AuditWith is AuditStored with what was kept elsewhere.
func AuditWith(t testing.TB, l *Log, all []audit.Stored, config audit.Config) ([]audit.Finding, audit.Transparency) {
	t.Helper()
	return Judge(Prepare(t, l, all), config)
}

// Prepare makes events of a log ready to be judged, as often as a test wants.
func Prepare(t testing.TB, l *Log, all []audit.Stored) []*audit.Item {
	t.Helper()
	reader := audit.Reader{Catalogue: l.Catalogue, Unmarshal: json.Unmarshal,
		NotFound: func(err error) bool { return errors.Is(err, errNoBlob) }, Corrupt: func(err error) bool { return errors.Is(err, errCorruptBlob) }}
	if l.Blobs != nil {
		reader.Blobs = l
	}
	items := make([]*audit.Item, len(all))
	for i, s := range all {
		var err error
		if items[i], err = reader.Prepare(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return items
}

// Judge is what an auditor finds in events that are ready.
func Judge(items []*audit.Item, config audit.Config) ([]audit.Finding, audit.Transparency) {
	auditor := audit.New(config)
	for _, it := range items {
		auditor.Take(it)
	}
	findings, _ := auditor.End()
	audit.Sort(findings)
	return findings, auditor.Transparency()
}

// Seal is the receipt of a run, as the service makes it.
func (l *Log) Seal(e run.Evaluated, expression, answer, stdout string) run.Sealed {
	digest := sha256.Sum256([]byte(stdout))
	record := receipt.Record{V: receipt.Version, RunID: e.RunID, Account: e.Account, Expression: expression, Answer: answer, Status: e.Status,
		StdoutSHA256: hex.EncodeToString(digest[:]), Warnings: e.Warnings, Engine: receipt.Engine(e.Engine), Source: e.Source, EvaluatedAt: e.EvaluatedAt}
	if record.Warnings == nil {
		record.Warnings = []string{}
	}
	if e.Check != nil {
		record.Verification = &receipt.Verification{Verdict: e.Check.Verdict, Basis: e.Check.Basis, Method: e.Check.Method}
	}
	if e.SessionID != "" {
		record.SessionID = &e.SessionID
	}
	sealed, err := receipt.SealJSON(record, &receipt.Signer{KID: l.KID, Key: l.Signer})
	if err != nil {
		panic(err)
	}
	canonical := event.Inline(string(sealed.Canonical))
	if len(sealed.Canonical) > event.MaxInlineBytes {
		canonical = event.Text{Blob: l.put(string(sealed.Canonical))}
	}
	return run.Sealed{RunID: e.RunID, ReceiptID: sealed.ID, Canonical: canonical, Signature: sealed.Signature, KID: sealed.KID}
}

// AddName adds the event by which clients know the log.
func (l *Log) AddName() {
	l.Events = append(l.Events, &Logged{ID: l.NewID(), Stream: "reckon-log", Name: "reckon.log_named", Event: runner.Beat{}, Meta: []byte{}, Data: []byte("{}")})
}

// PublishKey publishes the public half of a key.
func (l *Log) PublishKey(private ed25519.PrivateKey) {
	public := private.Public().(ed25519.PublicKey)
	l.Add("keys", "", keys.Published{KID: keys.Thumbprint(public), X: keys.EncodeX(public), At: l.At()})
}

// Subject is what a run of Alice is about.
func (l *Log) Subject(runID int64, expression string) run.Subject {
	return run.Subject{RunID: runID, Account: Alice, Expression: event.Inline(expression), Source: event.SourceWeb}
}

func inSession(s run.Subject) run.Subject {
	s.SessionID = "s"
	return s
}

// Submit spends a slot and queues a job on it.
func (l *Log) Submit(s job.Submission) slots.Spent {
	spent := l.Spend(s)
	l.Add("job-"+s.JobID, s.Account, job.WasQueued{Submission: spent.Submission, SlotID: spent.SlotID, Day: spent.Day})
	return spent
}

// Spend spends a slot for a submission.
func (l *Log) Spend(s job.Submission) slots.Spent {
	s.TimeoutMS, s.Plan, s.Concurrent, s.Source, s.SubmittedAt = 60_000, "free", 1, event.SourceWeb, l.At()
	if s.Account == "" {
		s.Account = Alice
	}
	day := l.Now.Format(time.DateOnly)
	spent := slots.Spent{SlotID: UUID(l.next + 2), Day: day, Submission: s} // add takes one id for the command
	l.Add("slots-"+s.Account+"-"+day, s.Account, spent)
	return spent
}

// Claim has a runner claim a job, and returns the nonce of the attempt.
func (l *Log) Claim(jobID string, attempt int) string {
	nonce := l.NewID()
	l.Add("job-"+jobID, "", job.WasClaimed{JobID: jobID, Runner: Process, Nonce: nonce, Attempt: attempt, StartedAt: l.At()})
	return nonce
}

// Embed is what an outcome carries.
func Embed(events ...event.Event) []event.Embedded {
	embedded, err := domain.Catalogue().Embed(events...)
	if err != nil {
		panic(err)
	}
	return embedded
}

// Text is a pointer to a text.
func Text(s string) *string { return &s }

// True has every type of event, each where the service would write it.
func True() *Log { return TrueSealedWith("the key of tests") }

// TrueSealedWith is True with another first key, and all receipts sealed accordingly.
func TrueSealedWith(key string) *Log {
	l := New(key)
	l.NewID()
	l.Events = append(l.Events, &Logged{ID: LogID, Stream: "$reckon-log", Name: "$reckon-log-created", Event: runner.Beat{}, Meta: []byte{}, Data: []byte("{}")})
	l.AddName()
	l.PublishKey(l.Signer)
	l.Add("keys", "", keys.Activated{KID: l.KID, At: l.At()})
	for _, id := range []string{Alice, Bob, Carol} {
		l.Add("account-"+id, id, account.Registered{Account: id, Plan: "free"})
	}
	l.Add("runids", "", run.Reserved{Process: Process})
	l.Add("runner-"+Process, "", runner.Beat{Runner: Process, Seq: 1})
	tokenID := Sum([]byte("secret"))
	l.Add("token-"+tokenID, Alice, token.Minted{TokenID: tokenID, Account: Alice, Name: "laptop", Last4: "abcd", FullAccess: true, ExpiresAt: event.Timestamp(l.Now.Add(24 * time.Hour))})
	grantID := l.NewID()
	l.Add("grant-"+grantID, Alice, grant.Approved{GrantID: grantID, Account: Alice, ClientID: l.NewID(), ClientName: "Notebook", Resource: "api", Scopes: []string{"evaluate"}})
	l.Add("session-"+Alice+"-s", Alice, session.Opened{Account: Alice, SessionID: "s", Owner: Process, Epoch: 1})
	l.addRuns()
	l.SignTree()
	l.Add("session-"+Alice+"-s", Alice, session.Expired{Account: Alice, SessionID: "s", Epoch: 1, Reason: session.EndIdle})
	l.Add("session-"+Alice+"-s", Alice, session.Opened{Account: Alice, SessionID: "s", Owner: Process, Epoch: 2}, session.Cleared{Account: Alice, SessionID: "s", Epoch: 2})
	l.Add("token-"+tokenID, Alice, token.Revoked{TokenID: tokenID, Account: Alice})
	l.Add("grant-"+grantID, Alice, grant.Revoked{GrantID: grantID, Account: Alice, Reason: grant.ByPerson})
	l.addJobs()
	l.addProof()
	l.addBilling()
	l.rotate()
	l.addUnanswered()
	l.addLost()
	l.Now = l.Now.Add(time.Hour)
	l.Add("account-"+Carol, Carol, account.Closed{Account: Carol})
	l.Now = l.Now.Add(time.Hour)
	l.Add("runids", "", run.Reserved{Process: Process})
	l.SignTree()
	return l
}

// SignTree signs a checkpoint over what has a leaf since the last one, as the service does, and has a witness cosign it.
func (l *Log) SignTree() {
	var signing Signing
	signing.Take(l.Events)
	signing.chain = l.chainAt(signing.last)
	signing.Sign(l)
}

// chainAt is the hash chain of the log at an event.
func (l *Log) chainAt(at transparency.LeafPlace) *transparency.Chain {
	all, err := l.stored()
	if err != nil {
		panic(err)
	}
	Chain(all)
	for _, s := range all {
		if s.Stream == at.Stream && s.Revision == at.Revision {
			return &transparency.Chain{Log: LogID, Position: s.Position.Commit, Link: hex.EncodeToString(s.Link[:])}
		}
	}
	panic("no such event")
}

// Signing signs checkpoints over a log that is made in parts. Its zero value has seen nothing.
type Signing struct {
	state   transparency.State
	entries []transparency.Entry // of leaves that no checkpoint covers
	last    transparency.LeafPlace
	chain   *transparency.Chain // at last; nil: checkpoints do not commit to the log
}

// Take sees the next events of a log. Each stream with a leaf is in one part.
func (s *Signing) Take(part []*Logged) {
	revisions := map[string]event.Revision{}
	for _, e := range part {
		if _, isCheckpoint := e.Event.(transparency.Signed); isCheckpoint {
			s.entries = nil
		}
		s.state = transparency.Decider.Evolve(s.state, e.Event)
		leaf, ok, err := transparency.LeafOf(e.Event)
		if err != nil {
			panic(err)
		}
		if ok {
			s.entries = append(s.entries, transparency.EntryOf(leaf))
			s.last = transparency.LeafPlace{Stream: e.Stream, Revision: revisions[e.Stream]}
		}
		revisions[e.Stream]++
	}
}

// Sign adds a checkpoint and a witness's cosignature to a log, and takes them.
func (s *Signing) Sign(l *Log) {
	before := len(l.Events)
	command := transparency.Sign{Origin: "reckon.example/transparency", Public: l.Signer.Public().(ed25519.PublicKey), After: s.state.Last.Last, Entries: s.entries, Last: s.last, Chain: s.chain}
	tree := s.state.Extended(s.entries)
	body := transparency.Body(command.Origin, tree.Size, tree.Root()) + s.chain.Line()
	command.Signature = ed25519.Sign(l.Signer, []byte(body))
	signed, err := transparency.Decider.Decide(command, s.state)
	if err != nil {
		panic(err)
	}
	l.Add(transparency.Stream, "", signed...)
	if s.chain == nil { // as older releases signed
		l.Events[len(l.Events)-1].Metadata.Version = 1
	}
	l.Add(transparency.Stream, "", transparency.Cosigned{Size: tree.Size, Root: tree.Root().String(), Cosignatures: []string{Cosign(body, l.Now)}})
	s.Take(l.Events[before:])
}

// witnessName is the witness that cosigns the checkpoints of these logs.
const witnessName = "witness.example/1"

func witnessKey() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(witnessName))
	return ed25519.NewKeyFromSeed(seed[:])
}

// Witness is the witness that cosigns the checkpoints of these logs.
func Witness() audit.Witness {
	return audit.Witness{Name: witnessName, Public: witnessKey().Public().(ed25519.PublicKey)}
}

// Cosign is the witness's line under a checkpoint's body (C2SP tlog-cosignature).
func Cosign(body string, at time.Time) string {
	public := Witness().Public
	id := sha256.Sum256(append([]byte(witnessName+"\n\x04"), public...))
	signed := binary.BigEndian.AppendUint64(id[:4:4], uint64(at.Unix()))
	signed = append(signed, ed25519.Sign(witnessKey(), fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at.Unix(), body))...)
	return "— " + witnessName + " " + base64.StdEncoding.EncodeToString(signed)
}

func (l *Log) addRuns() {
	stdout := event.Inline("hé\u007f\n")
	check := run.Check{Verdict: run.VerdictVerified, Basis: run.BasisExact, Method: "m", Check: "c", Residual: "0", ElapsedMS: 1, Automatic: true}
	first := run.Evaluated{Subject: l.Subject(1, "1+1 <&> \U0001D54A"), Answer: event.Inline("2"), InputForm: event.Inline("2"), Checkable: true, Status: run.Success,
		Stdout: &stdout, Warnings: []string{"a\twarning"}, Engine: run.Engine{Name: "woxi", Revision: "1"}, Check: &check, ExecutionMS: 3, EvaluatedAt: l.At()}
	first.SessionID = "s"
	l.Add("run-1", Alice, first, l.Seal(first, "1+1 <&> \U0001D54A", "2", stdout.Inline))
	long := string(slices.Repeat([]byte("x"), event.MaxInlineBytes+1))
	second := run.Evaluated{Subject: l.Subject(2, "long"), Answer: event.Text{Blob: l.put(long)}, InputForm: event.Inline("x"), Status: run.Success,
		Plot: l.put("<svg/>"), Engine: run.Engine{Name: "giac", Revision: "2"},
		Asked:       []run.Asked{{Engine: run.Engine{Name: "woxi", Revision: "1"}, Outcome: run.AskedUnevaluated}, {Engine: run.Engine{Name: "giac", Revision: "2"}, Outcome: run.AskedAnswered}},
		ExecutionMS: 3, EvaluatedAt: l.At()}
	l.Add("run-2", Alice, second, l.Seal(second, "long", long, ""))
	l.Add("run-2", Alice, run.Verified{RunID: 2, Account: Alice, Check: run.Check{Verdict: run.VerdictInconclusive, Reason: run.ReasonNoHead}})
	l.Add("run-3", Alice, run.TimedOut{Subject: inSession(l.Subject(3, "slow")), BudgetMS: 3000})
	l.Add("run-4", Alice, run.Failed{Subject: inSession(l.Subject(4, "Quit[]")), Reason: run.FailureQuit})
}

func (l *Log) addJobs() {
	first := UUID(0x101)
	l.Submit(job.Submission{JobID: first, Kind: "evaluate", Payload: event.Inline("2+2"), RunID: 5})
	nonce := l.Claim(first, 1)
	l.Add("job-"+first, "", job.WasReleased{JobID: first, Nonce: nonce, Reason: job.Drained})
	nonce = l.Claim(first, 2)
	evaluated := run.Evaluated{Subject: l.Subject(5, "2+2"), Answer: event.Inline("4"), InputForm: event.Inline("4"), Status: run.Success,
		Engine: run.Engine{Name: "woxi", Revision: "1"}, ExecutionMS: 1, EvaluatedAt: l.At()}
	evaluated.JobID, evaluated.Source = first, event.SourceJob
	sealed := l.Seal(evaluated, "2+2", "4", "")
	ended := l.Add("job-"+first, Alice, job.HasSucceeded{Outcome: job.Outcome{JobID: first, Nonce: nonce,
		Publish: Embed(evaluated, sealed), PublishTo: "run-5", FinishedAt: l.At()}})
	l.caused("run-5", Alice, ended.Metadata.Correlation, ended.ID, "reaction:publish_outcome", evaluated, sealed)

	second := UUID(0x102) // cancelled before its first claim
	spent := l.Submit(job.Submission{JobID: second, Kind: "qsim", Payload: event.Inline("{}")})
	l.Add("job-"+second, Alice, job.WasCancelled{JobID: second, Early: true, SlotID: spent.SlotID, Day: spent.Day, FinishedAt: l.At()})
	l.Add("slots-"+Alice+"-"+spent.Day, Alice, slots.Refunded{SlotID: spent.SlotID, JobID: second, Reason: slots.CancelledEarly})

	third := jobWithKey(Alice, "k") // the same key from two days: the second is given back
	l.Submit(job.Submission{JobID: third, Kind: "qsim", Payload: event.Inline("{}"), IdempotencyKey: "k"})
	l.Now = l.Now.Add(24 * time.Hour)
	again := l.Spend(job.Submission{JobID: third, Kind: "qsim", Payload: event.Inline("{}"), IdempotencyKey: "k"})
	l.Add("slots-"+Alice+"-"+again.Day, Alice, slots.Refunded{SlotID: again.SlotID, JobID: third, Reason: slots.Duplicate})
	nonce = l.Claim(third, 1)
	l.Add("job-"+third, Alice, job.HasTimedOut{Outcome: job.Outcome{JobID: third, Nonce: nonce, Error: "budget", FinishedAt: l.At()}})

	fourth := UUID(0x104) // lost in its session
	spent = l.Submit(job.Submission{JobID: fourth, Kind: "evaluate", Payload: event.Inline("x"), SessionID: "s", RunID: 6})
	nonce = l.Claim(fourth, 1)
	l.Add("job-"+fourth, "", job.WasLost{JobID: fourth, Nonce: nonce, Attempts: 1, Why: job.InSession, Refunded: true, FinishedAt: l.At()})
	l.Add("slots-"+Alice+"-"+spent.Day, Alice, slots.Refunded{SlotID: spent.SlotID, JobID: fourth, Reason: slots.ServiceFailed})

	fifth := UUID(0x105)
	l.Submit(job.Submission{JobID: fifth, Kind: "qsim", Payload: event.Inline("{}")})
	nonce = l.Claim(fifth, 1)
	l.Add("job-"+fifth, "", job.WasReleased{JobID: fifth, Nonce: nonce, Reason: job.Untried, Lacked: lacked, NotBefore: event.Timestamp(l.Now.Add(job.PauseAfter(1)))})
	abandoned := l.Claim(fifth, 2)
	l.Add("job-"+fifth, "", job.WasReleased{JobID: fifth, Nonce: abandoned, Reason: job.Abandoned})
	l.Add("job-"+fifth, "", job.WasExcused{JobID: fifth, Nonce: abandoned})
	nonce = l.Claim(fifth, 3)
	l.Add("job-"+fifth, "", job.WasReleased{JobID: fifth, Nonce: nonce, Reason: job.Interrupted})
	nonce = l.Claim(fifth, 4)
	l.Add("job-"+fifth, Alice, job.HasFailed{Outcome: job.Outcome{JobID: fifth, Nonce: nonce, Error: "e", FinishedAt: l.At()}})
}

// jobWithKey is the id of a job that was submitted with a key.
func jobWithKey(account, key string) string {
	namespace := uuid.MustParse("0d5aa1be-2a5a-4e39-9d1f-6f0a60c5b9d3")
	return uuid.NewSHA1(namespace, []byte(account+"\x00"+key)).String()
}

// lacked says why a job could not be tried.
const lacked = "the store of large bytes could not be reached"

// addUnanswered adds jobs of expressions that have no answer, in their account's sessions.
func (l *Log) addUnanswered() {
	for i, ends := range []func(run.Subject, job.Outcome) (event.Event, event.Event){
		func(s run.Subject, o job.Outcome) (event.Event, event.Event) {
			published := run.TimedOut{Subject: s, BudgetMS: 60_000}
			o.Publish = Embed(published)
			return job.HasTimedOut{Outcome: o}, published
		},
		func(s run.Subject, o job.Outcome) (event.Event, event.Event) {
			published := run.Failed{Subject: s, Reason: run.FailureCrashed}
			o.Publish = Embed(published)
			return job.HasFailed{Outcome: o}, published
		},
	} {
		id, runID, expression := UUID(0x107+i), int64(8+i), fmt.Sprintf("While[True, %d]", i)
		l.Submit(job.Submission{JobID: id, Kind: "evaluate", Payload: event.Inline(expression), SessionID: "s", RunID: runID})
		subject := l.Subject(runID, expression)
		subject.SessionID, subject.JobID, subject.Source = "s", id, event.SourceJob
		end, published := ends(subject, job.Outcome{JobID: id, Nonce: l.Claim(id, 1), Error: "no answer", PublishTo: run.Stream(runID), FinishedAt: l.At()})
		ended := l.Add(job.Stream(id), Alice, end)
		l.caused(run.Stream(runID), Alice, ended.Metadata.Correlation, ended.ID, "reaction:publish_outcome", published)
	}
}

// addLost adds a job that was given up after a day.
func (l *Log) addLost() {
	sixth := UUID(0x106)
	spent := l.Submit(job.Submission{JobID: sixth, Kind: "qsim", Payload: event.Inline("{}")})
	nonce := l.Claim(sixth, 1)
	l.Add("job-"+sixth, "", job.WasReleased{JobID: sixth, Nonce: nonce, Reason: job.Untried, Lacked: lacked, NotBefore: event.Timestamp(l.Now.Add(job.PauseAfter(1)))})
	l.Now = l.Now.Add(job.GiveUpAfter + time.Minute)
	nonce = l.Claim(sixth, 2)
	l.Add("job-"+sixth, "", job.WasLost{JobID: sixth, Nonce: nonce, Attempts: 2, Why: job.NeverTried, Lacked: lacked, Refunded: true, FinishedAt: l.At()})
	l.Add("slots-"+Alice+"-"+spent.Day, Alice, slots.Refunded{SlotID: spent.SlotID, JobID: sixth, Reason: slots.ServiceFailed})
}

func (l *Log) addProof() {
	content := "the export\n"
	blob := l.put(content)
	export := upload.Export{SHA256: blob.SHA256, Bytes: blob.Bytes, FormatVersion: "3.1.0"}
	id := UUID(0x201)
	l.Add("upload-"+id, Alice, upload.Stored{UploadID: id, Account: Alice, Blob: *blob, Export: export})
	work, err := event.Marshal(map[string]any{"declarations": []string{"thm"}, "export": export})
	if err != nil {
		panic(err)
	}
	first, second := UUID(0x111), UUID(0x112)
	submission := job.Submission{JobID: first, Kind: "proof", Payload: event.Inline(string(work)), UploadID: id, CertificateID: UUID(0x301)}
	spent := l.Spend(submission)
	l.Add("upload-"+id, Alice, upload.Claimed{UploadID: id, JobID: first})
	submission = spent.Submission
	l.Add("job-"+first, Alice, job.WasQueued{Submission: submission, SlotID: spent.SlotID, Day: spent.Day})
	// Another submission comes second and is given back its slot.
	refused := l.Spend(job.Submission{JobID: second, Kind: "proof", Payload: event.Inline(string(work)), UploadID: id, CertificateID: UUID(0x302)})
	l.Add("upload-"+id, Alice, upload.Refused{UploadID: id, JobID: second, SlotID: refused.SlotID})
	l.Add("slots-"+Alice+"-"+refused.Day, Alice, slots.Refunded{SlotID: refused.SlotID, JobID: second, Reason: slots.UploadUsed})
	nonce := l.Claim(first, 1)
	statement := "True"
	issued := certificate.Issued{CertificateID: UUID(0x301), JobID: first, Account: Alice, Verdict: certificate.Verified, Export: export,
		Findings: certificate.Findings{Declarations: []certificate.Declaration{{Name: "thm", Kind: certificate.Theorem, Statement: &statement, Axioms: []string{"propext"}, StatementSHA256: Text(Sum([]byte(statement)))}},
			AxiomsUsed: []string{"propext"}, Own: &certificate.Own{Count: 1, SHA256: Sum([]byte("def d := 1\n")), Definitions: []certificate.OwnDefinition{{Name: "d", Kind: certificate.Definition, Text: "def d := 1"}}},
			Kernels: []certificate.Kernel{{Name: certificate.FirstKernel, Answer: certificate.Accepted}, {Name: certificate.SecondKernel, Answer: certificate.OutOfBudget, Reason: Text("the steps are spent")}}},
		Checker: certificate.Checker{Name: "reckon", Rev: "1", FormatWindow: certificate.FormatWindow}, DeclarationsChecked: 1, CreatedAt: l.At()}.WithJudged()
	l.Add("job-"+first, Alice, job.HasSucceeded{Outcome: job.Outcome{JobID: first, Nonce: nonce,
		Publish: Embed(issued), PublishTo: "certificate-" + UUID(0x301), FinishedAt: l.At()}})
	l.Add("certificate-"+UUID(0x301), Alice, issued)

	other := UUID(0x202) // claimed, cancelled early, released
	l.Add("upload-"+other, Alice, upload.Stored{UploadID: other, Account: Alice, Blob: *blob, Export: export})
	third := UUID(0x113)
	spent = l.Spend(job.Submission{JobID: third, Kind: "proof", Payload: event.Inline(string(work)), UploadID: other, CertificateID: UUID(0x303)})
	l.Add("upload-"+other, Alice, upload.Claimed{UploadID: other, JobID: third})
	l.Add("job-"+third, Alice, job.WasQueued{Submission: spent.Submission, SlotID: spent.SlotID, Day: spent.Day})
	l.Add("job-"+third, Alice, job.WasCancelled{JobID: third, Early: true, SlotID: spent.SlotID, Day: spent.Day, UploadID: other, FinishedAt: l.At()})
	l.Add("slots-"+Alice+"-"+spent.Day, Alice, slots.Refunded{SlotID: spent.SlotID, JobID: third, Reason: slots.CancelledEarly})
	l.Add("upload-"+other, Alice, upload.Released{UploadID: other, JobID: third})
}

// bill has the billing decider decide: the auditor's own derivation is what is tested against it.
// billed is Bob's billing so far.
func (l *Log) billed() billing.State {
	state := billing.Decider.Initial()
	for _, e := range l.Events {
		if e.Stream == billing.Stream(Bob) {
			state = billing.Decider.Evolve(state, e.Event)
		}
	}
	return state
}

func (l *Log) bill(command billing.Command) {
	state := l.billed()
	events, err := billing.Decider.Decide(command, state)
	if err != nil {
		panic(err)
	}
	changes := state.Changes
	l.Add(billing.Stream(Bob), Bob, events...)
	for _, e := range events {
		state = billing.Decider.Evolve(state, e)
	}
	if state.Changes > changes {
		plan := "free"
		if state.Subscription.Live {
			plan = state.Subscription.Plan
		}
		l.Add("account-"+Bob, Bob, account.PlanChanged{Account: Bob, Plan: plan, Follows: state.Changes})
	}
}

func (l *Log) addBilling() {
	plans := account.DefaultPlans()
	l.Now = time.Date(2026, 8, 31, 12, 1, 0, 0, time.UTC)
	monthly, yearly := plans[1].Prices[0], plans[2].Prices[1]
	quote, err := receipt.SealJSON(billing.QuoteOf("pro", monthly, l.Now.Add(-3*time.Hour)), nil)
	if err != nil {
		panic(err)
	}
	l.bill(billing.Subscribe{Account: Bob, Plan: "pro", Price: monthly, QuoteID: quote.ID, Plans: plans, Now: l.Now})
	l.bill(billing.Issue{Account: Bob, Reference: "book", Description: "a book", AmountMinor: 500, Currency: "USD", Now: l.Now})
	invoice := func(n int) string { return billing.InvoiceID(Bob, n) }
	l.bill(billing.Pay{Account: Bob, InvoiceID: invoice(1), AmountMinor: 1200, Currency: "USD", Method: billing.PaidOperator, PaymentID: "bank 1", Now: l.Now})
	l.Now = time.Date(2026, 9, 30, 12, 2, 0, 0, time.UTC)
	l.bill(billing.Advance{Account: Bob, Plans: plans, Now: l.Now})
	l.Now = l.Now.Add(10 * 24 * time.Hour) // not paid: void, and its used part is owed
	l.bill(billing.Subscribe{Account: Bob, Plan: "team", Price: plans[2].Prices[0], Plans: plans, Now: l.Now})
	l.bill(billing.Pay{Account: Bob, InvoiceID: invoice(4), AmountMinor: 5288, Currency: "USD", Method: billing.PaidProvider, PaymentID: "evt_1", Now: l.Now})
	l.Now = l.Now.Add(2 * 24 * time.Hour) // paid: the rest is credited
	l.bill(billing.Subscribe{Account: Bob, Plan: "pro", Price: monthly, Plans: plans, Now: l.Now})
	l.bill(billing.Subscribe{Account: Bob, Plan: "team", Price: yearly, Plans: plans, Now: l.Now})
	l.bill(billing.Void{Account: Bob, InvoiceID: invoice(2), Note: "gone", Now: l.Now})
	l.bill(billing.Cancel{Account: Bob, Plans: plans, Now: l.Now})
	l.bill(billing.Subscribe{Account: Bob, Plan: "team", Price: yearly, Plans: plans, Now: l.Now}) // goes on
	l.Now = l.Now.Add(30 * 24 * time.Hour)
	l.bill(billing.Advance{Account: Bob, Plans: plans, Now: l.Now}) // unpaid: ends
	for _, i := range l.billed().Invoices() {
		if l.Now = l.Now.Add(24 * time.Hour); i.Status == billing.InvoiceOpen { // paid: goes on
			l.bill(billing.Pay{Account: Bob, InvoiceID: i.InvoiceID, AmountMinor: i.AmountMinor, Currency: "USD", Method: billing.PaidProvider, PaymentID: "evt " + i.Number, Now: l.Now})
		}
	}
}

// rotate puts another key in the place of the first.
func (l *Log) rotate() {
	seed := sha256.Sum256([]byte("another key of tests"))
	next := ed25519.NewKeyFromSeed(seed[:])
	l.PublishKey(next)
	l.Now = l.Now.Add(11 * time.Minute)
	kid := keys.Thumbprint(next.Public().(ed25519.PublicKey))
	l.Add("keys", "", keys.Activated{KID: kid, At: l.At()}, keys.Retired{KID: l.KID, At: l.At()})
	l.Signer, l.KID = next, kid
	evaluated := run.Evaluated{Subject: l.Subject(7, "3+3"), Answer: event.Inline("6"), InputForm: event.Inline("6"), Status: run.Success,
		Engine: run.Engine{Name: "woxi", Revision: "1"}, ExecutionMS: 1, EvaluatedAt: l.At()}
	l.Add("run-7", Alice, evaluated, l.Seal(evaluated, "3+3", "6", ""))
}
