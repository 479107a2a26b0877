package view

import (
	"time"

	"reckon/domain/burst"
	"reckon/domain/event"
)

// BurstSummary is a burst without its timeline, in answers and in files for analysts.
type BurstSummary struct {
	BurstID     string       `json:"burst_id" pattern:"^[0-9a-f]{32}$" doc:"Id of the burst, from its agent and its first activity. When an earlier activity becomes known, the burst has another id and this one is not found any more"`
	Agent       *string      `json:"agent" doc:"The client as it introduced itself (User-Agent, or name and version of an MCP client); null when it did not. Agents with other credentials are other agents, also under one name"`
	Source      event.Source `json:"source" enum:"web,mcp" doc:"Where the agent's requests came from. A job belongs to the agent who submitted it"`
	StartedAt   string       `json:"started_at" format:"date-time" doc:"Time of the first activity: RFC 3339, UTC, milliseconds"`
	EndedAt     string       `json:"ended_at" format:"date-time" doc:"Time of the last activity: RFC 3339, UTC, milliseconds"`
	DurationMS  int64        `json:"duration_ms" minimum:"0" doc:"From the first activity to the last, in milliseconds"`
	Evaluations int64        `json:"evaluations" minimum:"0" doc:"Runs that ended, those of jobs included"`
	Jobs        int64        `json:"jobs" minimum:"0" doc:"Jobs submitted"`
	Checks      int64        `json:"checks" minimum:"0" doc:"Checks of stored runs on request"`
	Failures    int64        `json:"failures" minimum:"0" doc:"Runs that timed out or failed, and jobs that failed, timed out or were lost without a run"`
	Verified    int64        `json:"verified" minimum:"0" doc:"Activities with the verdict verified: automatic checks, requested checks and certificates"`
	Refuted     int64        `json:"refuted" minimum:"0" doc:"Activities with the verdict refuted: checks. A rejected certificate refutes nothing"`
	FirstRunID  *int64       `json:"first_run_id" minimum:"1" maximum:"9007199254740991" doc:"The first run by time; null when no run ended in it"`
	LastRunID   *int64       `json:"last_run_id" minimum:"1" maximum:"9007199254740991" doc:"The last run by time; null when no run ended in it"`
	Preview     string       `json:"preview" doc:"Label of the first activity, at most 200 bytes"`
}

// BurstEvent is one activity of a burst's timeline.
type BurstEvent struct {
	At            string         `json:"at" format:"date-time" doc:"When it was: RFC 3339, UTC, milliseconds"`
	OffsetMS      int64          `json:"offset_ms" minimum:"0" doc:"Since the first activity of the burst, in milliseconds"`
	GapMS         int64          `json:"gap_ms" minimum:"0" maximum:"300000" doc:"Since the activity before, in milliseconds; 0 for the first"`
	Type          burst.Type     `json:"type" enum:"evaluation,job_submitted,job_ended,check,certificate_issued" doc:"evaluation: a run ended. job_submitted, job_ended: a job was queued or reached an end. check: a stored run was checked on request. certificate_issued: a proof job issued its certificate"`
	RunID         *int64         `json:"run_id" minimum:"1" maximum:"9007199254740991" doc:"The run; of a certificate the one that its proof is about; null without one"`
	JobID         *string        `json:"job_id" format:"uuid" doc:"The job; null without one"`
	CertificateID *string        `json:"certificate_id" format:"uuid" doc:"The certificate; null without one"`
	Label         string         `json:"label" doc:"The beginning of the expression, kind of the job, method of the check or names of the declarations: at most 200 bytes"`
	Status        *burst.Status  `json:"status" enum:"success,unevaluated,plot_omitted,timeout,error,queued,succeeded,failed,cancelled,lost" doc:"Of the run or the job; null for checks and certificates"`
	DurationMS    *int64         `json:"duration_ms" minimum:"0" doc:"What it took, in milliseconds; of the end of a job, since it was submitted; null for a submission"`
	Verdict       *burst.Verdict `json:"verdict" enum:"verified,refuted,inconclusive,rejected,unsupported" doc:"What the check or the certificate found; null without one"`
}

// BurstSummaryOf shows a burst.
func BurstSummaryOf(b burst.Burst) BurstSummary {
	return BurstSummary{
		BurstID: b.ID(), Agent: NullIfEmpty(b.Client), Source: b.Source, StartedAt: millisTimestamp(b.First.AtMS), EndedAt: millisTimestamp(b.Last.AtMS), DurationMS: b.DurationMS(),
		Evaluations: b.Evaluations, Jobs: b.Jobs, Checks: b.Checks, Failures: b.Failures, Verified: b.Verified, Refuted: b.Refuted,
		FirstRunID: nullIfZero(b.FirstRun), LastRunID: nullIfZero(b.LastRun), Preview: b.Preview,
	}
}

// BurstEventOf shows an activity of a burst that began at startMS; the activity before it was at previousMS. Both are Unix milliseconds.
func BurstEventOf(a burst.Activity, startMS, previousMS int64) BurstEvent {
	e := BurstEvent{
		At: millisTimestamp(a.AtMS), OffsetMS: a.AtMS - startMS, GapMS: a.AtMS - previousMS, Type: a.Type, RunID: nullIfZero(a.RunID), JobID: NullIfEmpty(a.JobID),
		CertificateID: NullIfEmpty(a.CertificateID), Label: a.Label, Status: NullIfEmpty(a.Status), Verdict: NullIfEmpty(a.Verdict),
	}
	if a.HasDuration() {
		e.DurationMS = &a.DurationMS
	}
	return e
}

// millisTimestamp is a Unix time in milliseconds as answers hold times.
func millisTimestamp(ms int64) string { return event.Timestamp(time.UnixMilli(ms)) }

// nullIfZero is null for 0.
func nullIfZero(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
