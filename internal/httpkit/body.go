package httpkit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// MaxJSONBytes is the largest JSON body (spec §8).
	MaxJSONBytes = 1 << 20
	// bodyTimeout is how long a JSON body may take to arrive.
	bodyTimeout = 20 * time.Second
	// idleUploadTimeout is how long an upload may stand still.
	idleUploadTimeout = 30 * time.Second
	// maxDrainBytes is how much of an oversized body is read and thrown away, so
	// that a client that is still sending reads its 413 instead of a reset.
	maxDrainBytes = 8 << 20
)

// readJSON reads, bounds and checks a JSON body and returns it for huma to decode.
func readJSON(w http.ResponseWriter, r *http.Request) (io.ReadCloser, *Problem) {
	if !isJSON(r.Header) {
		return nil, NotJSON.Problem("the body must be application/json in UTF-8 without Content-Encoding")
	}
	if r.ContentLength > MaxJSONBytes && strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return nil, tooLarge(MaxJSONBytes)
	}
	control := http.NewResponseController(w)
	// A connection that has no deadlines (a test recorder) has none to set.
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()

	body, err := io.ReadAll(io.LimitReader(r.Body, MaxJSONBytes+1))
	switch {
	case err != nil && isTimeout(err):
		return nil, BodyTimeout.Problem("the body did not arrive within %d seconds", bodyTimeout/time.Second)
	case err != nil:
		return nil, InvalidRequest.Problem("the body could not be read to its end").Because(err)
	case len(body) > MaxJSONBytes:
		_, _ = io.CopyN(io.Discard, r.Body, maxDrainBytes)
		return nil, tooLarge(MaxJSONBytes)
	case len(bytes.TrimSpace(body)) == 0:
		return nil, BodyRequired.Problem("the request needs a JSON object as its body")
	}
	if err := CheckJSON(body); err != nil {
		return nil, InvalidJSON.Problem("%s", err.Error())
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

func tooLarge(limitBytes int64) *Problem {
	return TooLarge.Problem("the body is larger than %d bytes", limitBytes)
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isJSON(header http.Header) bool {
	if header.Get("Content-Encoding") != "" {
		return false
	}
	declared := header.Get("Content-Type")
	if declared == "" {
		return true
	}
	media, parameters, err := mime.ParseMediaType(declared)
	if err != nil || media != "application/json" {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

type uploadKey struct{}

// Upload is the body of a Route with UploadBytes, as it arrives: never buffered
// whole, bounded, and with a deadline that moves as long as bytes come.
// A body over the bound ends in a Problem of kind TooLarge.
func Upload(ctx context.Context) io.Reader {
	reader, ok := ctx.Value(uploadKey{}).(io.Reader)
	if !ok {
		return bytes.NewReader(nil)
	}
	return reader
}

type uploadReader struct {
	body    io.Reader
	control *http.ResponseController
	left    int64
	limit   int64
}

func newUpload(w http.ResponseWriter, r *http.Request, limitBytes int64) *uploadReader {
	return &uploadReader{body: r.Body, control: http.NewResponseController(w), left: limitBytes, limit: limitBytes}
}

// Read is io.Reader.
func (u *uploadReader) Read(p []byte) (int, error) {
	if int64(len(p)) > u.left+1 {
		p = p[:u.left+1]
	}
	_ = u.control.SetReadDeadline(time.Now().Add(idleUploadTimeout))
	n, err := u.body.Read(p)
	if int64(n) > u.left {
		_, _ = io.CopyN(io.Discard, u.body, maxDrainBytes)
		return int(u.left), tooLarge(u.limit)
	}
	u.left -= int64(n)
	switch {
	case err == nil:
		return n, nil
	case isTimeout(err):
		return n, BodyTimeout.Problem("the upload stood still for %d seconds", idleUploadTimeout/time.Second)
	}
	_ = u.control.SetReadDeadline(time.Time{})
	return n, err
}
