package node

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc/metadata"
)

// The message and the trailers of a refused call are header fields of HTTP/2. Official clients
// take 8 KiB of these for certain (grpc: "soft limit" of the metadata's size) and lose the whole
// answer when there are more, while a name of a stream may have 4094 bytes and three times as
// many when it is encoded. sendable is the one place by which every failure goes out.
const (
	// maxErrorBytes bounds message and trailers as they are sent, counted as in RFC 7541,
	// section 4.1; the rest of 8 KiB is left to the fields of the transport.
	maxErrorBytes = 7 << 10
	// fieldOverhead is what a header field counts beside its name and value.
	fieldOverhead = 32

	// what the trailers have at most, as they are sent; every other one has maxTrailerBytes
	maxStreamNameTrailer = 4 << 10
	maxGroupNameTrailer  = 1 << 10
	maxTrailerBytes      = 256

	// what a name has at most in a message, as it is sent: one that is alone there, and each of two
	maxNameInMessage  = 1 << 10
	maxNamesInMessage = 512
)

const messageField = "grpc-message"

// sendable returns the failure as it is sent: names in trailers are percent-encoded where they
// have to be, and what is too long is cut.
func (f *failure) sendable() *failure {
	room := maxErrorBytes - len(messageField) - fieldOverhead
	out := &failure{code: f.code, detail: f.detail, trailers: make(metadata.MD, len(f.trailers))}
	for key, values := range f.trailers {
		most := maxTrailerBytes
		switch key {
		case "stream-name":
			most = maxStreamNameTrailer
		case "group-name":
			most = maxGroupNameTrailer
		}
		value := encodedName(strings.Join(values, ","), most)
		out.trailers[key] = []string{value}
		room -= len(key) + len(value) + fieldOverhead
	}
	out.message = cut(f.message, room, asItIs, messageBytes, fmt.Sprintf("… (%d bytes)", len(f.message)))
	return out
}

// encodedName is a name as the value of a trailer: as it is when it consists of printable
// ASCII, else percent-encoded. One that would have more than most bytes ends with three dots.
func encodedName(name string, most int) string {
	encode := asItIs
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
		encode = url.PathEscape
	}
	return cut(name, most, encode, func(sent string) int { return len(sent) }, "...")
}

// inMessage is a name within a message, of at most so many bytes as they are sent. One with
// characters that cannot be shown is percent-encoded: some clients read messages by the line.
func inMessage(name string, most int) string {
	encode := asItIs
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		encode = url.PathEscape
	}
	return cut(name, most, encode, messageBytes, fmt.Sprintf("… (%d bytes)", len(name)))
}

// messageBytes is how many bytes a text has as a message that gRPC sends: the field is
// percent-encoded, and what is no UTF-8 is replaced.
func messageBytes(text string) (n int) {
	for _, r := range text {
		if r < ' ' || r > '~' || r == '%' {
			n += 3 * utf8.RuneLen(r)
		} else {
			n++
		}
	}
	return n
}

func asItIs(text string) string { return text }

// cut returns a text with each character as encode gives it. What would have more than most
// bytes, as bytesOf counts them, is cut between two characters, and has end behind.
func cut(text string, most int, encode func(string) string, bytesOf func(string) int, end string) string {
	var out strings.Builder
	room, size, kept := most-bytesOf(end), 0, 0
	for i := 0; i < len(text); {
		_, width := utf8.DecodeRuneInString(text[i:])
		character := encode(text[i : i+width])
		if size += bytesOf(character); size > most {
			return out.String()[:kept] + end
		}
		if out.WriteString(character); size <= room {
			kept = out.Len()
		}
		i += width
	}
	return out.String()
}
