package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"

	"reckon/domain/event"
	"reckon/domain/run"
)

// receiptCheck proves that every answer has its receipt. The canonical bytes are made again from run.evaluated, by a writer of
// this check's own: that of domain/receipt made the receipts. Hashes and signatures are checked when the order allows it, on
// other goroutines: one signature costs as much as decoding ten events.
type receiptCheck struct {
	p        *pass
	keys     *keyCheck
	awaiting map[int64]*Item // run.evaluated whose receipt has not come
}

func newReceiptCheck(p *pass, keys *keyCheck) *receiptCheck {
	return &receiptCheck{p: p, keys: keys, awaiting: map[int64]*Item{}}
}

func (c *receiptCheck) take(it *Item) {
	switch e := it.Event.(type) {
	case run.Evaluated:
		if _, twice := c.awaiting[e.RunID]; !twice {
			c.awaiting[e.RunID] = it
		}
		if e.Check != nil && (!e.Check.Conclusive() || !e.Check.Automatic) {
			c.p.found(checkReceipts, KindReceipt, it.Recorded, "an automatic check only where it reached a verdict", describedCheck(*e.Check))
		}
		if len(e.Asked) > 0 && !answeredBy(e) {
			c.p.found(checkReceipts, KindReceipt, it.Recorded, "of several engines that were asked, one that answered: "+e.Engine.Name+" "+e.Engine.Revision, fmt.Sprintf("%v", e.Asked))
		}
	case run.Sealed:
		c.seal(it, e)
	}
}

// answeredBy tells whether several were asked, and the one that answered is the run's engine; none did where the run is unevaluated.
func answeredBy(e run.Evaluated) bool {
	answered := 0
	for _, a := range e.Asked {
		if a.Outcome == run.AskedAnswered {
			answered++
			if a.Engine != e.Engine {
				return false
			}
		}
	}
	return len(e.Asked) > 1 && (answered == 1) == (e.Status != run.Unevaluated)
}

func describedCheck(check run.Check) string {
	return fmt.Sprintf("verdict %q, automatic %t", check.Verdict, check.Automatic)
}

func (c *receiptCheck) seal(it *Item, e run.Sealed) {
	c.p.counts.Receipts++
	of, awaited := c.awaiting[e.RunID]
	if !awaited {
		c.p.found(checkReceipts, KindNoRunSealed, it.Recorded, fmt.Sprintf("run.evaluated of run %d before its receipt, and one receipt of it", e.RunID), "a receipt of no such run")
		return
	}
	delete(c.awaiting, e.RunID)
	evaluated, _ := of.Event.(run.Evaluated)
	sealedAt := moment(evaluated.EvaluatedAt)
	if e.KID == "" || e.Signature == "" {
		if c.keys.active != "" || e.KID != "" || e.Signature != "" || e.UnsignedReason == "" {
			c.p.found(checkReceipts, KindUnsigned, it.Recorded, "a signature by the key that sealed then, "+c.keys.active, fmt.Sprintf("kid %q, signature %q, unsigned_reason %q", e.KID, e.Signature, e.UnsignedReason))
		}
	} else if e.UnsignedReason != "" {
		c.p.found(checkReceipts, KindReceipt, it.Recorded, "no unsigned_reason beside a signature", shown(e.UnsignedReason))
	}
	var public ed25519.PublicKey
	if e.KID != "" {
		var wrong string
		if public, wrong = c.keys.sealing(e.KID, sealedAt); wrong != "" {
			c.p.found(checkReceipts, KindReceiptKey, it.Recorded, "a key that sealed at "+evaluated.EvaluatedAt, wrong)
		}
	}
	if e.Canonical.Blob != nil && e.Canonical.Blob.SHA256 != e.ReceiptID {
		c.p.found(checkReceipts, KindReceiptID, it.Recorded, "the SHA-256 of the canonical bytes, "+e.Canonical.Blob.SHA256, e.ReceiptID)
	}
	if it.texts.missing != "" {
		return // its blob is reported, or counted as not checked
	}
	if public != nil {
		c.p.counts.Signatures++
	}
	c.p.later(func() []Finding { return c.verify(it, e, of, public) })
}

// verify compares the receipt with its run, its id with its bytes, and its signature with both.
func (c *receiptCheck) verify(it *Item, e run.Sealed, of *Item, public ed25519.PublicKey) []Finding {
	evaluated, _ := of.Event.(run.Evaluated)
	comparable := of.texts.missing == ""
	var findings []Finding
	found := func(kind Kind, place *Item, expected, is string) {
		findings = append(findings, c.p.finding(checkReceipts, kind, at(place.Recorded), expected, is))
	}
	canonical := []byte(it.texts.canonical)
	whole := true // the receipt agrees with itself
	sum := sha256.Sum256(canonical)
	if id := hex.EncodeToString(sum[:]); id != e.ReceiptID {
		whole = false
		found(KindReceiptID, it, "the SHA-256 of the canonical bytes, "+id, e.ReceiptID)
	}
	if public != nil {
		signature, err := base64.StdEncoding.Strict().DecodeString(e.Signature)
		if err != nil || strings.ContainsAny(e.Signature, "\r\n") || !ed25519.Verify(public, canonical, signature) {
			whole = false
			found(KindSignature, it, "an Ed25519 signature of the canonical bytes by key "+e.KID, "one that does not verify: "+shown(e.Signature))
		}
	}
	if !comparable {
		return findings
	}
	if again := canonicalRecord(evaluated, of.texts); string(again) != it.texts.canonical {
		place := it
		if whole { // then it was not the receipt that was changed
			place = of
		}
		found(KindReceipt, place, "a run and a receipt that say the same: "+difference(again, canonical), "a run that says another thing than its receipt")
	}
	return findings
}

// canonicalRecord is what the receipt of a run says (interface §2.6), in its canonical bytes.
func canonicalRecord(e run.Evaluated, t texts) []byte {
	stdout := sha256.Sum256([]byte(t.stdout))
	var verification, sessionID any
	if e.Check != nil {
		verification = map[string]any{"verdict": e.Check.Verdict, "basis": e.Check.Basis, "method": e.Check.Method}
	}
	if e.SessionID != "" {
		sessionID = e.SessionID
	}
	warnings := e.Warnings
	if warnings == nil {
		warnings = []string{}
	}
	return ascii(map[string]any{
		"v": 1, "run_id": e.RunID, "account": e.Account, "expression": t.expression, "answer": t.answer, "status": e.Status,
		"stdout_sha256": hex.EncodeToString(stdout[:]), "warnings": warnings, "engine": map[string]any{"name": e.Engine.Name, "revision": e.Engine.Revision},
		"verification": verification, "session_id": sessionID, "source": e.Source, "evaluated_at": e.EvaluatedAt,
	})
}

// ascii is the JSON of strings, integers, lists and maps with keys in order and everything outside printable ASCII as \uXXXX:
// encoding/json sorts the keys of maps and escapes control characters as Python does; the rest is escaped here.
func ascii(v any) []byte {
	text, err := event.Marshal(v)
	if err != nil {
		return nil
	}
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r < 0x7f:
			out = append(out, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

func (c *receiptCheck) end() {
	for id, of := range c.awaiting {
		c.p.found(checkReceipts, KindNoReceipt, of.Recorded, fmt.Sprintf("receipt.sealed of run %d in the same append", id), "none in the log")
	}
}
