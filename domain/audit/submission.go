package audit

import (
	"crypto/sha1" //nolint:gosec // UUIDv5 is made with it (RFC 9562, section 5.5)
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
)

// Publications are what the ended jobs of each kind publish (docs/jobs.md). A kind that is not here is not judged.
func Publications() map[job.Kind]job.Publication {
	return map[job.Kind]job.Publication{"evaluate": job.PublishesRun, "qsim": job.PublishesNothing, "proof": job.PublishesCertificate}
}

// contradiction is what two statements say of one thing; the zero one is none.
type contradiction struct{ expected, found string }

// ofItself says where a submission contradicts itself: the id of its job follows from account and key, and its kind from what it publishes.
func ofItself(s job.Submission) contradiction {
	if id := jobIDOf(s.Account, s.IdempotencyKey); s.IdempotencyKey != "" && s.JobID != id {
		return contradiction{"job " + id + ", which follows from account and idempotency_key", s.JobID}
	}
	publishes, known := Publications()[s.Kind]
	if known && (s.RunID != 0) != (publishes == job.PublishesRun) || known && (s.CertificateID != "") != (publishes == job.PublishesCertificate) {
		return contradiction{"the id of what a job of kind " + string(s.Kind) + " publishes, and no other", fmt.Sprintf("run_id %d, certificate_id %s", s.RunID, shown(s.CertificateID))}
	}
	return contradiction{}
}

// jobNamespace is the namespace of the ids of jobs that were submitted with a key.
var jobNamespace = [16]byte{0x0d, 0x5a, 0xa1, 0xbe, 0x2a, 0x5a, 0x4e, 0x39, 0x9d, 0x1f, 0x6f, 0x0a, 0x60, 0xc5, 0xb9, 0xd3}

// jobIDOf is the id of an account's job with a key: a UUIDv5 of both.
func jobIDOf(account, key string) string {
	sum := sha1.Sum(append(jobNamespace[:], account+"\x00"+key...)) //nolint:gosec // as above
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// ofRun says where a run contradicts the submission of its job, whose payload has a digest.
func ofRun(s job.Submission, payload string, e event.Event, of run.Subject) contradiction {
	type statement struct{ name, submitted, ran string }
	said := []statement{
		{"account", s.Account, of.Account}, {"session_id", s.SessionID, of.SessionID}, {"source", string(event.SourceJob), string(of.Source)},
		{"SHA-256 of the expression", payload, textDigest(of.Expression)},
	}
	if timedOut, is := e.(run.TimedOut); is {
		said = append(said, statement{"budget_ms", fmt.Sprint(s.TimeoutMS), fmt.Sprint(timedOut.BudgetMS)})
	}
	for _, field := range said {
		if field.submitted != field.ran {
			return contradiction{field.name + " of the submission of job " + s.JobID + ", " + shown(field.submitted), shown(field.ran)}
		}
	}
	return contradiction{}
}

// textDigest is the SHA-256 of a text, wherever it lies.
func textDigest(t event.Text) string {
	if t.Blob != nil {
		return t.Blob.SHA256
	}
	sum := sha256.Sum256([]byte(t.Inline))
	return hex.EncodeToString(sum[:])
}
