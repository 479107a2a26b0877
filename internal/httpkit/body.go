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

	"reckon/internal/httpserver"
)

const (
	// MaxJSONBytes is the largest JSON body (interface §8).
	MaxJSONBytes = 1 << 20
	// maxPublicBytes is the largest JSON body of a Public route: a client without a
	// credential cannot make the service hold MaxJSONBytes.
	maxPublicBytes = 64 << 10
	// maxDrainBytes is how much of an oversized body is read and discarded, so that a
	// client that is still sending receives its 413 instead of a reset connection.
	maxDrainBytes = 64 << 20
)

// readJSON reads a JSON body of at most limitBytes, checks it with CheckJSON and returns
// it for decodeJSON. httpserver bounds how slowly it may arrive.
func readJSON(r *http.Request, limitBytes int64) ([]byte, *Problem) {
	if !isJSON(r.Header) {
		return nil, NotJSON.Problem("the body must be application/json in UTF-8 without Content-Encoding")
	}
	if r.ContentLength > limitBytes {
		return nil, refuseLength(r, limitBytes)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limitBytes+1))
	switch {
	case err != nil && isTimeout(err):
		return nil, tooSlow()
	case err != nil:
		return nil, InvalidRequest.Problem("the body could not be read to its end").WithCause(err)
	case int64(len(body)) > limitBytes:
		httpserver.Discard(r.Body, maxDrainBytes)
		return nil, tooLarge(limitBytes)
	case len(bytes.TrimSpace(body)) == 0:
		return nil, BodyRequired.Problem("the request needs a JSON object as its body")
	}
	if err := CheckJSON(body); err != nil {
		return nil, InvalidJSON.Problem("%s", err.Error())
	}
	return writeIntegersPlainly(body), nil
}

// refuseLength is the problem of a body that is declared larger than its limit. A client that waits for 100 Continue sends none of it.
func refuseLength(r *http.Request, limitBytes int64) *Problem {
	if !strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		httpserver.Discard(r.Body, maxDrainBytes)
	}
	return tooLarge(limitBytes)
}

func tooLarge(limitBytes int64) *Problem {
	return TooLarge.Problem("the body is larger than %d bytes", limitBytes)
}

func tooSlow() *Problem {
	return BodyTimeout.Problem("the body stood still, or came too slowly; send the request again")
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isJSON(header http.Header) bool {
	for encoding := range strings.SplitSeq(header.Get("Content-Encoding"), ",") {
		if encoding = strings.TrimSpace(encoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
			return false
		}
	}
	declared := header.Values("Content-Type")
	if len(declared) == 0 {
		return true
	}
	media, parameters, err := mime.ParseMediaType(declared[0]) // in lower case
	if err != nil || media != "application/json" || len(declared) > 1 {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

type uploadKey struct{}

// Upload returns the body of a Route with UploadBytes. It is read as it arrives and never
// buffered whole. Beyond UploadBytes Read returns a *Problem of kind TooLarge; a body that
// is too slow for httpserver's limits, one of kind BodyTimeout.
func Upload(ctx context.Context) io.Reader {
	reader, ok := ctx.Value(uploadKey{}).(io.Reader)
	if !ok {
		return bytes.NewReader(nil)
	}
	return reader
}

// UploadHeader returns the header of a request to a Route with UploadBytes, for who must read what signs the body.
func UploadHeader(ctx context.Context) http.Header {
	reader, ok := ctx.Value(uploadKey{}).(*uploadReader)
	if !ok {
		return http.Header{}
	}
	return reader.header
}

type uploadReader struct {
	header http.Header
	body   io.Reader
	left   int64
	limit  int64
}

func newUpload(r *http.Request, limitBytes int64) *uploadReader {
	return &uploadReader{header: r.Header, body: r.Body, left: limitBytes, limit: limitBytes}
}

// Read is io.Reader.
func (u *uploadReader) Read(p []byte) (int, error) {
	if int64(len(p)) > u.left+1 {
		p = p[:u.left+1]
	}
	n, err := u.body.Read(p)
	if int64(n) > u.left {
		httpserver.Discard(u.body, maxDrainBytes)
		return int(u.left), tooLarge(u.limit)
	}
	u.left -= int64(n)
	if err != nil && isTimeout(err) {
		return n, tooSlow()
	}
	return n, err
}
