package transparency

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ed25519Note is the type of an Ed25519 signature on a note (C2SP signed-note).
const ed25519Note = 1

// MaxOriginBytes bounds the name of a log.
const MaxOriginBytes = 128

// CheckOrigin returns an error for what cannot name a log: C2SP signed-note takes neither spaces nor a plus sign in the name of a
// key, and the name of the log is that of its keys.
func CheckOrigin(origin string) error {
	refused := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '+' }
	if origin == "" || len(origin) > MaxOriginBytes || !utf8.ValidString(origin) || strings.ContainsFunc(origin, refused) {
		return fmt.Errorf("origin %q: say 1 to %d bytes without spaces, control characters and plus signs, such as example.org/transparency", origin, MaxOriginBytes)
	}
	return nil
}

// Body is what a checkpoint says of the tree (C2SP tlog-checkpoint): origin, size, root.
func Body(origin string, size int64, root Hash) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, size, root)
}

// chainWord begins the extension line of a checkpoint that commits to the event log.
const chainWord = "chain"

// Line is the extension line of a checkpoint (C2SP tlog-checkpoint) with its line feed; empty of nil.
func (c *Chain) Line() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %d %s\n", chainWord, c.Log, c.Position, c.Link)
}

var (
	chainText  = regexp.MustCompile(`^chain ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([1-9][0-9]{0,15}) ([0-9a-f]{64})$`)
	errNoChain = errors.New("the checkpoint's line of the event log's chain is none: chain, the log's id, a position and a link (docs/transparency.md)")
)

// ReadChain reads the chain among the extension lines of a checkpoint; nil without one. Other lines are others'.
func ReadChain(lines []string) (c *Chain, err error) {
	for _, line := range lines {
		if !strings.HasPrefix(line, chainWord+" ") {
			continue
		}
		found := chainText.FindStringSubmatch(line)
		if found == nil || c != nil {
			return nil, errNoChain
		}
		position, err := strconv.ParseUint(found[2], 10, 64)
		if err != nil {
			return nil, errNoChain
		}
		c = &Chain{Log: found[1], Position: position, Link: found[3]}
	}
	return c, nil
}

// Continues tells whether a log may have grown from an older chain to this one. Without more leaves they are the same. With more, the chain of
// the same log is longer; the log may have been migrated to another one, or to a server without a chain, which are not comparable.
func (c *Chain) Continues(older *Chain, grown bool) bool {
	if !grown {
		return c.Line() == older.Line()
	}
	return c.LogID() != older.LogID() || c == nil || c.Position > older.Position
}

// LogID is the id of the log; empty of nil.
func (c *Chain) LogID() string {
	if c == nil {
		return ""
	}
	return c.Log
}

// keyHash is the id of a key by C2SP signed-note.
func keyHash(origin string, public ed25519.PublicKey) uint32 {
	sum := sha256.Sum256(append([]byte(origin+"\n"), keyMaterial(public)...))
	return binary.BigEndian.Uint32(sum[:])
}

func keyMaterial(public ed25519.PublicKey) []byte {
	return append([]byte{ed25519Note}, public...)
}

// VerifierKey is the text by which others know a key of a log (C2SP signed-note, verifier keys).
func VerifierKey(origin string, public ed25519.PublicKey) string {
	var id [4]byte
	binary.BigEndian.PutUint32(id[:], keyHash(origin, public))
	return origin + "+" + hex.EncodeToString(id[:]) + "+" + base64.StdEncoding.EncodeToString(keyMaterial(public))
}

// SignatureLine is the line of a note with a signature of the origin's.
func SignatureLine(origin string, public ed25519.PublicKey, signature []byte) string {
	id := binary.BigEndian.AppendUint32(nil, keyHash(origin, public))
	return "— " + origin + " " + base64.StdEncoding.EncodeToString(append(id, signature...)) + "\n"
}

// SizeOfBody is the size in a body of an origin's; false for what is none.
func SizeOfBody(origin, body string) (size int64, ok bool) {
	rest, ok := strings.CutPrefix(body, origin+"\n")
	if !ok {
		return 0, false
	}
	digits, _, _ := strings.Cut(rest, "\n")
	size, err := strconv.ParseInt(digits, 10, 64)
	return size, err == nil && size >= 0
}
