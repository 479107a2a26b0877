package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
)

// outcomeCheck proves that what a job publishes is what its terminal event carries, that nothing else is published of it, and that
// the job ended as its run or certificate says. It keeps a hash of what is to be published until it is.
type outcomeCheck struct {
	p    *pass
	jobs *legalCheck
	due  map[string]*outcome // by stream
	asks map[string]string   // digests of the payloads of jobs that are to write a run, until they have
}

type outcome struct {
	jobID  string
	hashes []string // of name, version and data of each event
	next   int
	place  place
	status job.Status
}

func newOutcomeCheck(p *pass, jobs *legalCheck) *outcomeCheck {
	return &outcomeCheck{p: p, jobs: jobs, due: map[string]*outcome{}, asks: map[string]string{}}
}

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isPublished tells whether an event may be a job's to publish.
func isPublished(e event.Event) bool {
	switch e.(type) {
	case run.Sealed, certificate.Issued:
		return true
	}
	subject, _ := run.SubjectOf(e)
	return subject.JobID != ""
}

func (c *outcomeCheck) take(it *Item) {
	switch e := it.Event.(type) {
	case run.Sealed:
		c.published(it, "", "run.evaluated")
	case certificate.Issued:
		c.published(it, e.JobID, "")
	case job.WasQueued:
		if e.RunID != 0 {
			c.asks[e.JobID] = textDigest(e.Payload)
		}
	default:
		if end, ends := job.EndOf(e); ends {
			c.ended(it, end.Status, end.Outcome)
		} else if subject, ends := run.SubjectOf(e); ends {
			c.published(it, subject.JobID, "")
			c.answers(it, subject)
		}
	}
}

func (c *outcomeCheck) ended(it *Item, status job.Status, o job.Outcome) {
	state := c.jobs.job(o.JobID)
	if state == nil {
		return // legality has reported it
	}
	s := state.Queued
	streams := map[string]bool{}
	if s.RunID != 0 {
		streams[fmt.Sprintf("run-%d", s.RunID)] = true
	}
	if s.CertificateID != "" {
		streams["certificate-"+s.CertificateID] = true
	}
	if len(o.Publish) == 0 && o.PublishTo == "" {
		delete(c.asks, o.JobID)
		return
	}
	if !streams[o.PublishTo] || len(o.Publish) == 0 {
		c.p.found(checkOutcomes, KindOutcome, it.Recorded, "publishing under the id fixed with the submission", shown(o.PublishTo))
		return
	}
	if _, twice := c.due[o.PublishTo]; twice {
		return // the job ended twice: legality has reported it
	}
	due := &outcome{jobID: o.JobID, place: placeOf(it), status: status}
	for _, e := range o.Publish {
		due.hashes = append(due.hashes, hashOf(e.Name, fmt.Sprint(e.Version), string(e.Data)))
	}
	c.due[o.PublishTo] = due
}

// published compares an event that a job publishes with what is due. The second event of an append is compared when it
// follows one that was.
func (c *outcomeCheck) published(it *Item, jobID, after string) {
	due := c.due[it.Stream]
	if jobID == "" && (after == "" || due == nil) {
		if due != nil {
			c.p.found(checkOutcomes, KindOutcome, it.Recorded, "what job "+due.jobID+" ended with", it.Name+" of no job")
		}
		return
	}
	if due == nil {
		c.p.found(checkOutcomes, KindOutcome, it.Recorded, "job "+shown(jobID)+" ended with this, before", "no such outcome of it")
		return
	}
	if after == "" && due.jobID != jobID {
		c.p.found(checkOutcomes, KindOutcome, it.Recorded, "what job "+due.jobID+" ended with", it.Name+" of job "+shown(jobID))
	}
	if due.next >= len(due.hashes) || due.hashes[due.next] != it.published {
		c.p.found(checkOutcomes, KindOutcome, it.Recorded, "the bytes that job "+due.jobID+" ended with", it.Name+" with others")
	} else if status := endedBy(it.Event); status != "" && status != due.status {
		c.p.found(checkOutcomes, KindOutcome, due.place.recorded(), "an end "+string(status)+", as what was published", string(due.status))
	}
	if due.next++; due.next >= len(due.hashes) {
		delete(c.due, it.Stream)
	}
}

// answers compares a run with what its job was asked: the run is signed, and the submission is not.
func (c *outcomeCheck) answers(it *Item, of run.Subject) {
	payload, asked := c.asks[of.JobID]
	state := c.jobs.job(of.JobID)
	if !asked || state == nil {
		return
	}
	delete(c.asks, of.JobID)
	if wrong := ofRun(state.Queued.Submission, payload, it.Event, of); wrong != (contradiction{}) {
		c.p.found(checkOutcomes, KindOutcome, it.Recorded, wrong.expected, wrong.found)
	}
}

// endedBy is how a job ends that publishes an event; empty: the event does not say.
func endedBy(e event.Event) job.Status {
	switch e.(type) {
	case run.Evaluated, certificate.Issued:
		return job.Succeeded
	case run.TimedOut:
		return job.TimedOut
	case run.Failed:
		return job.Failed
	}
	return ""
}

func (c *outcomeCheck) end() {
	for stream, due := range c.due {
		c.p.unfinished(checkOutcomes, KindNoOutcome, due.place, fmt.Sprintf("stream %s with the %d events of the outcome", stream, len(due.hashes)), fmt.Sprintf("%d of them", due.next))
	}
}
