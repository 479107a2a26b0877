package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/billing"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/slots"
	"reckon/domain/token"
	"reckon/domain/transparency"
	"reckon/domain/upload"
)

// TestATrueLogIsClean: given a log as the service writes it, with every type of event, nothing is found.
func TestATrueLogIsClean(t *testing.T) {
	l := audittest.True()
	for _, f := range audittest.Audit(t, l, nil) {
		t.Error(f)
	}
	seen := map[string]bool{}
	for _, e := range l.Events {
		seen[e.Name] = true
	}
	for _, name := range []string{"slots.refunded", "certificate.issued", "subscription.renewed", "key.retired", "upload.refused", "run.verified", "account.closed"} {
		if !seen[name] {
			t.Errorf("the log has no %s", name)
		}
	}
}

// TestALossOfVersionOneIsLegal: it does not say why, and its slot was not given back.
func TestALossOfVersionOneIsLegal(t *testing.T) {
	l := audittest.True()
	lost := l.Find("job.lost", 1)
	e := lost.Event.(job.WasLost)
	lost.Metadata.Version, lost.Data = 1, []byte(fmt.Sprintf(`{"job_id":%q,"nonce":%q,"attempts":%d,"finished_at":%q}`, e.JobID, e.Nonce, e.Attempts, e.FinishedAt))
	for _, refund := range l.Events {
		if r, is := refund.Event.(slots.Refunded); is && r.JobID == e.JobID {
			l.Remove(refund)
			break
		}
	}
	for _, f := range audittest.Audit(t, l, nil) {
		t.Error(f)
	}
}

// change changes a log and returns the event at which it must be found; nil: at none.
type change func(l *audittest.Log) *audittest.Logged

// edit changes an event of the true log.
func edit[E event.Event](name string, n int, f func(*E)) change {
	return func(l *audittest.Log) *audittest.Logged {
		e := l.Find(name, n)
		changed, ok := e.Event.(E)
		if !ok {
			panic(name + " is another event")
		}
		f(&changed)
		e.Event = changed
		return e
	}
}

func editMetadata(name string, n int, f func(*event.Metadata)) change {
	return func(l *audittest.Log) *audittest.Logged {
		e := l.Find(name, n)
		f(&e.Metadata)
		return e
	}
}

func removed(name string, n int, at func(l *audittest.Log) *audittest.Logged) change {
	return func(l *audittest.Log) *audittest.Logged {
		l.Remove(l.Find(name, n))
		return at(l)
	}
}

func at(name string, n int) func(*audittest.Log) *audittest.Logged {
	return func(l *audittest.Log) *audittest.Logged { return l.Find(name, n) }
}

// endedAs has a job's terminal event be another one with the same outcome.
func endedAs(name string, n int, as func(job.Outcome) event.Event) change {
	return func(l *audittest.Log) *audittest.Logged {
		e := l.Find(name, n)
		end, _ := job.EndOf(e.Event)
		e.Event = as(end.Outcome)
		e.Name = e.Event.EventName()
		return e
	}
}

// twice has an event again directly after itself, under another id.
func twice(name string, n int) change {
	return func(l *audittest.Log) *audittest.Logged {
		e := l.Find(name, n)
		again := l.CopyOf(e)
		l.InsertAfter(e, again)
		return again
	}
}

func rewrite(name string, n int, old, with string) change {
	return func(l *audittest.Log) *audittest.Logged {
		e := l.Find(name, n)
		data, err := event.Marshal(e.Event)
		if err != nil || !bytes.Contains(data, []byte(old)) {
			panic(string(data))
		}
		e.Data = bytes.Replace(data, []byte(old), []byte(with), 1)
		return e
	}
}

// TestEachChangeIsFoundWhereItIs: given the true log, when one thing in it is changed, then the check that is to see it finds it, at
// that event. The log has no hash chain here: whoever changed it made that anew.
func TestEachChangeIsFoundWhereItIs(t *testing.T) {
	const stranger = "0198a1b2-0000-7000-8000-0000000000ee"
	cases := []struct {
		name string
		kind audit.Kind
		when change
	}{
		{"an id that is no UUID", audit.KindEventID, func(l *audittest.Log) *audittest.Logged { e := l.Find("run.failed", 1); e.ID = "x"; return e }},
		{"a payload that was removed", audit.KindPayloadRemoved, func(l *audittest.Log) *audittest.Logged { e := l.Find("run.failed", 1); e.Removed = true; return e }},
		{"an event of another service", audit.KindUnknownEvent, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("run.failed", 1)
			e.Name = "run.forged"
			return e
		}},
		{"a version to come", audit.KindUnknownEvent, editMetadata("run.failed", 1, func(m *event.Metadata) { m.Version = 9 })},
		{"a field too many", audit.KindSchema, rewrite("run.failed", 1, `{`, `{"extra":1,`)},
		{"a field twice", audit.KindSchema, rewrite("run.failed", 1, `{`, `{"run_id":4,`)},
		{"a space", audit.KindSchema, rewrite("run.failed", 1, `:`, `: `)},
		{"a value that is not in its list", audit.KindSchema, edit("run.failed", 1, func(e *run.Failed) { e.Reason = "bored" })},
		{"an id in other letters", audit.KindSchema, edit("upload.stored", 1, func(e *upload.Stored) { e.UploadID = strings.ToUpper(e.UploadID) })},
		{"a time with less digits", audit.KindSchema, edit("key.published", 1, func(e *keys.Published) { e.At = "2026-08-01T12:00:00Z" })},
		{"metadata that are none", audit.KindSchema, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("run.failed", 1)
			e.Meta = []byte(`{"v":1}`)
			return e
		}},
		{"a source that is none", audit.KindSchema, editMetadata("run.failed", 1, func(m *event.Metadata) { m.Source = "mail" })},
		{"a long audittest.Text in the event", audit.KindTextTooLong, edit("run.timed_out", 1, func(e *run.TimedOut) { e.Expression = event.Inline(strings.Repeat("x", event.MaxInlineBytes+1)) })},
		{"a audittest.Text twice", audit.KindTextTwice, edit("run.evaluated", 2, func(e *run.Evaluated) { e.Answer.Inline = "x" })},
		{"a blob that is gone", audit.KindBlobMissing, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("run.evaluated", 2)
			delete(l.Blobs, e.Event.(run.Evaluated).Plot.SHA256)
			return e
		}},
		{"a blob that is another", audit.KindBlobDiffers, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("upload.stored", 1)
			l.Blobs[e.Event.(upload.Stored).Blob.SHA256] = []byte("other bytes")
			return e
		}},

		{"an event twice", audit.KindDuplicateID, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("runner.beat", 1)
			again := *e
			l.InsertAfter(l.Find("run.failed", 1), &again)
			return &again
		}},
		{"a cause that does not exist", audit.KindCause, editMetadata("run.evaluated", 3, func(m *event.Metadata) { m.Causation = stranger })},
		{"a cause of another correlation", audit.KindCause, editMetadata("run.evaluated", 3, func(m *event.Metadata) { m.Correlation = stranger })},
		{"no correlation", audit.KindCause, editMetadata("run.failed", 1, func(m *event.Metadata) { m.Correlation = "" })},
		{"a reaction to nothing", audit.KindCause, editMetadata("run.failed", 1, func(m *event.Metadata) { m.Actor = "reaction:end_closed" })},
		{"an event in another stream", audit.KindStream, edit("run.failed", 1, func(e *run.Failed) { e.RunID = 44 })},
		{"an event of another account", audit.KindAccount, edit("run.failed", 1, func(e *run.Failed) { e.Account = audittest.Bob })},

		{"a run evaluated twice", audit.KindIllegal, twice("run.evaluated", 1)},
		{"a run sealed twice", audit.KindIllegal, twice("receipt.sealed", 1)},
		{"a run that failed twice", audit.KindIllegal, twice("run.failed", 1)},
		{"a check that says nothing new", audit.KindIllegal, twice("run.verified", 1)},
		{"a job queued twice", audit.KindIllegal, twice("job.queued", 1)},
		{"a job claimed by two", audit.KindIllegal, twice("job.claimed", 1)},
		{"a job finished twice", audit.KindIllegal, twice("job.succeeded", 1)},
		{"a job that ended for another attempt", audit.KindIllegal, edit("job.failed", 1, func(e *job.HasFailed) { e.Nonce = stranger })},
		{"an attempt with another number", audit.KindIllegal, edit("job.claimed", 1, func(e *job.WasClaimed) { e.Attempt = 7 })},
		{"a loss by the service without a refund", audit.KindNoRefund, removed("slots.refunded", 3, at("job.lost", 1))},
		{"a loss that was the work's", audit.KindIllegal, edit("job.lost", 1, func(e *job.WasLost) { e.Why, e.Refunded = job.SpentAttempts, false })},
		{"a loss that does not say why", audit.KindIllegal, edit("job.lost", 1, func(e *job.WasLost) { e.Why, e.Refunded = job.Unrecorded, false })},
		{"a job given up too early", audit.KindIllegal, edit("job.lost", 2, func(e *job.WasLost) { e.FinishedAt = "2026-08-01T12:00:00.000Z" })},
		{"a refund for another reason", audit.KindRefund, edit("slots.refunded", 3, func(e *slots.Refunded) { e.Reason = slots.CancelledEarly })},
		{"an excuse for an attempt that was not spent", audit.KindIllegal, twice("job.attempt_excused", 1)},
		{"a late cancellation that says it was early", audit.KindIllegal, edit("job.cancelled", 1, func(e *job.WasCancelled) { e.Early = false })},
		{"a job lost too soon", audit.KindIllegal, func(l *audittest.Log) *audittest.Logged {
			edit("job.queued", 4, func(e *job.WasQueued) { e.SessionID = "" })(l)
			return l.Find("job.lost", 1)
		}},
		{"an upload claimed by two", audit.KindIllegal, edit("upload.refused", 1, func(e *upload.Refused) { e.JobID = audittest.UUID(0x111) })},
		{"an upload stored twice", audit.KindIllegal, twice("upload.stored", 1)},
		{"a certificate issued twice", audit.KindIllegal, twice("certificate.issued", 1)},
		{"a session opened twice", audit.KindIllegal, twice("session.opened", 1)},
		{"an epoch that was not", audit.KindIllegal, edit("session.expired", 1, func(e *session.Expired) { e.Epoch = 9 })},
		{"a token minted twice", audit.KindIllegal, twice("token.minted", 1)},
		{"a grant approved twice", audit.KindIllegal, twice("grant.approved", 1)},
		{"an account registered twice", audit.KindIllegal, twice("account.registered", 1)},
		{"an account closed twice", audit.KindIllegal, twice("account.closed", 1)},
		{"a start followed twice", audit.KindIllegal, twice("account.plan_changed", 1)},
		{"a run id that was not reserved", audit.KindRunID, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("run.failed", 1)
			failed := e.Event.(run.Failed)
			failed.RunID = 1001
			e.Event, e.Stream = failed, "run-1001"
			return e
		}},
		{"a run of an account that is none", audit.KindNoAccount, edit("run.timed_out", 1, func(e *run.TimedOut) { e.Account = stranger })},
		{"a token for a closed account", audit.KindClosed, func(l *audittest.Log) *audittest.Logged {
			l.Now = l.Now.Add(time.Hour)
			id := audittest.Sum([]byte("another"))
			return l.Add("token-"+id, audittest.Carol, token.Minted{TokenID: id, Account: audittest.Carol, Name: "n", Last4: "abcd", FullAccess: true})
		}},
		{"a token that outlives its account", audit.KindLeftOver, func(l *audittest.Log) *audittest.Logged {
			id := audittest.Sum([]byte("another"))
			e := l.Find("account.closed", 1)
			i := l.Index(e)
			l.Add("token-"+id, audittest.Carol, token.Minted{TokenID: id, Account: audittest.Carol, Name: "n", Last4: "abcd", FullAccess: true})
			minted := l.Events[len(l.Events)-1]
			minted.Metadata.At = e.Metadata.At
			l.Events = slices.Insert(l.Events[:len(l.Events)-1], i, minted)
			return e
		}},
		{"a job on a plan that was never in force", audit.KindPlan, edit("slots.spent", 1, func(e *slots.Spent) { e.Submission.Plan = "team" })},

		{"a key under another id", audit.KindKey, edit("key.published", 1, func(e *keys.Published) { e.X = strings.Repeat("A", 43) })},
		{"a key published twice", audit.KindKey, twice("key.published", 1)},
		{"a key activated at once", audit.KindKey, edit("key.activated", 2, func(e *keys.Activated) { e.At = "2026-08-02T12:00:00.000Z" })},
		{"a key retired alone", audit.KindKey, twice("key.retired", 1)},
		{"a key not retired", audit.KindKey, func(l *audittest.Log) *audittest.Logged {
			l.Remove(l.Find("key.retired", 1))
			l.PublishKey(ed25519.NewKeyFromSeed(make([]byte, 32)))
			return l.Events[len(l.Events)-1]
		}},
		{"a key not retired at the log's end", audit.KindIncomplete, removed("key.retired", 1, func(*audittest.Log) *audittest.Logged { return nil })},
		{"a leaf that was changed", audit.KindCheckpoint, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("receipt.sealed", 1)
			changed := e.Event.(run.Sealed)
			changed.ReceiptID = strings.Repeat("0", 64)
			e.Event = changed
			return l.Find("checkpoint.signed", 1)
		}},
		{"a leaf that was removed", audit.KindCheckpoint, removed("certificate.issued", 1, at("checkpoint.signed", 2))},
		{"a leaf that was added", audit.KindCheckpoint, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("receipt.sealed", 1)
			l.InsertAfter(e, l.CopyOf(e))
			return l.Find("checkpoint.signed", 1)
		}},
		{"a checkpoint twice", audit.KindCheckpoint, twice("checkpoint.signed", 1)},
		{"a checkpoint of more leaves than there are", audit.KindCheckpoint, edit("checkpoint.signed", 2, func(e *transparency.Signed) { e.Size += 1000 })},
		{"a checkpoint of another tree", audit.KindCheckpoint, edit("checkpoint.signed", 2, func(e *transparency.Signed) { e.Root = e.Roots[0] })},
		{"a checkpoint of another log", audit.KindCheckpoint, edit("checkpoint.signed", 2, func(e *transparency.Signed) { e.Origin = "other.example" })},
		{"a checkpoint by another key", audit.KindCheckpoint, edit("checkpoint.signed", 2, func(e *transparency.Signed) { e.PublicKey = strings.Repeat("A", 43) })},
		{"a checkpoint by a key that is none", audit.KindCheckpoint, edit("checkpoint.signed", 2, func(e *transparency.Signed) { e.KID = strings.Repeat("A", 43) })},
		{"a checkpoint with another last leaf", audit.KindCheckpoint, edit("checkpoint.signed", 2, func(e *transparency.Signed) { e.Last.Revision++ })},
		{"a checkpoint that was not signed so", audit.KindCheckpointSignature, edit("checkpoint.signed", 1, func(e *transparency.Signed) {
			e.Signature = base64.StdEncoding.EncodeToString(make([]byte, 64))
		})},
		{"cosignatures of another checkpoint", audit.KindCheckpoint, edit("checkpoint.cosigned", 2, func(e *transparency.Cosigned) { e.Size-- })},
		{"a cosignature that was invented", audit.KindCosignature, edit("checkpoint.cosigned", 2, func(e *transparency.Cosigned) {
			e.Cosignatures = []string{audittest.Cosign("another tree", time.Unix(1, 0))}
		})},
		{"leaves whose checkpoint was removed", audit.KindNoCheckpoint, func(l *audittest.Log) *audittest.Logged {
			l.Remove(l.Find("checkpoint.cosigned", 2))
			l.Remove(l.Find("checkpoint.signed", 2))
			return l.Find("receipt.sealed", 3)
		}},
		{"no checkpoint at all", audit.KindNoCheckpoint, func(l *audittest.Log) *audittest.Logged {
			l.RemoveStream(transparency.Stream)
			return l.Find("receipt.sealed", 1)
		}},
		{"a witness that contradicts", audit.KindConflict, func(l *audittest.Log) *audittest.Logged {
			signed := l.Find("checkpoint.signed", 1)
			e := signed.Event.(transparency.Signed)
			conflict := l.CopyOf(l.Find("checkpoint.cosigned", 1))
			conflict.Name, conflict.Event = "checkpoint.conflicted", transparency.Conflicted{Size: e.Size, Root: e.Root, Witness: "witness.example/2", Conflict: transparency.Ahead, Held: e.Size + 7}
			l.InsertAfter(signed, conflict)
			return conflict
		}},
		{"cosignatures that were removed", audit.KindNotCosigned, func(l *audittest.Log) *audittest.Logged {
			l.Remove(l.Find("checkpoint.cosigned", 2))
			l.Now = l.Now.Add(time.Hour)
			l.Add("runids", "", run.Reserved{Process: audittest.Process})
			return l.Find("checkpoint.signed", 2)
		}},
		{"cosignatures of another witness in their place", audit.KindNotCosigned, func(l *audittest.Log) *audittest.Logged {
			for n := range 2 {
				e := l.Find("checkpoint.cosigned", n+1)
				cosigned := e.Event.(transparency.Cosigned)
				cosigned.Cosignatures = []string{"— evil.example/1 " + base64.StdEncoding.EncodeToString(make([]byte, 4+8+ed25519.SignatureSize))}
				e.Event = cosigned
			}
			return l.Find("checkpoint.signed", 1)
		}},
		{"a witness twice", audit.KindCheckpoint, edit("checkpoint.cosigned", 2, func(e *transparency.Cosigned) { e.Cosignatures = append(e.Cosignatures, e.Cosignatures...) })},
		{"an agent that was changed after a migration", audit.KindMigration, func(l *audittest.Log) *audittest.Logged {
			_, named := migrated(t, l)
			l.Find("run.failed", 1).Metadata.Agent = "another"
			return named
		}},
		{"an event that was added to a copy", audit.KindMigration, func(l *audittest.Log) *audittest.Logged {
			_, named := migrated(t, l)
			l.InsertAfter(l.Find("key.activated", 1), &audittest.Logged{ID: l.NewID(), Stream: "runids", Event: run.Reserved{Process: audittest.Process}, Name: "runids.reserved"})
			return named
		}},
		{"an event that was removed from a copy", audit.KindMigration, func(l *audittest.Log) *audittest.Logged {
			_, named := migrated(t, l)
			l.Remove(l.Find("token.minted", 1))
			return named
		}},
		{"a copy that nobody finished", audit.KindMigration, func(l *audittest.Log) *audittest.Logged {
			copying, named := migrated(t, l)
			l.Remove(named)
			return copying
		}},
		{"a name that nobody began", audit.KindMigration, func(l *audittest.Log) *audittest.Logged {
			copying, named := migrated(t, l)
			l.Remove(copying)
			return named
		}},
		{"a name with more than a name", audit.KindSchema, func(l *audittest.Log) *audittest.Logged {
			_, named := migrated(t, l)
			named.Data = append([]byte(`{"x":1,`), named.Data[1:]...)
			return named
		}},
		{"an engine that answered and was not asked", audit.KindReceipt, edit("run.evaluated", 2, func(e *run.Evaluated) { e.Asked[1].Name = "another" })},
		{"an answer that was changed", audit.KindReceipt, edit("run.evaluated", 1, func(e *run.Evaluated) { e.Answer = event.Inline("3") })},
		{"an account that was changed", audit.KindReceipt, edit("run.evaluated", 1, func(e *run.Evaluated) { e.Account = audittest.Bob })},
		{"a verdict that was changed", audit.KindReceipt, edit("run.evaluated", 1, func(e *run.Evaluated) { check := *e.Check; check.Verdict = run.VerdictRefuted; e.Check = &check })},
		{"a check without a verdict", audit.KindReceipt, edit("run.evaluated", 1, func(e *run.Evaluated) { check := *e.Check; check.Verdict = run.VerdictInconclusive; e.Check = &check })},
		{"a receipt's id", audit.KindReceiptID, edit("receipt.sealed", 1, func(e *run.Sealed) { e.ReceiptID = audittest.Sum(nil) })},
		{"the id of a long receipt", audit.KindReceiptID, edit("receipt.sealed", 2, func(e *run.Sealed) { e.ReceiptID = audittest.Sum(nil) })},
		{"canonical bytes and id made anew", audit.KindSignature, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("receipt.sealed", 1)
			sealed := e.Event.(run.Sealed)
			signature, kid := sealed.Signature, sealed.KID
			evaluated := l.Find("run.evaluated", 1)
			forged := evaluated.Event.(run.Evaluated)
			forged.Answer = event.Inline("3")
			evaluated.Event = forged
			sealed = l.Seal(forged, "1+1 <&> \U0001D54A", "3", "hé\u007f\n")
			sealed.Signature, sealed.KID = signature, kid
			e.Event = sealed
			return e
		}},
		{"a signature in two lines", audit.KindSignature, edit("receipt.sealed", 1, func(e *run.Sealed) { e.Signature += "\n" })},
		{"a key that seals no more", audit.KindReceiptKey, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("receipt.sealed", 4)
			first := l.Find("receipt.sealed", 1).Event.(run.Sealed)
			sealed := e.Event.(run.Sealed)
			sealed.KID = first.KID
			e.Event = sealed
			evaluated := l.Find("run.evaluated", 4)
			late := evaluated.Event.(run.Evaluated)
			late.EvaluatedAt = "2026-12-31T00:00:00.000Z"
			evaluated.Event = late
			return e
		}},
		{"a signature that was removed", audit.KindUnsigned, edit("receipt.sealed", 1, func(e *run.Sealed) { e.Signature, e.KID, e.UnsignedReason = "", "", "no key" })},
		{"a receipt that was removed", audit.KindNoReceipt, removed("receipt.sealed", 1, at("run.evaluated", 1))},
		{"a receipt of no run", audit.KindNoRunSealed, removed("run.evaluated", 1, at("receipt.sealed", 1))},

		{"a start before its claim", audit.KindTime, edit("job.claimed", 1, func(e *job.WasClaimed) { e.StartedAt = "2026-08-01T06:00:00.000Z" })},
		{"an end before its append", audit.KindTime, edit("job.succeeded", 1, func(e *job.HasSucceeded) { e.FinishedAt = "2026-08-01T06:00:00.000Z" })},
		{"a command dated back", audit.KindTimeOrder, editMetadata("account.registered", 2, func(m *event.Metadata) { m.At = m.At.Add(-6 * time.Hour) })},
		{"a stamp dated back", audit.KindTimeOrder, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("account.registered", 2)
			e.Created = e.Created.Add(-10 * time.Hour)
			return e
		}},
		{"a correlation that is no id", audit.KindCause, editMetadata("account.registered", 2, func(m *event.Metadata) { m.Correlation = "8538b282-7144-45c1Qab79-000000000000" })},
		{"a line in other words", audit.KindIncomplete, edit("invoice.issued", 1, func(e *billing.Issued) {
			e.Lines = slices.Clone(e.Lines)
			e.Lines[0].Description = "pro, Qonth"
		})},

		{"a log that is begun twice", audit.KindIdentity, func(l *audittest.Log) *audittest.Logged {
			again := l.CopyOf(l.Find("$reckon-log-created", 1))
			l.Events = append(l.Events, again)
			return again
		}},
		{"a log without its name", audit.KindIdentity, removed("reckon.log_named", 1, func(*audittest.Log) *audittest.Logged { return nil })},
		{"an actor with a token that was never minted", audit.KindActor, editMetadata("run.evaluated", 1, func(m *event.Metadata) { m.Actor = "token:" + audittest.Sum(nil) })},
		{"an actor with another account's token", audit.KindActor, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("run.evaluated", 1)
			e.Metadata.Actor, e.Metadata.Account = "token:"+l.Find("token.minted", 1).Event.(token.Minted).TokenID, audittest.Bob
			return e
		}},
		{"an actor whose token was revoked two hours before", audit.KindActor, func(l *audittest.Log) *audittest.Logged {
			id := l.Find("token.minted", 1).Event.(token.Minted).TokenID
			l.Now = l.Now.Add(2 * time.Hour)
			e := l.Add("session-"+audittest.Alice+"-late", audittest.Alice, session.Opened{Account: audittest.Alice, SessionID: "late", Owner: audittest.Process, Epoch: 1})
			e.Metadata.Actor = "token:" + id
			return e
		}},
		{"an app that was disconnected two hours before", audit.KindActor, func(l *audittest.Log) *audittest.Logged {
			client := l.Find("grant.approved", 1).Event.(grant.Approved).ClientID
			l.Now = l.Now.Add(2 * time.Hour)
			e := l.Add("session-"+audittest.Alice+"-late", audittest.Alice, session.Opened{Account: audittest.Alice, SessionID: "late", Owner: audittest.Process, Epoch: 1})
			e.Metadata.Actor = "oauth:" + client
			return e
		}},
		{"an app that was never approved", audit.KindActor, editMetadata("run.evaluated", 1, func(m *event.Metadata) { m.Actor = "oauth:" + audittest.UUID(0x999) })},
		{"a token that was removed", audit.KindActor, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("run.evaluated", 1)
			e.Metadata.Requester = "token:" + l.Find("token.minted", 1).Event.(token.Minted).TokenID
			l.RemoveStream(l.Find("token.minted", 1).Stream)
			return e
		}},

		{"a slot under another id", audit.KindSlot, edit("slots.spent", 1, func(e *slots.Spent) { e.SlotID = stranger })},
		{"a slot of another day", audit.KindSlot, edit("slots.spent", 1, func(e *slots.Spent) { e.Day = "2026-08-09" })},
		{"a slot spent twice", audit.KindSlot, twice("slots.spent", 1)},
		{"a submission dated back", audit.KindSlot, edit("slots.spent", 1, func(e *slots.Spent) { e.Submission.SubmittedAt = "2026-08-01T11:00:00.000Z" })},
		{"two slots of a day for a job", audit.KindSlotBalance, func(l *audittest.Log) *audittest.Logged {
			e := l.Find("slots.spent", 1)
			again := l.CopyOf(e)
			spent := e.Event.(slots.Spent)
			spent.SlotID = again.ID
			again.Event = spent
			l.InsertAfter(e, again)
			return again
		}},
		{"a refund of another's slot", audit.KindRefund, edit("slots.refunded", 1, func(e *slots.Refunded) { e.JobID = audittest.UUID(0x101) })},
		{"a refund of no slot", audit.KindRefund, edit("slots.refunded", 1, func(e *slots.Refunded) { e.SlotID = stranger })},
		{"a refund twice", audit.KindRefund, twice("slots.refunded", 1)},
		{"a refund of a job that ran", audit.KindRefund, func(l *audittest.Log) *audittest.Logged {
			spent := l.Find("slots.spent", 1)
			s := spent.Event.(slots.Spent)
			return l.Add(spent.Stream, audittest.Alice, slots.Refunded{SlotID: s.SlotID, JobID: s.Submission.JobID, Reason: slots.CancelledEarly})
		}},
		{"a duplicate that is none", audit.KindRefund, edit("slots.refunded", 1, func(e *slots.Refunded) { e.Reason = slots.Duplicate })},
		{"an upload that was not refused", audit.KindRefund, edit("slots.refunded", 1, func(e *slots.Refunded) { e.Reason = slots.UploadUsed })},
		{"a refund that did not come", audit.KindNoRefund, removed("slots.refunded", 1, at("job.cancelled", 1))},
		{"a slot without a job", audit.KindUnsettled, removed("slots.refunded", 2, at("slots.spent", 4))},
		{"a job without a slot", audit.KindNoSlot, removed("slots.spent", 1, at("job.queued", 1))},
		{"a job that is another than was paid for", audit.KindNoSlot, edit("job.queued", 1, func(e *job.WasQueued) { e.Payload = event.Inline("7+7") })},

		{"a run that is not its job's", audit.KindOutcome, edit("run.evaluated", 3, func(e *run.Evaluated) { e.ExecutionMS = 99 })},
		{"a run of a job that was lost", audit.KindOutcome, func(l *audittest.Log) *audittest.Logged {
			s := l.Subject(6, "x")
			s.JobID = audittest.UUID(0x104)
			return l.Add("run-6", audittest.Alice, run.Failed{Subject: s, Reason: run.FailureCrashed})
		}},
		{"an answer beside what was published", audit.KindIllegal, edit("job.succeeded", 1, func(e *job.HasSucceeded) { e.Output = event.Inline("5") })},
		{"a result beside the certificate", audit.KindIllegal, edit("job.succeeded", 2, func(e *job.HasSucceeded) { e.Result = event.Inline("{}") })},
		{"a failure whose run is an answer", audit.KindOutcome, endedAs("job.succeeded", 1, func(o job.Outcome) event.Event { return job.HasFailed{Outcome: o} })},
		{"a failure with a certificate", audit.KindOutcome, endedAs("job.succeeded", 2, func(o job.Outcome) event.Event { return job.HasTimedOut{Outcome: o} })},
		{"an outcome under another id", audit.KindOutcome, edit("job.succeeded", 1, func(e *job.HasSucceeded) { e.PublishTo = "run-6" })},
		{"an outcome that was not published", audit.KindNoOutcome, removed("certificate.issued", 1, at("job.succeeded", 2))},

		{"an upload that is not its blob", audit.KindProof, edit("upload.stored", 1, func(e *upload.Stored) { e.Export.Bytes++ })},
		{"a job with an upload that it never claimed", audit.KindProof, removed("upload.claimed", 1, at("job.queued", 6))},
		{"a job about another export", audit.KindProof, edit("job.queued", 6, func(e *job.WasQueued) {
			e.Payload = event.Inline(strings.Replace(e.Payload.Inline, `"bytes":`, `"bytes":1`, 1))
		})},
		{"a job whose export is not stored", audit.KindBlobMissing, edit("job.queued", 6, func(e *job.WasQueued) {
			e.Payload = event.Inline(strings.Replace(e.Payload.Inline, `"sha256":"`, `"sha256":"0`, 1))
		})},
		{"a certificate of no job", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.JobID = stranger })},
		{"a certificate about another export", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.Export.SHA256 = audittest.Sum(nil) })},
		{"a statement that was changed", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) {
			e.Declarations = slices.Clone(e.Declarations)
			e.Declarations[0].Statement = audittest.Text("False")
		})},
		{"a definition that was changed", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) {
			own := *e.Own
			own.Definitions = []certificate.OwnDefinition{{Text: "def d := 2"}}
			e.Own = &own
		})},
		{"an axiom that was hidden", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.AxiomsUsed = nil })},
		{"a declaration that nobody asked for", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) {
			e.Declarations = slices.Clone(e.Declarations)
			e.Declarations[0].Name = "other"
		})},
		{"another checker", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.Checker.Name = "other" })},
		{"another duration", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.ElapsedMS++ })},
		{"a kernel that did not accept", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.Kernels = kernels("reckon refused", "plain accepted") })},
		{"a kernel that refuses a verified proof", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.Kernels = kernels("reckon accepted", "plain refused") })},
		{"a kernel that was not asked", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.Kernels = kernels("reckon accepted", "other accepted") })},
		{"a kernel that is listed twice", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) {
			e.Kernels = kernels("reckon accepted", "plain accepted", "plain accepted")
		})},
		{"a first kernel of another name", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.Kernels = kernels("plain accepted", "reckon accepted") })},
		{"an answer that no kernel gives", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.Kernels = kernels("reckon accepted", "plain perhaps") })},
		{"an answer without its reason", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) {
			e.Kernels = slices.Clone(e.Kernels)
			e.Kernels[1].Reason = nil
		})},
		{"kernels that disagree, and a verdict", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) {
			e.Verdict, e.Reason, e.Kernels = certificate.Unsupported, "why", kernels("reckon accepted", "plain refused")
		})},
		{"a refusal in a verified proof", audit.KindCertificate, edit("certificate.issued", 1, func(e *certificate.Issued) { e.Refusal = &certificate.Refusal{} })},

		{"an invoice out of turn", audit.KindInvoice, edit("invoice.issued", 2, func(e *billing.Issued) { e.Number = e.Number[:len(e.Number)-1] + "9" })},
		{"an invoice that was removed", audit.KindInvoice, removed("invoice.issued", 2, at("invoice.issued", 2))},
		{"an invoice that is not its lines", audit.KindInvoice, edit("invoice.issued", 2, func(e *billing.Issued) { e.AmountMinor++ })},
		{"a payment of another amount", audit.KindInvoice, edit("invoice.paid", 1, func(e *billing.Paid) { e.AmountMinor-- })},
		{"a payment twice", audit.KindInvoice, twice("invoice.paid", 1)},
		{"a payment of two invoices", audit.KindInvoice, edit("invoice.paid", 2, func(e *billing.Paid) { e.PaymentID = "bank 1" })},
		{"a void invoice that was paid", audit.KindInvoice, edit("invoice.voided", 2, func(e *billing.Voided) { e.InvoiceID = billing.InvoiceID(audittest.Bob, 1) })},
		{"an invoice due later", audit.KindIncomplete, edit("invoice.issued", 1, func(e *billing.Issued) { e.DueAt = "2027-01-01T00:00:00.000Z" })},
		{"a period without an invoice", audit.KindIncomplete, removed("invoice.issued", 3, at("invoice.voided", 1))},
		{"a used part that is less", audit.KindIncomplete, edit("invoice.issued", 4, func(e *billing.Issued) {
			e.Lines = slices.Clone(e.Lines)
			e.Lines[0].AmountMinor--
			e.AmountMinor--
		})},
		{"a period that is longer", audit.KindSubscription, edit("subscription.renewed", 1, func(e *billing.Renewed) { e.RenewsAt = "2026-12-01T12:01:00.000Z" })},
		{"a credit that is larger", audit.KindSubscription, edit("subscription.ended", 2, func(e *billing.Ended) { e.CreditMinor++ })},
		{"an end that was not due", audit.KindSubscription, edit("subscription.ended", 4, func(e *billing.Ended) { e.Reason = billing.EndCancelled })},
		{"a settlement that was left out", audit.KindIncomplete, removed("subscription.settled", 1, at("invoice.paid", 4))},
		{"a settlement of more than was unused", audit.KindIncomplete, edit("subscription.settled", 1, func(e *billing.Settled) { e.CreditMinor++ })},
		{"a settlement that restores nothing", audit.KindIncomplete, edit("subscription.settled", 1, func(e *billing.Settled) { e.RenewsAt = "" })},
		{"an unpaid end that nothing brings back", audit.KindSubscription, edit("subscription.ended", 4, func(e *billing.Ended) { e.Restorable = false })},
		{"a subscription dated back", audit.KindSubscription, edit("subscription.started", 1, func(e *billing.Started) { e.StartedAt = "2026-08-01T12:01:00.000Z" })},
		{"a cancellation twice", audit.KindSubscription, twice("subscription.cancelled", 1)},
		{"a price that nobody was quoted", audit.KindQuote, edit("subscription.started", 1, func(e *billing.Started) { e.AmountMinor = 1 })},
		{"a plan that does not follow", audit.KindPlan, edit("account.plan_changed", 1, func(e *account.PlanChanged) { e.Plan = "team" })},
		{"a plan that was kept", audit.KindPlan, removed("account.plan_changed", 6, func(l *audittest.Log) *audittest.Logged { return nil })},
	}
	reached := map[audit.Kind]bool{}
	for _, c := range cases {
		t.Run(string(c.kind)+": "+c.name, func(t *testing.T) {
			l := audittest.True()
			e := c.when(l)
			findings := audittest.Audit(t, l, nil)
			i := slices.IndexFunc(findings, func(f audit.Finding) bool {
				return f.Kind == c.kind && (e == nil || f.Stream == e.Stream && f.Position == uint64(l.Index(e)+1))
			})
			if i < 0 {
				t.Errorf("not found; found was %v", findings)
				return
			}
			if f := findings[i]; f.Expected == "" || f.Found == "" || f.Remedy == "" || f.Check == "" {
				t.Errorf("says too little: %+v", f)
			}
			reached[c.kind] = true
		})
	}
	// These are reached by the tests below, and those of auditor/ by its own.
	elsewhere := []audit.Kind{audit.KindPosition, audit.KindRevision, audit.KindKeyOutside, audit.KindKeySince, audit.KindNotCompared, audit.KindKeyAbsent, audit.KindNotChecked, audit.KindUnderWay, audit.KindCheckpointKept, audit.KindCheckpointOther,
		audit.KindUnreadable, audit.KindExport, audit.KindAnchor, audit.KindNoAnchor, audit.KindRow, audit.KindRowMissing, audit.KindRowExtra, audit.KindTableState, audit.KindTableBehind, audit.KindContradicted, audit.KindNotReproduced,
		audit.KindVerdict, audit.KindCheckpointChain, audit.KindVerdictNotReproduced, audit.KindNotReverified, audit.KindContent, audit.KindTableOfCopy}
	for kind := range audit.Kinds() {
		if !reached[kind] && !slices.Contains(elsewhere, kind) {
			t.Errorf("no case reaches %s: a check that cannot fail proves nothing", kind)
		}
	}
}

func has(findings []audit.Finding, kind audit.Kind, position uint64) bool {
	return slices.ContainsFunc(findings, func(f audit.Finding) bool { return f.Kind == kind && f.Position == position })
}

// TestPositionsAndRevisions: given the true log, when events are exchanged, left out or given other numbers, then the first that is out of order is named.
func TestPositionsAndRevisions(t *testing.T) {
	l := audittest.True()
	all := l.Stored(t)
	moved := slices.Clone(all)
	moved[10], moved[11] = moved[11], moved[10]
	if findings := audittest.AuditStored(t, l, moved, nil); !has(findings, audit.KindPosition, moved[11].Position.Commit) {
		t.Errorf("two that were exchanged: %v", findings)
	}
	second := slices.IndexFunc(all, func(s audit.Stored) bool { return s.Name == "job.claimed" })
	without := slices.Delete(slices.Clone(all), second, second+1)
	if findings := audittest.AuditStored(t, l, without, nil); !slices.ContainsFunc(findings, func(f audit.Finding) bool {
		return f.Kind == audit.KindRevision && f.Stream == all[second].Stream && f.Revision == int64(all[second].Revision)+1
	}) {
		t.Errorf("one that is missing: %v", findings)
	}
}

// TestKeysThatWereHandedOut: given keys that are kept elsewhere, when the log has others, then it is found, even where everything in the log agrees.
func TestKeysThatWereHandedOut(t *testing.T) {
	l := audittest.True()
	outside := publishedKeys(t, l)
	if findings := audittest.Audit(t, l, outside); len(findings) > 0 {
		t.Errorf("the keys of the log: %v", findings)
	}
	forged := audittest.New("the operator's other key")
	forged.AddName()
	forged.PublishKey(forged.Signer)
	forged.Add("keys", "", keys.Activated{KID: forged.KID, At: forged.At()})
	forged.Add("account-"+audittest.Alice, audittest.Alice, account.Registered{Account: audittest.Alice, Plan: "free"})
	forged.Add("runids", "", run.Reserved{Process: audittest.Process})
	evaluated := run.Evaluated{Subject: forged.Subject(1, "1"), Answer: event.Inline("1"), InputForm: event.Inline("1"), Status: run.Success, EvaluatedAt: forged.At()}
	forged.Add("run-1", audittest.Alice, evaluated, forged.Seal(evaluated, "1", "1", ""))
	if findings := audittest.Audit(t, forged, nil); len(findings) > 0 {
		t.Errorf("without keys from outside: %v", findings)
	}
	findings := audittest.Audit(t, forged, outside)
	if !has(findings, audit.KindKeyOutside, 2) || !has(findings, audit.KindKeyAbsent, 0) {
		t.Errorf("%v", findings)
	}
}

func publishedKeys(t *testing.T, l *audittest.Log) map[string]ed25519.PublicKey {
	t.Helper()
	byKID := map[string]ed25519.PublicKey{}
	for _, e := range l.Events {
		if published, ok := e.Event.(keys.Published); ok {
			public, err := keys.DecodeX(published.X)
			if err != nil {
				t.Fatal(err)
			}
			byKID[published.KID] = public
		}
	}
	return byKID
}

// A key that follows those that were handed out may be a rotation's: it is a warning of its own, and no forgery.
func TestKeysAreRotatedAfterTheyWereHandedOut(t *testing.T) {
	l := audittest.True()
	outside := publishedKeys(t, l)
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Add("keys", "", keys.Published{KID: keys.Thumbprint(public), X: keys.EncodeX(public), At: l.At()})
	findings := audittest.Audit(t, l, outside)
	if len(findings) != 1 || !has(findings, audit.KindKeySince, uint64(len(l.Events))) || findings[0].Severity != audit.Warning {
		t.Errorf("%v", findings)
	}
}

// TestWhatIsUnderWayIsNoFinding: given a log that ends a moment after a slot was spent, then that its job is missing is a note; later it is a warning.
func TestWhatIsUnderWayIsNoFinding(t *testing.T) {
	l := audittest.True()
	e := l.Spend(job.Submission{JobID: audittest.UUID(0x777), Kind: "qsim", Payload: event.Inline("{}")})
	last := uint64(len(l.Events))
	findings := audittest.Audit(t, l, nil)
	if len(findings) != 1 || !has(findings, audit.KindUnderWay, last) || findings[0].Severity != audit.Note {
		t.Errorf("%s: %v", e.SlotID, findings)
	}
	l.Now = l.Now.Add(time.Hour)
	l.Add("runids", "", run.Reserved{Process: audittest.Process})
	if findings := audittest.Audit(t, l, nil); len(findings) != 1 || !has(findings, audit.KindUnsettled, last) || findings[0].Severity != audit.Warning {
		t.Errorf("an hour later: %v", findings)
	}
}

// TestWithoutBlobsNothingIsClaimed: given no blobs, then what lies in them is counted as not checked, and nothing is found.
func TestWithoutBlobsNothingIsClaimed(t *testing.T) {
	l := audittest.True()
	l.Blobs = nil
	if findings := audittest.Audit(t, l, nil); len(findings) != 1 || findings[0].Kind != audit.KindNotChecked {
		t.Errorf("%v", findings)
	}
}

// kernels are answers, each "NAME ANSWER", with a reason where one belongs.
func kernels(answers ...string) (out []certificate.Kernel) {
	for _, text := range answers {
		name, answer, _ := strings.Cut(text, " ")
		k := certificate.Kernel{Name: name, Answer: certificate.Answer(answer)}
		if k.Answer != certificate.Accepted {
			k.Reason = audittest.Text("why")
		}
		out = append(out, k)
	}
	return out
}
