package apitest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/runners"
)

// runnerIntent is a runner's.
func (s *Server) runnerIntent() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Actor: "runner:test", Source: "job", Build: "test"}
}

// ClaimJob takes a job up as a runner does, and returns the attempt's nonce.
func (s *Server) ClaimJob(t testing.TB, jobID string) (nonce string) {
	t.Helper()
	nonce = uuid.NewString()
	_, _, err := s.Jobs.ClaimJob(t.Context(), s.runnerIntent(), jobID, "test", nonce)
	must(t, err)
	return nonce
}

// ComputeJob runs the job with its kind's runner and ends it.
func (s *Server) ComputeJob(t testing.TB, jobID, nonce string) {
	t.Helper()
	s.EndJob(t, jobID, nonce, s.compute(t, jobID))
}

func (s *Server) compute(t testing.TB, jobID string) runners.End {
	t.Helper()
	state, err := s.Jobs.Read(t.Context(), jobID)
	must(t, err)
	content, err := s.Jobs.LoadPayload(t.Context(), state.Queued.Submission)
	must(t, err)
	in := s.runnerIntent()
	in.Account = state.Queued.Account
	work := runners.Work{Submission: state.Queued.Submission, Content: content, Budget: time.Duration(state.Queued.TimeoutMS) * time.Millisecond}
	end, err := runners.ByName(s.Kinds...)[state.Queued.Kind].Run(t.Context(), in, work)
	must(t, err)
	return end
}

// EndJobUnpublished takes a job up, computes it, and stops where a runner is that was killed: its run or certificate is not written.
func (s *Server) EndJobUnpublished(t testing.TB, jobID string) {
	t.Helper()
	nonce := s.ClaimJob(t, jobID)
	end := s.compute(t, jobID)
	end.Outcome.JobID, end.Outcome.Nonce, end.Outcome.FinishedAt = jobID, nonce, event.Timestamp(s.Clock.Now())
	_, _, err := commands.Handle(t.Context(), s.Jobs.Store, job.Decider, job.Stream(jobID), s.runnerIntent(), job.Command(job.Finish{Status: end.Status, Outcome: end.Outcome}))
	must(t, err)
}

// EndJob ends an attempt with an outcome.
func (s *Server) EndJob(t testing.TB, jobID, nonce string, end runners.End) {
	t.Helper()
	end.Outcome.JobID, end.Outcome.Nonce = jobID, nonce
	_, err := s.Jobs.FinishJob(context.WithoutCancel(t.Context()), s.runnerIntent(), end.Status, end.Outcome)
	must(t, err)
}

// RunJob takes a job up and computes it.
func (s *Server) RunJob(t testing.TB, jobID string) {
	t.Helper()
	s.ComputeJob(t, jobID, s.ClaimJob(t, jobID))
}

// PublishJob writes the run or the certificate of a job that has ended, as its runner does after that.
func (s *Server) PublishJob(t testing.TB, jobID string) {
	t.Helper()
	state, err := s.Jobs.Read(t.Context(), jobID)
	must(t, err)
	must(t, s.Jobs.PublishOutcome(t.Context(), s.runnerIntent(), state))
}
