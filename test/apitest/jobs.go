package apitest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
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
	state, err := s.Jobs.Read(t.Context(), jobID)
	must(t, err)
	content, err := s.Jobs.LoadPayload(t.Context(), state.Queued.Submission)
	must(t, err)
	in := s.runnerIntent()
	in.Account = state.Queued.Account
	work := runners.Work{Submission: state.Queued.Submission, Content: content, Budget: time.Duration(state.Queued.TimeoutMS) * time.Millisecond}
	end, err := runners.ByName(s.Kinds...)[state.Queued.Kind].Run(t.Context(), in, work)
	must(t, err)
	s.EndJob(t, jobID, nonce, end)
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
