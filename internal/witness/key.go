package witness

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"reckon/domain/transparency"
)

// cosignatureType is the type of an Ed25519 cosignature (C2SP tlog-cosignature).
const cosignatureType = 4

// cosignatureBytes is the length of a cosignature: a time in seconds, and an Ed25519 signature.
const cosignatureBytes = 8 + ed25519.SignatureSize

// Key is the public half of a witness's key. It is a note.Verifier of cosignatures.
type Key struct {
	name   string
	public ed25519.PublicKey
}

// NewKey is the key of a name.
func NewKey(name string, public ed25519.PublicKey) (Key, error) {
	return Key{name, public}, transparency.CheckOrigin(name)
}

var errNoKey = errors.New("not the verifier key of a witness: NAME+ID+KEY of type 4 (C2SP tlog-cosignature)")

// ParseKey reads a verifier key of a witness.
func ParseKey(text string) (Key, error) {
	name, rest, _ := strings.Cut(text, "+")
	_, encoded, _ := strings.Cut(rest, "+")
	material, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(material) != 1+ed25519.PublicKeySize || material[0] != cosignatureType {
		return Key{}, errNoKey
	}
	k, err := NewKey(name, material[1:])
	if err != nil || k.String() != text {
		return Key{}, errNoKey
	}
	return k, nil
}

func (k Key) material() []byte { return append([]byte{cosignatureType}, k.public...) }

// String is the verifier key.
func (k Key) String() string {
	id := binary.BigEndian.AppendUint32(nil, k.KeyHash())
	return k.name + "+" + hex.EncodeToString(id) + "+" + base64.StdEncoding.EncodeToString(k.material())
}

// Name is note.Verifier.
func (k Key) Name() string { return k.name }

// Public is the Ed25519 key.
func (k Key) Public() ed25519.PublicKey { return k.public }

// KeyHash is note.Verifier.
func (k Key) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(k.name+"\n"), k.material()...))
	return binary.BigEndian.Uint32(sum[:])
}

// Verify is note.Verifier.
func (k Key) Verify(body, cosignature []byte) bool {
	if len(cosignature) != cosignatureBytes {
		return false
	}
	seconds := binary.BigEndian.Uint64(cosignature)
	return ed25519.Verify(k.public, message(seconds, body), cosignature[8:])
}

// message is what a witness signs of a checkpoint's body.
func message(seconds uint64, body []byte) []byte {
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, body)
}

// signer is the private half. It is a note.Signer.
type signer struct {
	Key
	private ed25519.PrivateKey
	now     func() time.Time
}

// Sign is note.Signer.
func (s signer) Sign(body []byte) ([]byte, error) {
	seconds := uint64(max(1, s.now().Unix())) // a cosignature of a checkpoint must not leave the time out
	return append(binary.BigEndian.AppendUint64(nil, seconds), ed25519.Sign(s.private, message(seconds, body))...), nil
}

var _ note.Signer = signer{}

// Peer is a witness that is asked.
type Peer struct {
	Key Key
	URL string // submission prefix, without a slash at the end
}

// ParsePeer reads a verifier key and an address with a space between them.
func ParsePeer(text string) (Peer, error) {
	key, address, _ := strings.Cut(text, " ")
	k, err := ParseKey(key)
	if err != nil {
		return Peer{}, fmt.Errorf("witness %q: %w", text, err)
	}
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" || at.User != nil {
		return Peer{}, fmt.Errorf("witness %s: say its address after its key and a space, such as https://witness.example", k.name)
	}
	return Peer{Key: k, URL: strings.TrimRight(address, "/")}, nil
}

// ParsePeers reads the peers of one log. Two with one key, or with one name, are refused: a quorum would count one witness twice, or
// wait for one of them for ever.
func ParsePeers(texts []string) (peers []Peer, err error) {
	for _, text := range texts {
		peer, err := ParsePeer(text)
		if err != nil {
			return nil, err
		}
		for _, other := range peers {
			if other.Key.name == peer.Key.name || other.Key.public.Equal(peer.Key.public) {
				return nil, fmt.Errorf("witnesses %s and %s are one: name each witness once", other.Key.name, peer.Key.name)
			}
		}
		peers = append(peers, peer)
	}
	return peers, nil
}
