package slots_test

import (
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/job"
	"reckon/domain/slots"
)

func TestSlots(t *testing.T) {
	given := decidertest.Given[slots.Command, slots.State]
	of := func(jobID string) job.Submission { return job.Submission{JobID: jobID, Account: "a"} }
	spend := func(slot, jobID string, allowance int) slots.Spend {
		return slots.Spend{SlotID: slot, Day: "d", Submission: of(jobID), Allowance: allowance}
	}
	spent := func(slot, jobID string) slots.Spent {
		return slots.Spent{SlotID: slot, Day: "d", Submission: of(jobID)}
	}
	refunded := slots.Refunded{SlotID: "s", JobID: "j", Reason: "cancelled_early"}
	refund := slots.Refund{SlotID: "s", JobID: "j", Reason: "cancelled_early"}

	given(t, slots.Decider).When(spend("s", "j", 1)).Then(spent("s", "j"))
	given(t, slots.Decider, spent("s", "j")).When(spend("x", "j", 1)).ThenNothing()
	given(t, slots.Decider, spent("s", "j")).When(spend("x", "k", 1)).ThenRefused(slots.ErrAllowanceSpent)
	given(t, slots.Decider, spent("s", "j")).When(spend("x", "k", 2)).Then(spent("x", "k"))
	given(t, slots.Decider, spent("s", "j"), refunded).When(spend("x", "k", 1)).Then(spent("x", "k"))
	given(t, slots.Decider, spent("s", "j"), refunded).When(spend("x", "j", 1)).Then(spent("x", "j"))
	given(t, slots.Decider).When(spend("s", "j", 0)).ThenRefused(slots.ErrAllowanceSpent)
	given(t, slots.Decider, spent("s", "j")).When(refund).Then(refunded)
	given(t, slots.Decider, spent("s", "j"), refunded).When(refund).ThenNothing()
	given(t, slots.Decider, spent("s", "j")).When(slots.Refund{SlotID: "other", JobID: "j"}).ThenNothing()
	given(t, slots.Decider, spent("s", "j"), refunded, spent("x", "j")).When(refund).ThenNothing()
}
