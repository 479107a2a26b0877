package session_test

import (
	"strings"
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/session"
)

func TestSession(t *testing.T) {
	given := decidertest.Given[session.Command, session.State]
	opened := func(owner string, epoch int) session.Opened {
		return session.Opened{Account: "a", SessionID: "s", Owner: owner, Epoch: epoch}
	}
	open := func(owner string) session.Open { return session.Open{Account: "a", SessionID: "s", Owner: owner} }
	expire := func(epoch int) session.Expire {
		return session.Expire{Account: "a", SessionID: "s", Epoch: epoch, Reason: "idle"}
	}
	expired := session.Expired(expire(1))
	cleared := session.Cleared{Account: "a", SessionID: "s", Epoch: 1}
	clearIt := session.Clear{Account: "a", SessionID: "s"}

	given(t, session.Decider).When(open("p")).Then(opened("p", 1))
	given(t, session.Decider, opened("p", 1)).When(open("p")).ThenNothing()
	given(t, session.Decider, opened("p", 1)).When(open("q")).ThenRefused(session.ErrOwnedElsewhere)
	takeOver := open("q")
	takeOver.LostOwner = "p"
	lost := session.Expired{Account: "a", SessionID: "s", Epoch: 1, Reason: session.EndOwnerLost}
	given(t, session.Decider, opened("p", 1)).When(takeOver).Then(lost, opened("q", 2))
	given(t, session.Decider, opened("r", 1)).When(takeOver).ThenRefused(session.ErrOwnedElsewhere)
	given(t, session.Decider, opened("q", 1)).When(takeOver).ThenNothing()
	given(t, session.Decider, opened("p", 1), cleared).When(takeOver).Then(opened("q", 2))
	given(t, session.Decider, opened("p", 1), expired).When(open("q")).Then(opened("q", 2))
	given(t, session.Decider, opened("p", 1), cleared).When(open("p")).Then(opened("p", 2))
	given(t, session.Decider).When(clearIt).ThenNothing()
	given(t, session.Decider, opened("p", 1)).When(clearIt).Then(cleared)
	given(t, session.Decider, opened("p", 1)).When(expire(1)).Then(expired)
	given(t, session.Decider, opened("p", 1), expired, opened("q", 2)).When(expire(1)).ThenNothing()
}

func TestValidID(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "A-1_.z": true, strings.Repeat("x", 64): true,
		"...": true, ".a": true, "": false, ".": false, "..": false, strings.Repeat("x", 65): false, "a/b": false, "a b": false, "é": false, "a\x00": false, "'": false,
	} {
		if session.ValidID(id) != want {
			t.Errorf("%q: want %v", id, want)
		}
	}
}
