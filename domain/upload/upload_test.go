package upload_test

import (
	"errors"
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/upload"
)

func TestUpload(t *testing.T) {
	given := decidertest.Given[upload.Command, upload.State]
	stored := upload.Stored{UploadID: "u", Account: "a"}
	claim := func(job, slot string) upload.Claim { return upload.Claim{Account: "a", JobID: job, SlotID: slot} }
	claimed := func(job string) upload.Claimed { return upload.Claimed{UploadID: "u", JobID: job} }
	refused := upload.Refused{UploadID: "u", JobID: "k", SlotID: "t"}
	released := upload.Released{UploadID: "u", JobID: "j"}

	given(t, upload.Decider).When(upload.Store{Stored: stored}).Then(stored)
	given(t, upload.Decider, stored).When(upload.Store{Stored: stored}).ThenNothing()
	given(t, upload.Decider).When(claim("j", "s")).ThenRefused(upload.ErrNotFound)
	given(t, upload.Decider, stored).When(upload.Claim{Account: "b", JobID: "j", SlotID: "s"}).ThenRefused(upload.ErrNotFound)
	given(t, upload.Decider, stored).When(claim("j", "s")).Then(claimed("j"))
	given(t, upload.Decider, stored, claimed("j")).When(claim("j", "s")).ThenNothing()
	given(t, upload.Decider, stored, claimed("j")).When(claim("k", "t")).Then(refused)
	given(t, upload.Decider, stored, claimed("j")).When(upload.Release{JobID: "k"}).ThenNothing()
	given(t, upload.Decider, stored, claimed("j")).When(upload.Release{JobID: "j"}).Then(released)
	given(t, upload.Decider, stored, claimed("j"), released).When(claim("k", "t")).Then(claimed("k"))
	// A late repetition of a released job's submission does not take the upload back.
	given(t, upload.Decider, stored, claimed("j"), released).When(claim("j", "s")).ThenNothing()
	// A refusal stands even when the upload is free again; a new slot may try again.
	given(t, upload.Decider, stored, claimed("j"), refused, released).When(claim("k", "t")).ThenNothing()
	given(t, upload.Decider, stored, claimed("j"), refused, released).When(claim("k", "v")).Then(claimed("k"))
}

func TestAvailability(t *testing.T) {
	fold := func(events ...event.Event) upload.State { return upload.Decider.Fold(events) }
	stored, claimed := upload.Stored{UploadID: "u", Account: "a"}, upload.Claimed{UploadID: "u", JobID: "j"}
	for name, c := range map[string]struct {
		state        upload.State
		account, job string
		want         error
	}{
		"absent": {fold(), "a", "j", upload.ErrNotFound}, "other's": {fold(stored), "b", "j", upload.ErrNotFound},
		"free": {fold(stored), "a", "j", nil}, "own": {fold(stored, claimed), "a", "j", nil}, "used": {fold(stored, claimed), "a", "k", upload.ErrUploadUsed},
	} {
		if err := c.state.CheckAvailable(c.account, c.job); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	refused := fold(stored, claimed, upload.Refused{UploadID: "u", JobID: "k", SlotID: "t"})
	if !errors.Is(refused.CheckAdmitted("t"), upload.ErrUploadUsed) || refused.CheckAdmitted("s") != nil {
		t.Error("a refused slot must stay refused, and only it")
	}
}
