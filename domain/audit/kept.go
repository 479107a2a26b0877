package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"reckon/domain/transparency"
)

// MaxCheckpointBytes bounds a checkpoint kept outside of the log: its lines, and the signatures of the log and of its witnesses.
const MaxCheckpointBytes = 64 << 10

// Checkpoint is one that was kept where the operator cannot write: the answer of GET /transparency/checkpoint, or what a witness shows.
type Checkpoint struct {
	Origin     string
	Size       int64               // in leaves, at least 1
	Root       string              // base64
	chain      *transparency.Chain // the event log at its last leaf; nil: it does not commit to it
	body       string
	signatures []signatureLine
}

// signatureLine is a line of a signed note (C2SP signed-note).
type signatureLine struct {
	name      string
	key       [4]byte // id of the key
	signature []byte
}

var errNoCheckpoint = errors.New("no checkpoint: origin, size and root in a line each, an empty line, and signatures (C2SP tlog-checkpoint)")

// ParseCheckpoint reads a checkpoint as it was served. Its signatures are verified by the audit, which knows the keys of the log.
func ParseCheckpoint(note string) (Checkpoint, error) {
	end := strings.LastIndex(note, "\n\n")
	if len(note) > MaxCheckpointBytes || end < 0 || !strings.HasSuffix(note, "\n") {
		return Checkpoint{}, errNoCheckpoint
	}
	c := Checkpoint{body: note[:end+1]}
	lines := strings.Split(c.body, "\n")
	if len(lines) < 4 || lines[0] == "" {
		return Checkpoint{}, errNoCheckpoint
	}
	c.Origin, c.Root = lines[0], lines[2]
	size, err := strconv.ParseInt(lines[1], 10, 64)
	root, failed := base64.StdEncoding.Strict().DecodeString(c.Root)
	if err != nil || failed != nil || size < 1 || strconv.FormatInt(size, 10) != lines[1] || len(root) != sha256.Size {
		return Checkpoint{}, errNoCheckpoint
	}
	if c.chain, err = transparency.ReadChain(lines[3:]); err != nil {
		return Checkpoint{}, err
	}
	c.Size = size
	for line := range strings.Lines(note[end+2:]) {
		signature, ok := parseSignature(strings.TrimSuffix(line, "\n"))
		if !ok {
			return Checkpoint{}, errNoCheckpoint
		}
		c.signatures = append(c.signatures, signature)
	}
	return c, nil
}

func parseSignature(line string) (s signatureLine, ok bool) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 || fields[0] != "—" || fields[1] == "" {
		return s, false
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(fields[2])
	if err != nil || len(decoded) <= len(s.key) {
		return s, false
	}
	s.name, s.signature = fields[1], decoded[len(s.key):]
	copy(s.key[:], decoded)
	return s, true
}

// Types of keys (C2SP signed-note, tlog-cosignature).
const (
	logKey     = 1
	witnessKey = 4
)

// keyID is the id of a key (C2SP signed-note).
func keyID(name string, kind byte, public ed25519.PublicKey) (id [4]byte) {
	sum := sha256.Sum256(append(append([]byte(name+"\n"), kind), public...))
	copy(id[:], sum[:])
	return id
}

// Witness is a witness by its name and public key, which come from the witness itself.
type Witness struct {
	Name   string
	Public ed25519.PublicKey
}

// isOf tells whether a line claims to be a cosignature of the witness.
func (w Witness) isOf(s signatureLine) bool {
	return s.name == w.Name && s.key == keyID(w.Name, witnessKey, w.Public)
}

// cosigned tells whether a line is the witness's cosignature of a checkpoint's body (C2SP tlog-cosignature).
func (w Witness) cosigned(s signatureLine, body string) bool {
	if len(s.signature) != 8+ed25519.SignatureSize {
		return false
	}
	var seconds uint64
	for _, b := range s.signature[:8] {
		seconds = seconds<<8 | uint64(b)
	}
	message := "cosignature/v1\ntime " + strconv.FormatUint(seconds, 10) + "\n" + body
	return ed25519.Verify(w.Public, []byte(message), s.signature[8:])
}

// signedBy tells whether a key of the log has signed the checkpoint.
func (c Checkpoint) signedBy(public ed25519.PublicKey) bool {
	id := keyID(c.Origin, logKey, public)
	for _, s := range c.signatures {
		if s.name == c.Origin && s.key == id && ed25519.Verify(public, []byte(c.body), s.signature) {
			return true
		}
	}
	return false
}
