package verifier

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Types of keys (C2SP signed-note, tlog-cosignature).
const (
	logKey     = 1
	witnessKey = 4
)

// cosignatureBytes is the length of what a witness writes: a time in seconds, and an Ed25519 signature.
const cosignatureBytes = 8 + ed25519.SignatureSize

// verifierKey is who may have signed a note.
type verifierKey struct {
	name   string
	id     [4]byte
	public ed25519.PublicKey
}

var (
	verifierKeyText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([^\s\v\pZ\x{85}\x{1c}-\x{1f}+\x00-\x1f\x7f]{1,128})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$`)
	})
	signatureText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^— ([^\s\v\pZ\x{85}\x{1c}-\x{1f}+]+) ([A-Za-z0-9+/=]+)$`)
	})
)

func readVerifierKey(spelled string, kind byte) (k verifierKey, err error) {
	what := "a key of the log"
	if kind == witnessKey {
		what = "the key of a witness"
	}
	err = refuse("%s is not a verifier key of type %d", what, kind)
	found := verifierKeyText().FindStringSubmatch(spelled)
	if found == nil {
		return k, err
	}
	material, valid := decode64(base64.StdEncoding, found[3], 1+ed25519.PublicKeySize)
	if !valid || material[0] != kind {
		return k, err
	}
	sum := sha256.Sum256(append([]byte(found[1]+"\n"), material...))
	k = verifierKey{found[1], [4]byte(sum[:4]), material[1:]}
	if hex.EncodeToString(k.id[:]) != found[2] {
		return k, err
	}
	if !isKey(k.public) {
		return k, refuse("%s is one by which everyone can sign", what)
	}
	return k, nil
}

// Log is whom a reader believes: the log's keys, and witnesses of their own choice.
type Log struct {
	origin          string
	keys, witnesses []verifierKey
}

// readLog reads /.well-known/transparency-log.json and the verifier keys of the witnesses that must have cosigned.
func readLog(document object, witnesses []string) (l Log, err error) {
	if slices.Contains(witnesses, "") {
		return l, errors.New("--witness is empty: leave it out where you have no key of a witness")
	}
	if l.origin, err = text(document, "origin", "the log's file"); err != nil {
		return l, err
	}
	entries, ok := document["keys"].([]any)
	if !ok || slices.ContainsFunc(entries, func(e any) bool { _, is := e.(object); return !is }) {
		return l, refuse("the log's file has no list of keys")
	}
	for _, entry := range entries {
		spelled, err := text(entry.(object), "key", "the log's file")
		if err != nil {
			return l, err
		}
		key, err := readVerifierKey(spelled, logKey)
		if err != nil {
			return l, err
		}
		l.keys = append(l.keys, key)
	}
	if slices.ContainsFunc(l.keys, func(k verifierKey) bool { return k.name != l.origin }) {
		return l, refuse("a key of the log has another name than the log")
	}
	for _, spelled := range witnesses {
		key, err := readVerifierKey(spelled, witnessKey)
		if err != nil {
			return l, err
		}
		l.witnesses = append(l.witnesses, key)
	}
	return l, l.checkWitnesses()
}

func (l Log) checkWitnesses() error {
	same := func(public ed25519.PublicKey) func(verifierKey) bool {
		return func(k verifierKey) bool { return bytes.Equal(k.public, public) }
	}
	for i, w := range l.witnesses {
		if slices.ContainsFunc(l.witnesses[:i], same(w.public)) {
			return refuse("two of the witnesses are one")
		}
	}
	for _, w := range l.witnesses {
		if slices.ContainsFunc(l.keys, same(w.public)) {
			return refuse("a key of the log is no witness")
		}
	}
	return nil
}

// checkpoint is the size and the root of a tree, and the event log at its last leaf.
type checkpoint struct {
	size  int64
	root  hash
	chain chain
}

// chain is the hash chain of the event log at an event, which an extension line of a checkpoint commits to; the zero one is none.
type chain struct {
	log      string
	position int64
	link     string
}

var chainText = regexp.MustCompile(`^chain ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([1-9][0-9]{0,15}) ([0-9a-f]{64})$`)

// readChain reads the chain among the extension lines of a checkpoint; other lines are others' (C2SP tlog-checkpoint).
func readChain(lines []string) (c chain, err error) {
	for _, line := range lines {
		if !strings.HasPrefix(line, "chain ") {
			continue
		}
		found := chainText.FindStringSubmatch(line)
		if found == nil || c.log != "" {
			return c, refuse("the checkpoint has no one line of the event log's chain")
		}
		c.log, c.link = found[1], found[3]
		if c.position, err = strconv.ParseInt(found[2], 10, 64); err != nil {
			return c, err
		}
	}
	return c, nil
}

var errNoNote = refuse("it is not a signed note")

// readNote reads the text of a note.
func readNote(raw []byte) (string, error) {
	if len(raw) > MaxBytes || !utf8.Valid(raw) {
		return "", errNoNote
	}
	return string(raw), nil
}

// continues tells whether a log may have grown from another chain to this one, by more leaves or by none. Chains of two logs, of which the
// one is a copy, and checkpoints without one say nothing of each other.
func (c chain) continues(older chain, grown bool) bool {
	return c.log == "" || c.log != older.log || grown && c.position > older.position || !grown && c == older
}

// open returns the checkpoint of a note that the log and every witness have signed.
func (l Log) open(note string) (c checkpoint, err error) {
	end := strings.LastIndex(note, "\n\n")
	if end < 1 {
		return c, errNoNote
	}
	body, lines := note[:end]+"\n", strings.Split(note[end+2:], "\n")
	if last := len(lines) - 1; lines[last] != "" || last < 1 || last > maxSignatures {
		return c, errNoNote
	}
	if err := l.checkSignatures(body, lines[:len(lines)-1]); err != nil {
		return c, err
	}
	origin, rest, _ := strings.Cut(body[:len(body)-1], "\n")
	if origin != l.origin {
		return c, refuse("the checkpoint is of another log")
	}
	parts := strings.Split(rest, "\n")
	bad := refuse("the checkpoint has no size and root")
	if len(parts) < 2 || slices.Contains(parts, "") || !natural.MatchString(parts[0]) {
		return c, bad
	}
	root, valid := decode64(base64.StdEncoding, parts[1], sha256.Size)
	if !valid {
		return c, bad
	}
	size, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return c, err
	}
	committed, err := readChain(parts[2:])
	return checkpoint{size, hash(root), committed}, err
}

func (l Log) checkSignatures(body string, lines []string) error {
	byLog, byWitness := false, map[string]bool{}
	for _, line := range lines {
		found := signatureText().FindStringSubmatch(line)
		var made []byte
		if found != nil {
			made, _ = decode64(base64.StdEncoding, found[2], -1)
		}
		if len(made) <= 4 {
			return refuse("a signature of the checkpoint is not one of a note")
		}
		of := func(k verifierKey) bool { return k.name == found[1] && bytes.Equal(k.id[:], made[:4]) }
		for _, k := range l.keys {
			if !of(k) {
				continue
			}
			if !ed25519.Verify(k.public, []byte(body), made[4:]) {
				return refuse("the log's signature of the checkpoint does not verify")
			}
			byLog = true
		}
		for _, k := range l.witnesses {
			if !of(k) {
				continue
			}
			if !cosigned(k.public, body, made[4:]) {
				return refuse("the cosignature of a witness does not verify")
			}
			byWitness[string(k.public)] = true
		}
	}
	if !byLog {
		return refuse("no key of the log has signed the checkpoint. If the log's file is older, fetch it again: it must still have the keys you kept")
	}
	if len(byWitness) != len(l.witnesses) {
		return refuse("not all of the witnesses have cosigned the checkpoint")
	}
	return nil
}

// cosigned verifies a timed signature (C2SP tlog-cosignature).
func cosigned(public ed25519.PublicKey, body string, cosignature []byte) bool {
	if len(cosignature) != cosignatureBytes {
		return false
	}
	message := fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", binary.BigEndian.Uint64(cosignature), body)
	return ed25519.Verify(public, message, cosignature[8:])
}
