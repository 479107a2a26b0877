package keys_test

import (
	"testing"
	"time"

	"reckon/domain/decider/decidertest"
	"reckon/domain/keys"
)

func TestKeys(t *testing.T) {
	t0 := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	const at0, at5, at10 = "2026-08-01T12:00:00.000Z", "2026-08-01T12:05:00.000Z", "2026-08-01T12:10:00.000Z"
	publishedA, publishedB := keys.Published{KID: "a", X: "xa", At: at0}, keys.Published{KID: "b", X: "xb", At: at0}
	activeA := keys.Activated{KID: "a", At: at0}
	given := decidertest.Given[keys.Command, keys.State]

	given(t, keys.Decider).When(keys.Publish{KID: "a", X: "xa", Now: t0}).Then(publishedA)
	given(t, keys.Decider, publishedA).When(keys.Publish{KID: "a", X: "xa", Now: t0}).ThenNothing()
	given(t, keys.Decider).When(keys.Activate{KID: "a", Now: t0}).ThenRefused(keys.ErrNotPublished)
	given(t, keys.Decider, publishedA).When(keys.Activate{KID: "a", Now: t0}).Then(activeA)
	given(t, keys.Decider, publishedA, activeA).When(keys.Activate{KID: "a", Now: t0}).ThenNothing()
	given(t, keys.Decider, publishedA, activeA, publishedB).When(keys.Activate{KID: "b", Now: t0.Add(5 * time.Minute)}).ThenRefused(keys.ErrPublishedTooRecently)
	given(t, keys.Decider, publishedA, activeA, publishedB).When(keys.Activate{KID: "b", Now: t0.Add(10 * time.Minute)}).
		Then(keys.Activated{KID: "b", At: at10}, keys.Retired{KID: "a", At: at10})
	given(t, keys.Decider, publishedA, activeA, publishedB, keys.Activated{KID: "b", At: at5}, keys.Retired{KID: "a", At: at5}).
		When(keys.Activate{KID: "a", Now: t0.Add(time.Hour)}).ThenRefused(keys.ErrRetired)
}
