package cluster

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Headers of what processes send each other.
const (
	signatureHeader = "X-Reckon-Peer"  // what signature returns
	digestHeader    = "X-Reckon-Body"  // SHA-256 of the body, hex
	toHeader        = "X-Reckon-To"    // runner id of the receiver
	sentHeader      = "X-Reckon-Sent"  // when, in Unix milliseconds
	nonceHeader     = "X-Reckon-Nonce" // nonceBytes random bytes, hex
)

const nonceBytes = 16

// maxClockDifference is how far the sender's clock may be from the receiver's, the time under
// way included. A request that was recorded is useless after it.
const maxClockDifference = time.Minute

// seal is what the signature of a request and of its answer covers beside the body: a request
// cannot be sent to another process, later, or twice, nor an answer to another request.
type seal struct {
	to    string
	at    int64
	nonce string
}

func newNonce() string {
	var random [nonceBytes]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand documents it)
	return hex.EncodeToString(random[:])
}

// readSeal reads the seal of a request; false when a part of it is missing.
func readSeal(header http.Header) (s seal, ok bool) {
	at, err := strconv.ParseInt(header.Get(sentHeader), 10, 64)
	s = seal{to: header.Get(toHeader), at: at, nonce: header.Get(nonceHeader)}
	return s, err == nil && s.to != "" && len(s.nonce) == 2*nonceBytes
}

// direction says which way a message goes; it is part of what is signed, so that an
// answer cannot be sent back as a request.
type direction string

const (
	directionRequest direction = "ask"
	directionAnswer  direction = "answer"
)

// signRequest sets the headers of a request.
func (s seal) signRequest(header http.Header, secret, body []byte) {
	header.Set(toHeader, s.to)
	header.Set(sentHeader, strconv.FormatInt(s.at, 10))
	header.Set(nonceHeader, s.nonce)
	s.sign(header, directionRequest, secret, body)
}

// signAnswer sets the headers of the answer to the request with this seal.
func (s seal) signAnswer(header http.Header, secret, body []byte) {
	s.sign(header, directionAnswer, secret, body)
}

func (s seal) sign(header http.Header, d direction, secret, body []byte) {
	digest := sha256.Sum256(body)
	header.Set(digestHeader, hex.EncodeToString(digest[:]))
	header.Set(signatureHeader, s.signature(d, secret, int64(len(body)), header.Get(digestHeader)))
}

// requestSigned tells whether a request has the signature of its seal, length and digest.
func (s seal) requestSigned(header http.Header, secret []byte, length int64) bool {
	return s.signed(header, directionRequest, secret, length)
}

// answerSigned tells whether an answer is signed for the request with this seal.
func (s seal) answerSigned(header http.Header, secret []byte, length int64) bool {
	return s.signed(header, directionAnswer, secret, length)
}

func (s seal) signed(header http.Header, d direction, secret []byte, length int64) bool {
	return hmac.Equal([]byte(s.signature(d, secret, length, header.Get(digestHeader))), []byte(header.Get(signatureHeader)))
}

// signature is HMAC-SHA256 (RFC 2104) under the installation's secret, in hex. %q keeps the
// parts apart.
func (s seal) signature(d direction, secret []byte, length int64, digest string) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(mac, "%s %q %d %q %d %q", d, s.to, s.at, s.nonce, length, digest) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// digestMatches tells whether a body has the digest in its header.
func digestMatches(header http.Header, body []byte) bool {
	digest := sha256.Sum256(body)
	return header.Get(digestHeader) == hex.EncodeToString(digest[:])
}

// nonces remembers every nonce for at least as long as its request can be accepted: twice
// maxClockDifference. Only peers can add to it.
type nonces struct {
	mu              sync.Mutex
	recent, earlier map[string]bool // earlier: added before begun
	begun           time.Time       // when recent was
}

// add returns false for a nonce that was added before.
func (n *nonces) add(nonce string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.recent == nil || now.Sub(n.begun) > 2*maxClockDifference {
		n.recent, n.earlier, n.begun = map[string]bool{}, n.recent, now
	}
	if n.recent[nonce] || n.earlier[nonce] {
		return false
	}
	n.recent[nonce] = true
	return true
}
