package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"reckon/domain/event"
	"reckon/domain/keys"
)

// publishedFor is how long a key is known before it may seal (docs/security.md); the first key seals at once.
const publishedFor = 10 * time.Minute

// keyCheck proves that a key's id is its own and that keys seal in turn.
type keyCheck struct {
	p       *pass
	byKID   map[string]*keyState
	active  string // kid of the key that seals
	retires string // kid of the key that the next event must retire
	used    map[string]bool
}

type keyState struct {
	public      ed25519.PublicKey // nil: what the log calls its public half is none
	publishedAt time.Time
	activeFrom  time.Time
	retiredAt   time.Time
	place       place
}

func newKeyCheck(p *pass) *keyCheck {
	return &keyCheck{p: p, byKID: map[string]*keyState{}, used: map[string]bool{}}
}

func (c *keyCheck) take(it *Item) {
	if retires := c.retires; retires != "" && it.Stream == keys.Stream {
		c.retires = ""
		if e, ok := it.Event.(keys.Retired); !ok || e.KID != retires {
			c.p.found(checkKeys, KindKey, it.Recorded, "key.retired of "+retires+", which the key before it replaces", it.Name)
		}
	}
	switch e := it.Event.(type) {
	case keys.Published:
		c.publish(it, e)
	case keys.Activated:
		c.activate(it, e)
	case keys.Retired:
		s := c.byKID[e.KID]
		if s == nil || c.active == "" || e.KID == c.active || !s.retiredAt.IsZero() || s.activeFrom.IsZero() {
			c.p.found(checkKeys, KindKey, it.Recorded, "the retirement of the key that sealed until another was activated", "key.retired of "+shown(e.KID))
			return
		}
		s.retiredAt = moment(e.At)
	}
}

func (c *keyCheck) publish(it *Item, e keys.Published) {
	public, err := base64.RawURLEncoding.Strict().DecodeString(e.X)
	s := &keyState{publishedAt: moment(e.At), place: placeOf(it)}
	switch thumbprint := thumbprintOf(e.X); {
	case err != nil || len(public) != ed25519.PublicKeySize:
		c.p.found(checkKeys, KindKey, it.Recorded, "an Ed25519 public key", shown(e.X))
	case thumbprint != e.KID:
		c.p.found(checkKeys, KindKey, it.Recorded, "the key's thumbprint "+thumbprint+" as its id", shown(e.KID))
	default:
		s.public = public
	}
	if _, twice := c.byKID[e.KID]; twice {
		c.p.found(checkKeys, KindKey, it.Recorded, "a key that is published once", "key.published of "+e.KID+" again")
		return
	}
	c.byKID[e.KID] = s
	if outside := c.p.config.OutsideKeys; outside != nil {
		if handedOut, known := outside[e.KID]; !known {
			kind := KindKeyOutside
			if c.outsideKnown() {
				kind = KindKeySince
			}
			c.p.found(checkKeys, kind, it.Recorded, "a key of --keys", "key "+e.KID+" published at "+e.At)
		} else if s.public != nil && !handedOut.Equal(s.public) {
			c.p.found(checkKeys, KindKeyOutside, it.Recorded, "the public half that was handed out for "+e.KID, "another one")
		}
	}
}

// outsideKnown tells whether the log has published every key that was handed out: one that comes after may be that of a rotation.
func (c *keyCheck) outsideKnown() bool {
	for kid := range c.p.config.OutsideKeys {
		if c.byKID[kid] == nil {
			return false
		}
	}
	return true
}

// thumbprintOf is the id of an Ed25519 key by RFC 7638 and RFC 8037 §2.
func thumbprintOf(x string) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (c *keyCheck) activate(it *Item, e keys.Activated) {
	s := c.byKID[e.KID]
	wrong := func(expected, found string) { c.p.found(checkKeys, KindKey, it.Recorded, expected, found) }
	switch now := moment(e.At); {
	case s == nil:
		wrong("a key that was published", "key.activated of "+shown(e.KID))
		s = &keyState{}
		c.byKID[e.KID] = s
	case !s.retiredAt.IsZero():
		wrong("no key that was retired", "key.activated of "+e.KID)
	case c.active == e.KID:
		wrong("another key than the one that seals", "key.activated of "+e.KID)
	case c.active != "" && now.Sub(s.publishedAt) < publishedFor:
		wrong(fmt.Sprintf("a key that was published for %s", publishedFor), fmt.Sprintf("one published for %s", now.Sub(s.publishedAt)))
	}
	if c.active != e.KID {
		c.retires = c.active
	}
	c.active, s.activeFrom = e.KID, moment(e.At)
}

// sealing returns the public half of a key if it could seal at a moment, and otherwise what is wrong.
func (c *keyCheck) sealing(kid string, at time.Time) (public ed25519.PublicKey, wrong string) {
	c.used[kid] = true
	s := c.byKID[kid]
	switch {
	case s == nil:
		return nil, "the log has not published key " + shown(kid)
	case s.public == nil:
		return nil, "the log has no public half of key " + shown(kid)
	case s.activeFrom.IsZero():
		return s.public, "key " + kid + " was never activated before"
	case at.Before(s.activeFrom.Add(-clockSkew)):
		return s.public, "key " + kid + " sealed only from " + event.Timestamp(s.activeFrom)
	case !s.retiredAt.IsZero() && at.After(s.retiredAt.Add(patience)):
		return s.public, "key " + kid + " was retired at " + event.Timestamp(s.retiredAt)
	}
	if handedOut, known := c.p.config.OutsideKeys[kid]; known {
		return handedOut, ""
	}
	return s.public, ""
}

func (c *keyCheck) end() {
	if c.retires != "" {
		c.p.found(checkKeys, KindIncomplete, event.Recorded{Stream: keys.Stream}, "key.retired of "+c.retires+" in the append that activated another key", "the end of the log")
	}
	for kid := range c.p.config.OutsideKeys {
		if _, known := c.byKID[kid]; !known {
			c.p.note(checkKeys, KindKeyAbsent, "key "+kid+" of --keys in the log", "no such key")
		}
	}
}

// moment reads a time of an event; the zero time for one that schema has reported.
func moment(s string) time.Time {
	t, _ := event.ParseTimestamp(s)
	return t
}
