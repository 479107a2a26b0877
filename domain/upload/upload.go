// Package upload is an uploaded proof export: stored once, checked by one job.
//
// It promises that two jobs cannot hold one upload. The bytes are in the blob
// store; this package never sees them.
package upload

import (
	"errors"
	"fmt"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream names an upload's stream.
func Stream(uploadID string) string { return "upload-" + uploadID }

// Named is a name with a version, as an export's meta line gives it.
type Named struct {
	Name    string `json:"name" doc:"Name"`
	Version string `json:"version" doc:"Version, as the program gives it"`
}

// Lean is the Lean version an export says it is of.
type Lean struct {
	Version string `json:"version" doc:"Version of Lean"`
	Githash string `json:"githash" doc:"Commit of Lean, hexadecimal"`
}

// Export is the identity of an export.
type Export struct {
	SHA256        string `json:"sha256" format:"sha256" doc:"Hash of the normalised export"`
	Bytes         int64  `json:"bytes" doc:"Size of the normalised export"`
	Exporter      *Named `json:"exporter,omitempty" doc:"The program that wrote the export, as its first line says; absent when it does not"`
	Lean          *Lean  `json:"lean,omitempty" doc:"The version of Lean the export is of, as its first line says; absent when it does not"`
	FormatVersion string `json:"format_version" doc:"Version of the export format"`
}

// Stored makes an export available to one job.
type Stored struct {
	UploadID string     `json:"upload_id" format:"uuid" doc:"The upload"`
	Account  string     `json:"account" format:"uuid" doc:"The account"`
	Blob     event.Blob `json:"blob" doc:"The normalised export in the blob store"`
	Export   Export     `json:"export" doc:"What the export says of itself"`
}

// Claimed gives the upload to a job.
type Claimed struct {
	UploadID string `json:"upload_id" format:"uuid" doc:"The upload"`
	JobID    string `json:"job_id" format:"uuid" doc:"The job that checks it"`
}

// Refused says that a slot's submission came second. It is an event because it
// decides: were it not kept, the submitter and the reaction that finishes
// submissions could see the upload used and free in turn, and a job would be
// queued on a slot that is being refunded.
type Refused struct {
	UploadID string `json:"upload_id" format:"uuid" doc:"The upload"`
	JobID    string `json:"job_id" format:"uuid" doc:"The job that does not get it"`
	SlotID   string `json:"slot_id" format:"uuid" doc:"The job's slot, which is refunded"`
}

// Released frees the upload: its job was cancelled before it started.
type Released struct {
	UploadID string `json:"upload_id" format:"uuid" doc:"The upload"`
	JobID    string `json:"job_id" format:"uuid" doc:"The job that had it and never started"`
}

func (Stored) EventName() string   { return "upload.stored" }
func (Claimed) EventName() string  { return "upload.claimed" }
func (Refused) EventName() string  { return "upload.refused" }
func (Released) EventName() string { return "upload.released" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of an upload's stream with its event types.
func Model() decider.Model[Command, State] {
	const id, job, sha = "6f1c1a60-4b1e-4c50-8a37-2f2f9e0d6a11", "7c9e6679-7425-50de-944b-e07fc1f90ae7", "3d0a62f999375c96e670d9d3cbdfb8e4ab470c5b1326d04131ece4d644362cb8"
	return decider.Model[Command, State]{Decider: Decider, Shown: shown, Types: []decider.Type[Command, State]{
		decider.On(Stored{UploadID: id, Account: "0198a1b2-0000-7000-8000-00000000000a", Blob: event.Blob{SHA256: sha, Bytes: 4096},
			Export: Export{SHA256: sha, Bytes: 4096, Exporter: &Named{Name: "lean4export", Version: "3.1.0"},
				Lean: &Lean{Version: "4.29.1", Githash: "f72c35b3f637c8c6571d353742168ab66cc22c00"}, FormatVersion: "3.1.0"}},
			func(e Stored) event.Address { return event.Address{Stream: Stream(e.UploadID), Account: e.Account} },
			func(e Stored, _ State, _ event.Metadata) Command { return Store{Stored: e} },
			event.Begins()),
		decider.On(Claimed{UploadID: id, JobID: job},
			func(e Claimed) event.Address { return event.Address{Stream: Stream(e.UploadID)} },
			func(e Claimed, s State, _ event.Metadata) Command { return Claim{Account: s.Account(), JobID: e.JobID} }),
		decider.On(Refused{UploadID: id, JobID: job, SlotID: "0198a1b2-0000-7000-8000-000000005107"},
			func(e Refused) event.Address { return event.Address{Stream: Stream(e.UploadID)} },
			func(e Refused, s State, _ event.Metadata) Command {
				return Claim{Account: s.Account(), JobID: e.JobID, SlotID: e.SlotID}
			},
			event.Free{"job_id": "the slot has the job, and the refund is for the slot"}),
		decider.On(Released{UploadID: id, JobID: job},
			func(e Released) event.Address { return event.Address{Stream: Stream(e.UploadID)} },
			func(e Released, _ State, _ event.Metadata) Command { return Release{JobID: e.JobID} }),
	}}
}

// shown is what people are shown of a state.
func shown(s State) any {
	return struct {
		Stored            *Stored
		Job               string
		Refused, Released int
	}{s.Stored, s.Job, s.Refused.Len(), s.Released.Len()}
}

// State is the upload and the job that holds it.
type State struct {
	Stored   *Stored
	Job      string                // the job that holds the upload; empty: none
	Refused  decider.Map[struct{}] // slots whose submission was refused, for ever
	Released decider.Map[struct{}] // jobs that gave the upload back, for ever
}

// Account is the account that stored the upload; empty: nobody has.
func (s State) Account() string {
	if s.Stored == nil {
		return ""
	}
	return s.Stored.Account
}

// Command is one of Store, Claim, Release.
type Command interface{ uploadCommand() }

// Store makes an export available.
type Store struct{ Stored Stored }

// Claim takes the upload for a job of its account, on behalf of the slot that was spent
// for the job; a job that holds the upload keeps it. A claim that comes too late is not
// refused but recorded as Refused: ask State.CheckAdmitted afterwards. ErrNotFound: the
// account has no such upload.
type Claim struct{ Account, JobID, SlotID string }

// Release frees the upload if this job holds it.
type Release struct{ JobID string }

func (Store) uploadCommand()   {}
func (Claim) uploadCommand()   {}
func (Release) uploadCommand() {}

var (
	// ErrNotFound means that the account has no such upload.
	ErrNotFound = errors.New("no such upload")
	// ErrUploadUsed means that another job holds the upload.
	ErrUploadUsed = errors.New("the upload is checked by another job; upload the export again for another check")
)

// CheckAdmitted returns, after a Claim, ErrUploadUsed if the submission of this slot was
// refused, and nil if its job may be queued.
func (s State) CheckAdmitted(slotID string) error {
	if s.Refused.Has(slotID) {
		return ErrUploadUsed
	}
	return nil
}

// CheckAvailable returns nil if this job could claim the upload now, ErrNotFound if the
// account has no such upload, and ErrUploadUsed if another job holds it. It is asked before
// a slot is spent; only a Claim decides.
func (s State) CheckAvailable(account, jobID string) error {
	switch {
	case s.Stored == nil || s.Stored.Account != account:
		return ErrNotFound
	case s.Job != "" && s.Job != jobID:
		return ErrUploadUsed
	}
	return nil
}

// Decider is the write model of an upload's stream.
var Decider = decider.Decider[Command, State]{
	Initial:    func() State { return State{} },
	Decide:     decide,
	Evolve:     evolve,
	StateBytes: func(s State) int { return stateBytes + (s.Refused.Len()+s.Released.Len())*memberBytes },
}

// Memory that a state takes: of a stored upload, and of each member of its sets, a UUID as text.
const (
	stateBytes  = 1024
	memberBytes = 160
)

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Store:
		if s.Stored != nil {
			return nil, nil
		}
		return []event.Event{c.Stored}, nil
	case Claim:
		return claim(c, s)
	case Release:
		if s.Stored == nil || s.Job != c.JobID {
			return nil, nil
		}
		return []event.Event{Released{UploadID: s.Stored.UploadID, JobID: c.JobID}}, nil
	}
	return nil, fmt.Errorf("upload: unknown command %T", c)
}

func claim(c Claim, s State) ([]event.Event, error) {
	switch {
	case s.Stored == nil || s.Stored.Account != c.Account:
		return nil, ErrNotFound
	case s.Refused.Has(c.SlotID), s.Job == c.JobID, s.Released.Has(c.JobID):
		return nil, nil // decided before
	case s.Job != "":
		return []event.Event{Refused{UploadID: s.Stored.UploadID, JobID: c.JobID, SlotID: c.SlotID}}, nil
	}
	return []event.Event{Claimed{UploadID: s.Stored.UploadID, JobID: c.JobID}}, nil
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Stored:
		s.Stored = &e
	case Claimed:
		s.Job = e.JobID
	case Refused:
		s.Refused = s.Refused.With(e.SlotID, struct{}{})
	case Released:
		s.Job, s.Released = "", s.Released.With(e.JobID, struct{}{})
	}
	return s
}
