package node

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
)

// clientTakes is what gRPC's clients take of trailers for certain, counted as in RFC 7541, section 4.1.
const clientTakes = 8 << 10

// sentBytes is what a failure counts for a client, with the fields that the transport adds.
func sentBytes(f *failure) int {
	n := 0
	field := func(key, value string) { n += len(key) + len(value) + 32 }
	field(":status", "200")
	field("content-type", "application/grpc")
	field("grpc-status", "16")
	message := 0
	for _, r := range f.message { // as gRPC encodes the message; what is no UTF-8 becomes U+FFFD
		if r >= ' ' && r <= '~' && r != '%' {
			message++
		} else {
			message += 3 * len(string(r))
		}
	}
	n += len("grpc-message") + message + 32
	for key, values := range f.trailers {
		for _, value := range values {
			field(key, value)
		}
	}
	return n
}

// anyName draws names of up to so many bytes, short and long, of text and of arbitrary bytes.
func anyName(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		part := rapid.OneOf(rapid.SampledFrom([]string{"a", "%", "é", "\xff", "\x00", "\n", "\"", "界", "😀", "\u200b", " "}), rapid.StringN(0, 20, 60),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 60), func(b []byte) string { return string(b) })).Draw(t, "part")
		times := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, most)).Draw(t, "times")
		if len(part) > 0 {
			times = min(times, most/len(part))
		}
		return strings.Repeat(part, times)
	})
}

// Every failure that carries a name reaches a client that takes 8 KiB, whatever the name: what
// errors become of is whole, and a name that was not cut is the one that was asked for.
func TestEveryFailureFitsItsTrailers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stream, other := anyName(eventlog.MaxStreamNameBytes).Draw(t, "stream"), anyName(100_000).Draw(t, "group")
		group := groupName{Stream: stream, Group: other}
		text := anyName(20_000).Draw(t, "text")
		for _, c := range []struct {
			err       error
			exception string
		}{
			{&eventlog.WrongExpectedRevisionError{Stream: stream, Expected: eventlog.Revision(1<<63 - 1), Actual: 1<<62 - 1}, "wrong-expected-version"},
			{&eventlog.StreamDeletedError{Stream: stream}, "stream-deleted"},
			{&eventlog.AccessDeniedError{Stream: stream, Operation: "append to"}, "access-denied"},
			{denied("access is denied to ann: " + access.NeedOf(access.Write, stream).String()), "access-denied"},
			{&eventlog.CorruptError{Dir: text, Position: 1, Reason: "stream " + eventlog.Quoted(stream) + " has revision 1 where 2 belongs"}, ""},
			{&eventlog.IndexError{Dir: text, Reason: eventlog.Quoted(stream), Err: errors.New(text)}, ""},
			{&eventlog.StorageError{Dir: text, Operation: text, Err: errors.New(text)}, ""},
			{&eventlog.InvalidRequestError{Reason: text}, ""},
			{fmt.Errorf("read of %s: %w", text, io.ErrUnexpectedEOF), ""},
			{group.missing(), "persistent-subscription-does-not-exist"},
			{group.dropped(), "persistent-subscription-dropped"},
			{group.refused(text), "persistent-subscription-failed"},
			{group.failure(codes.AlreadyExists, "persistent-subscription-exists", "it exists"), "persistent-subscription-exists"},
			{group.full(), "maximum-subscribers-reached"},
			{userFailure(access.ErrNoSuchUser, other), "user-not-found"},
			{userFailure(access.ErrUserExists, other), "user-conflict"},
		} {
			f := failureOf(fmt.Errorf("%w", c.err))
			if n := sentBytes(f); n > clientTakes {
				t.Fatalf("%T: %d bytes", c.err, n)
			}
			if c.exception != "" && (len(f.trailers.Get("exception")) != 1 || f.trailers.Get("exception")[0] != c.exception) {
				t.Fatalf("%T: trailers %v", c.err, f.trailers)
			}
			for key, name := range map[string]string{"stream-name": stream, "group-name": other} {
				for _, value := range f.trailers.Get(key) {
					checkName(t, key, value, name)
				}
			}
		}
	})
}

// checkName checks that a trailer holds a name, or the beginning of one that is too long.
func checkName(t *rapid.T, key, value, name string) {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Fatalf("%s: %q may not be sent", key, value)
	}
	if value == name {
		return
	}
	decoded, err := url.PathUnescape(value)
	if err == nil && decoded == name {
		return
	}
	begin, isCut := strings.CutSuffix(value, "...")
	if !strings.HasPrefix(name, begin) {
		if begin, err = url.PathUnescape(begin); err != nil {
			t.Fatalf("%s: %.80q: %v", key, value, err)
		}
	}
	if !isCut || !strings.HasPrefix(name, begin) || len(value) < 1000 {
		t.Fatalf("%s: %.80q of %.80q", key, value, name)
	}
}

// The same through the transport, to a client that takes no more: typed errors arrive for streams and groups with the longest names.
func TestLongNamesReachAClient(t *testing.T) {
	t.Parallel()
	r := start(t)
	conn := r.raw(t, grpc.WithMaxHeaderListSize(clientTakes))
	client, groups := streams.NewStreamsClient(conn), persistent.NewPersistentSubscriptionsClient(conn)
	for _, character := range []string{"a", "%", "é", "\xff", "\x00", "\n", "\"", "😀"} {
		name := strings.Repeat(character, eventlog.MaxStreamNameBytes/len(character))
		id := streamToWire(name)
		refused := func(what string, code codes.Code, exception string, call func(grpc.CallOption) error) {
			t.Helper()
			var trailer metadata.MD
			err := call(grpc.Trailer(&trailer))
			if status.Code(err) != code || len(trailer.Get("exception")) != 1 || trailer.Get("exception")[0] != exception {
				t.Errorf("%q %s: %.200v, trailers %.300v", character, what, err, fmt.Sprint(trailer))
			}
			if got := trailer.Get("stream-name"); len(got) != 1 || character == "a" && got[0] != name {
				t.Errorf("%q %s: stream-name %.80v", character, what, got)
			}
		}
		deletion := &streams.DeleteReq{Options: &streams.DeleteReq_Options{StreamIdentifier: id, ExpectedStreamRevision: &streams.DeleteReq_Options_Revision{Revision: 7}}}
		refused("deletion", codes.FailedPrecondition, "wrong-expected-version", func(o grpc.CallOption) error {
			_, err := client.Delete(testCtx(t), deletion, o)
			return err
		})
		tombstone := &streams.TombstoneReq{Options: &streams.TombstoneReq_Options{StreamIdentifier: id, ExpectedStreamRevision: &streams.TombstoneReq_Options_Any{Any: &shared.Empty{}}}}
		if _, err := client.Tombstone(testCtx(t), tombstone); err != nil {
			t.Fatal(err)
		}
		refused("second tombstone", codes.FailedPrecondition, "stream-deleted", func(o grpc.CallOption) error {
			_, err := client.Tombstone(testCtx(t), tombstone, o)
			return err
		})
		refused("read", codes.FailedPrecondition, "stream-deleted", func(o grpc.CallOption) error {
			read, err := client.Read(testCtx(t), &streams.ReadReq{Options: &streams.ReadReq_Options{
				StreamOption: streamOption(name), CountOption: &streams.ReadReq_Options_Count{Count: 1}, UuidOption: &streams.ReadReq_Options_UUIDOption{},
				FilterOption: &streams.ReadReq_Options_NoFilter{}, ReadDirection: streams.ReadReq_Options_Backwards,
			}}, o)
			for err == nil {
				_, err = read.Recv()
			}
			return err
		})
		refused("group that is missing", codes.NotFound, "persistent-subscription-does-not-exist", func(o grpc.CallOption) error {
			_, err := groups.GetInfo(testCtx(t), &persistent.GetInfoReq{Options: &persistent.GetInfoReq_Options{
				StreamOption: &persistent.GetInfoReq_Options_StreamIdentifier{StreamIdentifier: id}, GroupName: strings.Repeat("é", 2500),
			}}, o)
			return err
		})
		refused("name of a group that is too long", codes.Internal, "persistent-subscription-failed", func(o grpc.CallOption) error {
			_, err := groups.Create(testCtx(t), &persistent.CreateReq{Options: &persistent.CreateReq_Options{
				StreamOption: &persistent.CreateReq_Options_Stream{Stream: &persistent.CreateReq_StreamOptions{StreamIdentifier: id}}, GroupName: strings.Repeat("é", 2500),
				Settings: &persistent.CreateReq_Settings{HistoryBufferSize: 500, ReadBatchSize: 20},
			}}, o)
			return err
		})
	}
}
