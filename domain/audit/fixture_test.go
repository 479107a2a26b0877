package audit_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

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
	"reckon/domain/upload"
)

// logged is one event of a log under test, in the form in which a test changes it.
type logged struct {
	id       string
	stream   string
	name     string
	event    event.Event
	metadata event.Metadata
	data     []byte // instead of event's
	meta     []byte // instead of metadata's
	removed  bool
}

// testLog is a log that a test makes and changes.
type testLog struct {
	events []*logged
	blobs  map[string][]byte
	now    time.Time
	signer ed25519.PrivateKey
	kid    string
	next   int // number of the next id
}

const (
	alice = "0198a1b2-0000-7000-8000-00000000000a"
	bob   = "0198a1b2-0000-7000-8000-00000000000b"
	carol = "0198a1b2-0000-7000-8000-00000000000c"
	proc  = "0198a1b2-0000-7000-8000-0000000000ff"
)

func uuidOf(n int) string { return fmt.Sprintf("0198a1b2-1111-7000-8000-%012x", n) }

func newLog() *testLog {
	seed := sha256.Sum256([]byte("the key of tests"))
	l := &testLog{blobs: map[string][]byte{}, now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), signer: ed25519.NewKeyFromSeed(seed[:]), next: 1}
	l.kid = keys.Thumbprint(l.signer.Public().(ed25519.PublicKey))
	return l
}

func (l *testLog) newID() string {
	l.next++
	return uuidOf(l.next)
}

func (l *testLog) at() string { return event.Timestamp(l.now) }

// add appends events of one command to a stream; about is the account in the metadata.
func (l *testLog) add(stream, about string, events ...event.Event) *logged {
	correlation := l.newID()
	return l.caused(stream, about, correlation, "", "", events...)
}

func (l *testLog) caused(stream, about, correlation, causation, actor string, events ...event.Event) *logged {
	var last *logged
	for _, e := range events {
		last = &logged{id: l.newID(), stream: stream, name: e.EventName(), event: e,
			metadata: event.Metadata{Correlation: correlation, Causation: causation, At: l.now, Account: about, Actor: actor, Build: "test"}}
		l.events = append(l.events, last)
	}
	return last
}

// find returns the n-th event of a type, from 1.
func (l *testLog) find(name string, n int) *logged {
	for _, e := range l.events {
		if e.name == name {
			if n--; n == 0 {
				return e
			}
		}
	}
	panic("no such event: " + name)
}

func (l *testLog) index(e *logged) int { return slices.Index(l.events, e) }

func (l *testLog) remove(e *logged) { l.events = slices.Delete(l.events, l.index(e), l.index(e)+1) }

func (l *testLog) insertAfter(e *logged, other *logged) {
	l.events = slices.Insert(l.events, l.index(e)+1, other)
}

// copyOf is the same event again under another id.
func (l *testLog) copyOf(e *logged) *logged {
	other := *e
	other.id = l.newID()
	return &other
}

// stored is the log as a source reads it: positions and revisions as they come.
func (l *testLog) stored(t testing.TB) []audit.Stored {
	t.Helper()
	catalogue := domain.Catalogue()
	revisions := map[string]event.Revision{}
	all := make([]audit.Stored, len(l.events))
	for i, e := range l.events {
		version, data, err := catalogue.Encode(e.event)
		if err != nil {
			t.Fatal(err)
		}
		if e.metadata.Version == 0 {
			e.metadata.Version = version
		}
		meta, err := event.Marshal(e.metadata)
		if err != nil {
			t.Fatal(err)
		}
		if e.data != nil {
			data = e.data
		}
		if e.meta != nil {
			meta = e.meta
		}
		at := uint64(i + 1)
		all[i] = audit.Stored{ID: e.id, Stream: e.stream, Revision: revisions[e.stream], Position: event.Position{Commit: at, Prepare: at}, Name: e.name, Data: data, Metadata: meta, Removed: e.removed}
		revisions[e.stream]++
	}
	return all
}

var (
	errNoBlob      = errors.New("no such blob")
	errCorruptBlob = errors.New("another blob")
)

// Get is event.BlobReader.
func (l *testLog) Get(_ context.Context, b event.Blob) ([]byte, error) {
	content, found := l.blobs[b.SHA256]
	switch {
	case !found:
		return nil, errNoBlob
	case sum(content) != b.SHA256 || int64(len(content)) != b.Bytes:
		return nil, errCorruptBlob
	}
	return content, nil
}

func (l *testLog) put(content string) *event.Blob {
	l.blobs[sum([]byte(content))] = []byte(content)
	return &event.Blob{SHA256: sum([]byte(content)), Bytes: int64(len(content))}
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// audited is what an auditor finds.
func audited(t testing.TB, l *testLog, outside map[string]ed25519.PublicKey) []audit.Finding {
	t.Helper()
	return auditStored(t, l, l.stored(t), outside)
}

func auditStored(t testing.TB, l *testLog, all []audit.Stored, outside map[string]ed25519.PublicKey) []audit.Finding {
	t.Helper()
	reader := audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: json.Unmarshal,
		NotFound: func(err error) bool { return errors.Is(err, errNoBlob) }, Corrupt: func(err error) bool { return errors.Is(err, errCorruptBlob) }}
	if l.blobs != nil {
		reader.Blobs = l
	}
	auditor := audit.New(audit.Config{OutsideKeys: outside})
	for _, s := range all {
		it, err := reader.Prepare(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		auditor.Take(it)
	}
	findings, _ := auditor.End()
	audit.Sort(findings)
	return findings
}

// seal is the receipt of a run, as the service makes it.
func (l *testLog) seal(e run.Evaluated, expression, answer, stdout string) run.Sealed {
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
	sealed, err := receipt.SealJSON(record, &receipt.Signer{KID: l.kid, Key: l.signer})
	if err != nil {
		panic(err)
	}
	canonical := event.Inline(string(sealed.Canonical))
	if len(sealed.Canonical) > event.MaxInlineBytes {
		canonical = event.Text{Blob: l.put(string(sealed.Canonical))}
	}
	return run.Sealed{RunID: e.RunID, ReceiptID: sealed.ID, Canonical: canonical, Signature: sealed.Signature, KID: sealed.KID}
}

func (l *testLog) publishKey(private ed25519.PrivateKey) {
	public := private.Public().(ed25519.PublicKey)
	l.add("keys", "", keys.Published{KID: keys.Thumbprint(public), X: keys.EncodeX(public), At: l.at()})
}

func (l *testLog) subject(runID int64, expression string) run.Subject {
	return run.Subject{RunID: runID, Account: alice, Expression: event.Inline(expression), Source: event.SourceWeb}
}

// submission spends a slot and queues a job on it.
func (l *testLog) submit(s job.Submission) slots.Spent {
	spent := l.spend(s)
	l.add("job-"+s.JobID, s.Account, job.WasQueued{Submission: spent.Submission, SlotID: spent.SlotID, Day: spent.Day})
	return spent
}

func (l *testLog) spend(s job.Submission) slots.Spent {
	s.TimeoutMS, s.Plan, s.Concurrent, s.Source, s.SubmittedAt = 60_000, "free", 1, event.SourceWeb, l.at()
	if s.Account == "" {
		s.Account = alice
	}
	day := l.now.Format(time.DateOnly)
	spent := slots.Spent{SlotID: uuidOf(l.next + 2), Day: day, Submission: s} // add takes one id for the command
	l.add("slots-"+s.Account+"-"+day, s.Account, spent)
	return spent
}

func (l *testLog) claim(jobID string, attempt int) string {
	nonce := l.newID()
	l.add("job-"+jobID, "", job.WasClaimed{JobID: jobID, Runner: proc, Nonce: nonce, Attempt: attempt, StartedAt: l.at()})
	return nonce
}

func embed(events ...event.Event) []event.Embedded {
	embedded, err := domain.Catalogue().Embed(events...)
	if err != nil {
		panic(err)
	}
	return embedded
}

func text(s string) *string { return &s }

// trueLog has every type of event, each where the service would write it.
func trueLog() *testLog {
	l := newLog()
	l.events = append(l.events, &logged{id: l.newID(), stream: "$reckon-log", name: "$reckon-log-created", event: runner.Beat{}, meta: []byte{}, data: []byte("{}")},
		&logged{id: l.newID(), stream: "reckon-log", name: "reckon.log_named", event: runner.Beat{}, meta: []byte{}, data: []byte("{}")})
	l.publishKey(l.signer)
	l.add("keys", "", keys.Activated{KID: l.kid, At: l.at()})
	for _, id := range []string{alice, bob, carol} {
		l.add("account-"+id, id, account.Registered{Account: id, Plan: "free"})
	}
	l.add("runids", "", run.Reserved{Process: proc})
	l.add("runner-"+proc, "", runner.Beat{Runner: proc, Seq: 1})
	tokenID := sum([]byte("secret"))
	l.add("token-"+tokenID, alice, token.Minted{TokenID: tokenID, Account: alice, Name: "laptop", Last4: "abcd", FullAccess: true})
	grantID := l.newID()
	l.add("grant-"+grantID, alice, grant.Approved{GrantID: grantID, Account: alice, ClientID: l.newID(), ClientName: "Notebook", Resource: "api", Scopes: []string{"evaluate"}})
	l.add("session-"+alice+"-s", alice, session.Opened{Account: alice, SessionID: "s", Owner: proc, Epoch: 1})
	l.addRuns()
	l.add("session-"+alice+"-s", alice, session.Expired{Account: alice, SessionID: "s", Epoch: 1, Reason: session.EndIdle})
	l.add("session-"+alice+"-s", alice, session.Opened{Account: alice, SessionID: "s", Owner: proc, Epoch: 2}, session.Cleared{Account: alice, SessionID: "s", Epoch: 2})
	l.add("token-"+tokenID, alice, token.Revoked{TokenID: tokenID, Account: alice})
	l.add("grant-"+grantID, alice, grant.Revoked{GrantID: grantID, Account: alice, Reason: grant.ByPerson})
	l.addJobs()
	l.addProof()
	l.addBilling()
	l.rotate()
	l.now = l.now.Add(time.Hour)
	l.add("account-"+carol, carol, account.Closed{Account: carol})
	l.now = l.now.Add(time.Hour)
	l.add("runids", "", run.Reserved{Process: proc})
	return l
}

func (l *testLog) addRuns() {
	stdout := event.Inline("hé\u007f\n")
	check := run.Check{Verdict: run.VerdictVerified, Basis: run.BasisExact, Method: "m", Check: "c", Residual: "0", ElapsedMS: 1, Automatic: true}
	first := run.Evaluated{Subject: l.subject(1, "1+1 <&> \U0001D54A"), Answer: event.Inline("2"), InputForm: event.Inline("2"), Checkable: true, Status: run.Success,
		Stdout: &stdout, Warnings: []string{"a\twarning"}, Engine: run.Engine{Name: "woxi", Revision: "1"}, Check: &check, ExecutionMS: 3, EvaluatedAt: l.at()}
	first.SessionID = "s"
	l.add("run-1", alice, first, l.seal(first, "1+1 <&> \U0001D54A", "2", stdout.Inline))
	long := string(slices.Repeat([]byte("x"), event.MaxInlineBytes+1))
	second := run.Evaluated{Subject: l.subject(2, "long"), Answer: event.Text{Blob: l.put(long)}, InputForm: event.Inline("x"), Status: run.Success,
		Plot: l.put("<svg/>"), Engine: run.Engine{Name: "woxi", Revision: "1"}, ExecutionMS: 3, EvaluatedAt: l.at()}
	l.add("run-2", alice, second, l.seal(second, "long", long, ""))
	l.add("run-2", alice, run.Verified{RunID: 2, Account: alice, Check: run.Check{Verdict: run.VerdictInconclusive, Reason: run.ReasonNoHead}})
	l.add("run-3", alice, run.TimedOut{Subject: l.subject(3, "slow"), BudgetMS: 3000})
	l.add("run-4", alice, run.Failed{Subject: l.subject(4, "Quit[]"), Reason: run.FailureQuit})
}

func (l *testLog) addJobs() {
	first := uuidOf(0x101)
	l.submit(job.Submission{JobID: first, Kind: "evaluate", Payload: event.Inline("2+2"), RunID: 5})
	nonce := l.claim(first, 1)
	l.add("job-"+first, "", job.WasReleased{JobID: first, Nonce: nonce, Reason: job.Drained})
	nonce = l.claim(first, 2)
	evaluated := run.Evaluated{Subject: l.subject(5, "2+2"), Answer: event.Inline("4"), InputForm: event.Inline("4"), Status: run.Success,
		Engine: run.Engine{Name: "woxi", Revision: "1"}, ExecutionMS: 1, EvaluatedAt: l.at()}
	evaluated.JobID, evaluated.Source = first, event.SourceJob
	sealed := l.seal(evaluated, "2+2", "4", "")
	ended := l.add("job-"+first, alice, job.HasSucceeded{Outcome: job.Outcome{JobID: first, Nonce: nonce, Output: event.Inline("4"), Result: event.Inline("{}"),
		Publish: embed(evaluated, sealed), PublishTo: "run-5", FinishedAt: l.at()}})
	l.caused("run-5", alice, ended.metadata.Correlation, ended.id, "reaction:publish_outcome", evaluated, sealed)

	second := uuidOf(0x102) // cancelled before its first claim
	spent := l.submit(job.Submission{JobID: second, Kind: "qsim", Payload: event.Inline("{}")})
	l.add("job-"+second, alice, job.WasCancelled{JobID: second, Early: true, SlotID: spent.SlotID, Day: spent.Day, FinishedAt: l.at()})
	l.add("slots-"+alice+"-"+spent.Day, alice, slots.Refunded{SlotID: spent.SlotID, JobID: second, Reason: slots.CancelledEarly})

	third := uuidOf(0x103) // the same key from two days: the second is given back
	l.submit(job.Submission{JobID: third, Kind: "qsim", Payload: event.Inline("{}"), IdempotencyKey: "k"})
	l.now = l.now.Add(24 * time.Hour)
	again := l.spend(job.Submission{JobID: third, Kind: "qsim", Payload: event.Inline("{}"), IdempotencyKey: "k"})
	l.add("slots-"+alice+"-"+again.Day, alice, slots.Refunded{SlotID: again.SlotID, JobID: third, Reason: slots.Duplicate})
	nonce = l.claim(third, 1)
	l.add("job-"+third, alice, job.HasTimedOut{Outcome: job.Outcome{JobID: third, Nonce: nonce, Error: "budget", FinishedAt: l.at()}})

	fourth := uuidOf(0x104) // lost in its session
	l.submit(job.Submission{JobID: fourth, Kind: "evaluate", Payload: event.Inline("x"), SessionID: "s", RunID: 6})
	nonce = l.claim(fourth, 1)
	l.add("job-"+fourth, "", job.WasLost{JobID: fourth, Nonce: nonce, Attempts: 1, FinishedAt: l.at()})

	fifth := uuidOf(0x105)
	l.submit(job.Submission{JobID: fifth, Kind: "qsim", Payload: event.Inline("{}")})
	nonce = l.claim(fifth, 1)
	l.add("job-"+fifth, alice, job.HasFailed{Outcome: job.Outcome{JobID: fifth, Nonce: nonce, Error: "e", FinishedAt: l.at()}})
}

func (l *testLog) addProof() {
	content := "the export\n"
	blob := l.put(content)
	export := upload.Export{SHA256: blob.SHA256, Bytes: blob.Bytes, FormatVersion: "3.1.0"}
	id := uuidOf(0x201)
	l.add("upload-"+id, alice, upload.Stored{UploadID: id, Account: alice, Blob: *blob, Export: export})
	work, err := event.Marshal(map[string]any{"declarations": []string{"thm"}, "export": export})
	if err != nil {
		panic(err)
	}
	first, second := uuidOf(0x111), uuidOf(0x112)
	submission := job.Submission{JobID: first, Kind: "proof", Payload: event.Inline(string(work)), UploadID: id, CertificateID: uuidOf(0x301)}
	spent := l.spend(submission)
	l.add("upload-"+id, alice, upload.Claimed{UploadID: id, JobID: first})
	submission = spent.Submission
	l.add("job-"+first, alice, job.WasQueued{Submission: submission, SlotID: spent.SlotID, Day: spent.Day})
	// Another submission comes second and is given back its slot.
	refused := l.spend(job.Submission{JobID: second, Kind: "proof", Payload: event.Inline(string(work)), UploadID: id, CertificateID: uuidOf(0x302)})
	l.add("upload-"+id, alice, upload.Refused{UploadID: id, JobID: second, SlotID: refused.SlotID})
	l.add("slots-"+alice+"-"+refused.Day, alice, slots.Refunded{SlotID: refused.SlotID, JobID: second, Reason: slots.UploadUsed})
	nonce := l.claim(first, 1)
	statement := "True"
	issued := certificate.Issued{CertificateID: uuidOf(0x301), JobID: first, Account: alice, Verdict: certificate.Verified, Export: export,
		Findings: certificate.Findings{Declarations: []certificate.Declaration{{Name: "thm", Kind: certificate.Theorem, Statement: &statement, Axioms: []string{"propext"}, StatementSHA256: text(sum([]byte(statement)))}},
			AxiomsUsed: []string{"propext"}, Own: &certificate.Own{Count: 1, SHA256: sum([]byte("def d := 1\n")), Definitions: []certificate.OwnDefinition{{Name: "d", Kind: certificate.Definition, Text: "def d := 1"}}}},
		Checker: certificate.Checker{Name: "reckon", Rev: "1", FormatWindow: certificate.FormatWindow}, DeclarationsChecked: 1, CreatedAt: l.at()}
	l.add("job-"+first, alice, job.HasSucceeded{Outcome: job.Outcome{JobID: first, Nonce: nonce, Output: event.Inline("Verified"), Result: event.Inline("{}"),
		Publish: embed(issued), PublishTo: "certificate-" + uuidOf(0x301), FinishedAt: l.at()}})
	l.add("certificate-"+uuidOf(0x301), alice, issued)

	other := uuidOf(0x202) // claimed, cancelled early, released
	l.add("upload-"+other, alice, upload.Stored{UploadID: other, Account: alice, Blob: *blob, Export: export})
	third := uuidOf(0x113)
	spent = l.spend(job.Submission{JobID: third, Kind: "proof", Payload: event.Inline(string(work)), UploadID: other, CertificateID: uuidOf(0x303)})
	l.add("upload-"+other, alice, upload.Claimed{UploadID: other, JobID: third})
	l.add("job-"+third, alice, job.WasQueued{Submission: spent.Submission, SlotID: spent.SlotID, Day: spent.Day})
	l.add("job-"+third, alice, job.WasCancelled{JobID: third, Early: true, SlotID: spent.SlotID, Day: spent.Day, UploadID: other, FinishedAt: l.at()})
	l.add("slots-"+alice+"-"+spent.Day, alice, slots.Refunded{SlotID: spent.SlotID, JobID: third, Reason: slots.CancelledEarly})
	l.add("upload-"+other, alice, upload.Released{UploadID: other, JobID: third})
}

// bill has the billing decider decide: the auditor's own derivation is what is tested against it.
func (l *testLog) bill(command billing.Command) {
	state := billing.Decider.Initial()
	for _, e := range l.events {
		if e.stream == billing.Stream(bob) {
			state = billing.Decider.Evolve(state, e.event)
		}
	}
	events, err := billing.Decider.Decide(command, state)
	if err != nil {
		panic(err)
	}
	changes := state.Changes
	l.add(billing.Stream(bob), bob, events...)
	for _, e := range events {
		state = billing.Decider.Evolve(state, e)
	}
	if state.Changes > changes {
		plan := "free"
		if state.Subscription.Live {
			plan = state.Subscription.Plan
		}
		l.add("account-"+bob, bob, account.PlanChanged{Account: bob, Plan: plan, Follows: state.Changes})
	}
}

func (l *testLog) addBilling() {
	plans := account.DefaultPlans()
	l.now = time.Date(2026, 8, 31, 12, 1, 0, 0, time.UTC)
	monthly, yearly := plans[1].Prices[0], plans[2].Prices[1]
	quote, err := receipt.SealJSON(billing.QuoteOf("pro", monthly, l.now.Add(-3*time.Hour)), nil)
	if err != nil {
		panic(err)
	}
	l.bill(billing.Subscribe{Account: bob, Plan: "pro", Price: monthly, QuoteID: quote.ID, Plans: plans, Now: l.now})
	l.bill(billing.Issue{Account: bob, Reference: "book", Description: "a book", AmountMinor: 500, Currency: "USD", Now: l.now})
	invoice := func(n int) string { return billing.InvoiceID(bob, n) }
	l.bill(billing.Pay{Account: bob, InvoiceID: invoice(1), AmountMinor: 1200, Currency: "USD", Method: billing.PaidOperator, PaymentID: "bank 1", Now: l.now})
	l.now = time.Date(2026, 9, 30, 12, 2, 0, 0, time.UTC)
	l.bill(billing.Advance{Account: bob, Plans: plans, Now: l.now})
	l.now = l.now.Add(10 * 24 * time.Hour) // not paid: void, and its used part is owed
	l.bill(billing.Subscribe{Account: bob, Plan: "team", Price: plans[2].Prices[0], Plans: plans, Now: l.now})
	l.bill(billing.Pay{Account: bob, InvoiceID: invoice(4), AmountMinor: 5288, Currency: "USD", Method: billing.PaidProvider, PaymentID: "evt_1", Now: l.now})
	l.now = l.now.Add(2 * 24 * time.Hour) // paid: the rest is credited
	l.bill(billing.Subscribe{Account: bob, Plan: "pro", Price: monthly, Plans: plans, Now: l.now})
	l.bill(billing.Subscribe{Account: bob, Plan: "team", Price: yearly, Plans: plans, Now: l.now})
	l.bill(billing.Void{Account: bob, InvoiceID: invoice(2), Note: "gone", Now: l.now})
	l.bill(billing.Cancel{Account: bob, Plans: plans, Now: l.now})
	l.bill(billing.Subscribe{Account: bob, Plan: "team", Price: yearly, Plans: plans, Now: l.now}) // goes on
	l.now = l.now.Add(30 * 24 * time.Hour)
	l.bill(billing.Advance{Account: bob, Plans: plans, Now: l.now}) // unpaid: ends
}

// rotate puts another key in the place of the first.
func (l *testLog) rotate() {
	seed := sha256.Sum256([]byte("another key of tests"))
	next := ed25519.NewKeyFromSeed(seed[:])
	l.publishKey(next)
	l.now = l.now.Add(11 * time.Minute)
	kid := keys.Thumbprint(next.Public().(ed25519.PublicKey))
	l.add("keys", "", keys.Activated{KID: kid, At: l.at()}, keys.Retired{KID: l.kid, At: l.at()})
	l.signer, l.kid = next, kid
	evaluated := run.Evaluated{Subject: l.subject(7, "3+3"), Answer: event.Inline("6"), InputForm: event.Inline("6"), Status: run.Success,
		Engine: run.Engine{Name: "woxi", Revision: "1"}, ExecutionMS: 1, EvaluatedAt: l.at()}
	l.add("run-7", alice, evaluated, l.seal(evaluated, "3+3", "6", ""))
}
