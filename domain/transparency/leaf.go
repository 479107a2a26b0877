package transparency

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/run"
)

// leafHeader begins every leaf. Another form of leaf needs another version here, for events that are appended from then on:
// the leaves of what is in the log never change.
const leafHeader = "reckon leaf v1"

// Kinds of leaves: the second line of a leaf.
const (
	receiptKind     = "receipt"
	certificateKind = "certificate"
)

// Entry is the tree's published entry for a leaf: the SHA-256 of its text.
type Entry [sha256.Size]byte

// EntryOf is the entry of a leaf's text.
func EntryOf(leaf string) Entry { return sha256.Sum256([]byte(leaf)) }

// LeafEvents are the stored names of the events that have leaves.
func LeafEvents() []string {
	return []string{run.Sealed{}.EventName(), certificate.Issued{}.EventName()}
}

// LeafOf is the text that the tree commits to for an event; false for an event without a leaf. The order of leaves is that of
// their events in the log. A receipt without a signature has none: it commits the service to nothing.
func LeafOf(e event.Event) (leaf string, ok bool, err error) {
	switch e := e.(type) {
	case run.Sealed:
		return ReceiptLeaf(e), e.Signature != "", nil
	case certificate.Issued:
		leaf, err := CertificateLeaf(e)
		return leaf, err == nil, err
	}
	return "", false, nil
}

// ReceiptLeaf commits to a receipt: its id, which is the hash of its canonical bytes, the id of the key, and the signature.
func ReceiptLeaf(e run.Sealed) string {
	return lines(leafHeader, receiptKind, e.ReceiptID, e.KID, e.Signature)
}

// CertificateLeaf commits to a certificate: its id, verdict, the checked bytes, the checker, when it was made, and its findings.
func CertificateLeaf(e certificate.Issued) (string, error) {
	findings, err := FindingsSHA256(e)
	return lines(leafHeader, certificateKind, e.CertificateID, string(e.Verdict), e.Export.SHA256, e.Checker.Rev, e.CreatedAt, findings), err
}

// FindingsSHA256 is the hash, hexadecimal, of a certificate's findings as JSON: of the blob where they lie in one.
func FindingsSHA256(e certificate.Issued) (string, error) {
	if e.FindingsBlob != nil {
		return e.FindingsBlob.SHA256, nil
	}
	document, err := event.Marshal(e.Findings)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:]), nil
}

// lines ends each part with a line feed. No part has one: they are hexadecimal, base64, UUIDs, times and names of the service's own.
func lines(parts ...string) string { return strings.Join(parts, "\n") + "\n" }
