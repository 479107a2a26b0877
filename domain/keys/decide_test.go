package keys_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"reckon/domain/decider/decidertest"
	"reckon/domain/keys"
)

// pair is a key whose seed is one byte and zeros.
func pair(seed byte) (kid string, private ed25519.PrivateKey, published keys.Published) {
	private = ed25519.NewKeyFromSeed(append([]byte{seed}, make([]byte, ed25519.SeedSize-1)...))
	public := private.Public().(ed25519.PublicKey)
	return keys.Thumbprint(public), private, keys.Published{KID: keys.Thumbprint(public), X: keys.EncodeX(public), At: at0}
}

const at0, at5, at10 = "2026-08-01T12:00:00.000Z", "2026-08-01T12:05:00.000Z", "2026-08-01T12:10:00.000Z"

func TestKeys(t *testing.T) {
	t0 := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	a, privateA, publishedA := pair(1)
	b, privateB, publishedB := pair(2)
	activeA := keys.Activated{KID: a, At: at0}
	publish := keys.Publish{KID: a, X: publishedA.X, Now: t0}
	activate := func(kid string, by ed25519.PrivateKey, after time.Duration) keys.Activate {
		return keys.Activate{KID: kid, Proof: ed25519.Sign(by, keys.ActivationProof(kid)), Now: t0.Add(after)}
	}
	given := decidertest.Given[keys.Command, keys.State]

	given(t, keys.Decider).When(publish).Then(publishedA)
	given(t, keys.Decider, publishedA).When(publish).ThenNothing()
	given(t, keys.Decider).When(activate(a, privateA, 0)).ThenRefused(keys.ErrNotPublished)
	given(t, keys.Decider, publishedA).When(activate(a, privateA, 0)).Then(activeA)
	given(t, keys.Decider, publishedA, activeA).When(activate(a, privateA, 0)).ThenNothing()
	given(t, keys.Decider, publishedA, activeA, publishedB).When(activate(b, privateB, 5*time.Minute)).ThenRefused(keys.ErrPublishedTooRecently)
	given(t, keys.Decider, publishedA, activeA, publishedB).When(activate(b, privateB, 10*time.Minute)).
		Then(keys.Activated{KID: b, At: at10}, keys.Retired{KID: a, At: at10})
	given(t, keys.Decider, publishedA, activeA, publishedB, keys.Activated{KID: b, At: at5}, keys.Retired{KID: a, At: at5}).
		When(activate(a, privateA, time.Hour)).ThenRefused(keys.ErrRetired)

	proof := ed25519.Sign(privateB, keys.ActivationProof(b))
	for name, wrong := range map[string][]byte{
		"none": nil, "empty": {}, "short": proof[1:], "of another key": ed25519.Sign(privateA, keys.ActivationProof(b)),
		"of another key's activation": ed25519.Sign(privateB, keys.ActivationProof(a)), "changed": append([]byte{proof[0] ^ 1}, proof[1:]...),
	} {
		t.Run("proof: "+name, func(t *testing.T) {
			given(t, keys.Decider, publishedA, activeA, publishedB).When(keys.Activate{KID: b, Proof: wrong, Now: t0.Add(time.Hour)}).ThenRefused(keys.ErrNoPrivateHalf)
			given(t, keys.Decider, publishedB).When(keys.Activate{KID: b, Proof: wrong, Now: t0}).ThenRefused(keys.ErrNoPrivateHalf) // the first key too
		})
	}
	garbled := keys.Published{KID: "c", X: "no key", At: at0}
	given(t, keys.Decider, garbled).When(keys.Activate{KID: "c", Proof: proof, Now: t0}).ThenRefused(keys.ErrNoPrivateHalf)
}
