package audit

import (
	"fmt"
	"strings"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/job"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/domain/runner"
	"reckon/domain/session"
	"reckon/domain/slots"
	"reckon/domain/token"
	"reckon/domain/transparency"
	"reckon/domain/upload"
)

// orderCheck proves that the log is one order: it keeps 32 bytes of each event, and the next revision of each stream.
type orderCheck struct {
	p            *pass
	last         event.Position
	next         map[string]event.Revision
	correlations map[eventID]eventID // of every event, by its id
}

func newOrderCheck(p *pass) *orderCheck {
	return &orderCheck{p: p, next: map[string]event.Revision{}, correlations: map[eventID]eventID{}}
}

func (c *orderCheck) take(it *Item) {
	if !c.last.Less(it.Position) {
		c.p.found(checkOrder, KindPosition, it.Recorded, fmt.Sprintf("a position after %d", c.last.Commit), fmt.Sprint(it.Position.Commit))
	}
	c.last = it.Position
	c.takeRevision(it)
	correlation, _ := parseID(it.Metadata.Correlation)
	if _, twice := c.correlations[it.id]; twice && it.id != (eventID{}) {
		c.p.found(checkOrder, KindDuplicateID, it.Recorded, "an id of its own", "the id of an earlier event: "+it.ID)
	} else {
		c.correlations[it.id] = correlation
	}
	if it.Event == nil {
		return
	}
	c.takeCause(it, correlation)
	c.takeAddress(it)
}

// takeRevision: a stream of beats keeps its newest event only, and the store's own streams may be cut.
func (c *orderCheck) takeRevision(it *Item) {
	next, known := c.next[it.Stream]
	if !known {
		c.p.counts.Streams++
	}
	mayBeCut := strings.HasPrefix(it.Stream, "$") || strings.HasPrefix(it.Stream, "runner-")
	if it.Revision != next && !(mayBeCut && it.Revision > next) {
		c.p.found(checkOrder, KindRevision, it.Recorded, fmt.Sprintf("revision %d of stream %s", next, it.Stream), fmt.Sprint(it.Revision))
	}
	c.next[it.Stream] = it.Revision + 1
}

func (c *orderCheck) takeCause(it *Item, correlation eventID) {
	m := it.Metadata
	if _, isUUID := parseID(m.Correlation); !isUUID {
		c.p.found(checkOrder, KindCause, it.Recorded, "the id of the command that it all began with ($correlationId), a UUID", shown(m.Correlation))
	}
	if m.Causation == "" {
		if strings.HasPrefix(m.Actor, "reaction:") && m.Actor != "reaction:renew_subscriptions" {
			c.p.found(checkOrder, KindCause, it.Recorded, "the event that the reaction follows ($causationId)", "none")
		}
		return
	}
	id, isUUID := parseID(m.Causation)
	of, known := c.correlations[id]
	switch {
	case !isUUID || !known || id == it.id:
		c.p.found(checkOrder, KindCause, it.Recorded, "the id of an earlier event as $causationId", m.Causation)
	case of != correlation:
		c.p.found(checkOrder, KindCause, it.Recorded, "the $correlationId of the event that caused it", m.Correlation)
	}
}

func (c *orderCheck) takeAddress(it *Item) {
	stream, accountID := addressOf(it.Event)
	if _, isRefund := it.Event.(slots.Refunded); isRefund { // its day is the slot's: slots checks it
		stream = it.Stream
		if !strings.HasPrefix(stream, "slots-") {
			c.p.found(checkOrder, KindStream, it.Recorded, "a stream slots-…", shown(it.Stream))
		}
	}
	if it.Stream != stream {
		c.p.found(checkOrder, KindStream, it.Recorded, "stream "+stream, shown(it.Stream))
	}
	if m := it.Metadata.Account; m != "" && accountID != "" && m != accountID {
		c.p.found(checkOrder, KindAccount, it.Recorded, "account "+accountID+" in the metadata", shown(m))
	}
}

func (c *orderCheck) end() {}

// addressOf is the stream in which an event must stand, and the account that it names, if it does.
func addressOf(e event.Event) (stream, accountID string) {
	switch e := e.(type) {
	case account.Registered:
		return "account-" + e.Account, e.Account
	case account.PlanChanged:
		return "account-" + e.Account, e.Account
	case account.Closed:
		return "account-" + e.Account, e.Account
	case token.Minted:
		return "token-" + e.TokenID, e.Account
	case token.Revoked:
		return "token-" + e.TokenID, e.Account
	case grant.Approved:
		return "grant-" + e.GrantID, e.Account
	case grant.Revoked:
		return "grant-" + e.GrantID, e.Account
	case run.Reserved:
		return "runids", ""
	case run.Evaluated:
		return fmt.Sprintf("run-%d", e.RunID), e.Account
	case run.Sealed:
		return fmt.Sprintf("run-%d", e.RunID), ""
	case run.TimedOut:
		return fmt.Sprintf("run-%d", e.RunID), e.Account
	case run.Failed:
		return fmt.Sprintf("run-%d", e.RunID), e.Account
	case run.Verified:
		return fmt.Sprintf("run-%d", e.RunID), e.Account
	case session.Opened:
		return "session-" + e.Account + "-" + e.SessionID, e.Account
	case session.Cleared:
		return "session-" + e.Account + "-" + e.SessionID, e.Account
	case session.Expired:
		return "session-" + e.Account + "-" + e.SessionID, e.Account
	case slots.Spent:
		return "slots-" + e.Submission.Account + "-" + e.Day, e.Submission.Account
	case keys.Published, keys.Activated, keys.Retired:
		return "keys", ""
	case transparency.Signed, transparency.Cosigned, transparency.Conflicted:
		return "checkpoints", ""
	case runner.Beat:
		return "runner-" + e.Runner, ""
	}
	if stream, accountID = jobAddress(e); stream != "" {
		return stream, accountID
	}
	return billingAddress(e)
}

func jobAddress(e event.Event) (stream, accountID string) {
	switch e := e.(type) {
	case job.WasQueued:
		return "job-" + e.JobID, e.Account
	case job.WasClaimed:
		return "job-" + e.JobID, ""
	case job.WasReleased:
		return "job-" + e.JobID, ""
	case job.WasExcused:
		return "job-" + e.JobID, ""
	case job.HasSucceeded:
		return "job-" + e.JobID, ""
	case job.HasFailed:
		return "job-" + e.JobID, ""
	case job.HasTimedOut:
		return "job-" + e.JobID, ""
	case job.WasCancelled:
		return "job-" + e.JobID, ""
	case job.WasLost:
		return "job-" + e.JobID, ""
	case upload.Stored:
		return "upload-" + e.UploadID, e.Account
	case upload.Claimed:
		return "upload-" + e.UploadID, ""
	case upload.Refused:
		return "upload-" + e.UploadID, ""
	case upload.Released:
		return "upload-" + e.UploadID, ""
	case certificate.Issued:
		return "certificate-" + e.CertificateID, e.Account
	}
	return "", ""
}

func billingAddress(e event.Event) (stream, accountID string) {
	of := func(accountID string) (string, string) { return "billing-" + accountID, accountID }
	switch e := e.(type) {
	case billing.Started:
		return of(e.Account)
	case billing.Renewed:
		return of(e.Account)
	case billing.Cancelled:
		return of(e.Account)
	case billing.Resumed:
		return of(e.Account)
	case billing.Ended:
		return of(e.Account)
	case billing.Settled:
		return of(e.Account)
	case billing.Issued:
		return of(e.Account)
	case billing.Paid:
		return of(e.Account)
	case billing.Voided:
		return of(e.Account)
	}
	return "", ""
}
