package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"reckon/domain/event"
	"reckon/eventstore"
	"reckon/internal/config"
)

// shownEvent is an event as tail, show and trace print it.
type shownEvent struct {
	Position uint64          `json:"position"` // in the log
	Stream   string          `json:"stream"`
	Revision event.Revision  `json:"revision"`
	ID       string          `json:"id"`
	Event    string          `json:"event"`
	Version  int             `json:"version"` // under which it is stored; 0: an event without the service's metadata
	Data     json.RawMessage `json:"data"`    // as its newest version has it; as it is stored where that cannot be told
	Metadata json.RawMessage `json:"metadata"`
	// Unreadable is why Data is as stored: the event is of a type or a version that this binary does not know, or damaged.
	Unreadable string `json:"unreadable,omitempty"`

	meta event.Metadata
}

// decodeShown makes an event readable as far as it can be: what cannot be decoded is shown as it is stored.
func decodeShown(catalogue event.Catalogue, raw eventstore.Raw) shownEvent {
	e := shownEvent{
		Position: raw.Position.Commit, Stream: raw.Stream, Revision: raw.Revision, ID: raw.ID.String(), Event: raw.Name,
		Data: storedJSON(raw.Data), Metadata: storedJSON(raw.Metadata),
	}
	if err := json.Unmarshal(raw.Metadata, &e.meta); err != nil && len(raw.Metadata) > 0 {
		e.Unreadable = "metadata: " + err.Error()
	}
	e.Version = e.meta.Version
	if _, known := catalogue[raw.Name]; !known && isServiceStream(raw.Stream) {
		e.Unreadable = "this binary knows no event of this name"
	} else if known && e.Unreadable == "" {
		decoded, err := catalogue.Decode(raw.Name, e.Version, raw.Data)
		if err == nil {
			var data []byte
			if data, err = event.Marshal(decoded); err == nil {
				e.Data = data
			}
		}
		if err != nil {
			e.Unreadable = err.Error()
		}
	}
	return e
}

// isServiceStream tells whether a stream is the service's, and not one of the store or the mark of the log's identity.
func isServiceStream(stream string) bool {
	return !strings.HasPrefix(stream, "$") && stream != eventstore.IdentityStream
}

// storedJSON is JSON as it is stored, and other bytes as a JSON string.
func storedJSON(stored []byte) json.RawMessage {
	if json.Valid(stored) {
		return stored
	}
	text, err := json.Marshal(string(stored))
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// The bounds of what is printed of an event for people, in bytes.
const (
	longestText = 200  // of one string of its data
	longestData = 2000 // of its data
	longestName = 200  // of the name of a stream or a type
)

// cutData is JSON whose strings are no longer than longestText and whose text is no longer than most: what is left out is
// said with its size. A text that was cut is no JSON.
func cutData(data json.RawMessage, most int) string {
	short, err := cutStrings(data)
	if err != nil {
		short = data
	}
	text := escapeUnprintable(string(short))
	if len(text) <= most {
		return text
	}
	return cutText(text, most) + fmt.Sprintf(" … (%d bytes in all)", len(data))
}

// cutStrings is JSON in which every long string ends with its size.
func cutStrings(data []byte) ([]byte, error) {
	var out bytes.Buffer
	from, to := jsontext.NewDecoder(bytes.NewReader(data)), jsontext.NewEncoder(&out)
	for {
		token, err := from.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes()), nil
		}
		if err != nil {
			return nil, err
		}
		if token.Kind() == '"' {
			if text := token.String(); len(text) > longestText {
				token = jsontext.String(cutText(text, longestText) + fmt.Sprintf("… (%d bytes)", len(text)))
			}
		}
		if err := to.WriteToken(token); err != nil {
			return nil, err
		}
	}
}

// cutText is the first bytes of a text, at most so many, and no part of a character.
func cutText(text string, most int) string {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// escapeUnprintable writes as \uXXXX what a terminal would obey or not show: control characters, those that change the direction of
// the text, and those without a picture. Inside the strings of JSON that is the same value.
func escapeUnprintable(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// shownName is a stream's or a type's name as a terminal may show it.
func shownName(name string) string {
	if len(name) > longestName {
		name = cutText(name, longestName) + "…"
	}
	return escapeUnprintable(name)
}

// line is an event in one line.
func (e shownEvent) line() string {
	text := fmt.Sprintf("%d  %s  %s@%d  %s  %s", e.Position, shownTime(e.meta.At), shownName(e.Stream), e.Revision, shownName(e.Event), cutData(e.Data, longestData))
	if e.Unreadable != "" {
		text += "  (unreadable: " + shownReason(e.Unreadable) + ")"
	}
	return text
}

// json is an event as one line of JSON, whole.
func (e shownEvent) json() (string, error) {
	text, err := event.Marshal(e)
	return escapeUnprintable(string(text)), err
}

func shownReason(reason string) string {
	if len(reason) > longestText {
		reason = cutText(reason, longestText) + "…"
	}
	return escapeUnprintable(reason)
}

func shownTime(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return event.Timestamp(at)
}

// withOutput calls f with a context that ends on Ctrl-C, on SIGTERM and when nobody reads standard output any more: these three
// are the ends of a command that prints until it is told to stop, and no errors of it.
func withOutput(f func(context.Context) error) error {
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe is an error then, and does not end the process
	ctx, stop := untilSignal()
	defer stop()
	ctx, closed := context.WithCancel(ctx)
	defer closed()
	go func() {
		awaitClosedOutput(ctx)
		closed()
	}()
	err := f(ctx)
	if errors.Is(err, syscall.EPIPE) || ctx.Err() != nil {
		return nil
	}
	return err
}

// readLog is withOutput that opens the log of the installation, which may be read for as long as it takes.
func (i installation) readLog(f func(context.Context, *settings, *eventstore.Store) error) error {
	return withOutput(func(ctx context.Context) error {
		s, err := i.settings(ctx)
		if err != nil {
			return err
		}
		store, closeStore, err := s.openLog(ctx)
		if err != nil {
			return err
		}
		defer closeStore()
		return f(ctx, s, store)
	})
}

// ownsLog tells whether openLog opens the log's files itself, so that nobody else appends meanwhile.
func (s *settings) ownsLog() bool { return s.log == "" && s.Eventstore == config.EmbeddedLog }

// awaitClosedOutput returns when the reader of standard output has gone, or the context has ended.
func awaitClosedOutput(ctx context.Context) {
	const lookEvery = 500 // milliseconds
	for ctx.Err() == nil {
		output := []unix.PollFd{{Fd: int32(os.Stdout.Fd())}}
		n, err := unix.Poll(output, lookEvery)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // it cannot be told: the next write will
			<-ctx.Done()
		case n > 0 && output[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
			return
		case n > 0:
			<-ctx.Done()
		}
	}
}
