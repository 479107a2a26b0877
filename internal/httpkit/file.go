package httpkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humabunrouter"
	"github.com/uptrace/bunrouter"
)

// binaryType is the media type of files.
const binaryType = "application/octet-stream"

// File is an answer of bytes; it is closed once it is answered.
type File struct {
	Content  io.ReadSeekCloser
	Name     string    // under which a browser stores it
	ETag     string    // without quotes: names the bytes
	Modified time.Time // when they were written
}

// HandleFile adds an operation that answers with a file, or with parts of it, or not at all, as the conditions and ranges of RFC 9110
// (sections 13 and 14) ask for. It adds the kinds, answers and headers that go with them to the description.
func HandleFile[I any](a *API, route Route, handler func(context.Context, *I) (*File, error)) {
	route.ContentType, route.inParts = binaryType, true
	route.Kinds = slices.Concat(route.Kinds, []Kind{ConditionFailed, RangeRefused})
	Handle(a, route, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		file, err := handler(ctx, in)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			r, w := humabunrouter.Unwrap(c)
			file.serve(a, r, w)
		}}, nil
	})
}

// serve answers by http.ServeContent, with the request's ranges and conditions written as it understands them, and its refusals as problems.
func (f *File) serve(a *API, r bunrouter.Request, w http.ResponseWriter) {
	defer func() { _ = f.Content.Close() }()
	size, err := f.Content.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Content.Seek(0, io.SeekStart)
	}
	if err != nil {
		a.WriteProblem(w, r.Request, Internal.Problem("the file cannot be read; it is in the log under this request_id").WithCause(err))
		return
	}
	before := w.Header().Clone()
	header := w.Header()
	header.Set("Content-Type", binaryType)
	header.Set("Content-Disposition", `attachment; filename="`+f.Name+`"`)
	header.Set("ETag", `"`+f.ETag+`"`)
	asked := r.Clone(r.Context())
	for _, list := range validatorLists { // ServeContent reads the first line only
		if lines := asked.Header.Values(list); len(lines) > 1 {
			asked.Header.Set(list, strings.Join(lines, ", "))
		}
	}
	asked.Header.Set(rangeHeader, readableRange(asked.Header.Get(rangeHeader), size))
	http.ServeContent(&fileWriter{ResponseWriter: w, refuse: func(status int) {
		problem := f.refusal(status, size)
		clear(header)
		for name, values := range before {
			header[name] = values
		}
		a.WriteProblem(w, r.Request, problem)
	}}, asked, "", f.Modified, f.Content)
}

// refusal is the problem of a request that http.ServeContent refuses with a status.
func (f *File) refusal(status int, size int64) *Problem {
	switch status {
	case http.StatusPreconditionFailed:
		return ConditionFailed.Problem("this file is not the one that If-Match or If-Unmodified-Since asks for: its ETag is \"%s\"", f.ETag).WithHeader("ETag", `"`+f.ETag+`"`)
	case http.StatusRequestedRangeNotSatisfiable:
		return RangeRefused.Problem("Range asks for none of the %d bytes that the file has, or is not written as bytes=FIRST-LAST, bytes=FIRST- or bytes=-LENGTH", size).
			WithHeader("Content-Range", fmt.Sprintf("bytes */%d", size))
	}
	return Internal.Problem("the file cannot be read; it is in the log under this request_id").WithCause(fmt.Errorf("net/http refused to serve a file with %d", status))
}

// fileWriter has refuse answer in place of a text of net/http.
type fileWriter struct {
	http.ResponseWriter
	refuse  func(status int)
	refused bool
}

// WriteHeader is http.ResponseWriter.
func (w *fileWriter) WriteHeader(status int) {
	if w.refused = status >= http.StatusBadRequest; w.refused {
		w.refuse(status)
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write is http.ResponseWriter.
func (w *fileWriter) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *fileWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

const rangeHeader = "Range"

// readableRange is the value of a Range header (RFC 9110 section 14.1) as http.ServeContent reads it: with places that a file of so many
// bytes has. It is empty where a unit is asked for that is not known, which is to be ignored (section 14.2), and beyond the end where
// no byte is asked for or the ranges are not valid.
func readableRange(value string, size int64) string {
	unit, set, ok := strings.Cut(value, "=")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return ""
	}
	var ranges []string
	for spec := range strings.SplitSeq(set, ",") {
		spec = strings.Trim(spec, " \t")
		if spec == "" {
			continue // an empty element of a list counts nothing (section 5.6.1)
		}
		first, last, err := readRange(spec, size)
		if err != nil {
			ranges = nil
			break
		}
		if first <= last {
			ranges = append(ranges, fmt.Sprintf("%d-%d", first, last))
		}
	}
	if len(ranges) == 0 {
		return fmt.Sprintf("bytes=%d-", size)
	}
	return "bytes=" + strings.Join(ranges, ",")
}

var errNoRange = errors.New("this is no range of bytes")

// readRange returns the places of the first and last byte that a range asks for; there are none when last is before first.
func readRange(spec string, size int64) (first, last int64, err error) {
	from, to, ok := strings.Cut(spec, "-")
	first, hasFirst := place(from)
	last, hasLast := place(to)
	switch {
	case !ok || !hasFirst && from != "" || !hasLast && to != "" || !hasFirst && !hasLast || hasFirst && hasLast && last < first:
		return 0, 0, errNoRange
	case !hasFirst:
		return max(0, size-last), size - 1, nil
	case !hasLast:
		return first, size - 1, nil
	}
	return first, min(last, size-1), nil
}

// place reads digits; a number beyond every file is the largest there is.
func place(digits string) (n int64, ok bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return math.MaxInt64, true
	}
	return n, true
}

// describeParts describes the answers and headers of a file's conditions and ranges.
func describeParts(route Route, op *huma.Operation) {
	text := &huma.Schema{Type: huma.TypeString}
	etag := &huma.Param{Description: "Name of the file's bytes", Schema: text}
	modified := &huma.Param{Description: "When the file was written", Schema: text}
	length := &huma.Param{Description: "Bytes in this answer", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(0.0)}}
	units := &huma.Param{Description: "bytes: Range is answered", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"bytes"}}}
	place := &huma.Param{Description: "Which bytes of how many these are (bytes FIRST-LAST/LENGTH), or of a problem how many there are (bytes */LENGTH); several parts have one each", Schema: text}
	name := &huma.Param{Description: "The name under which to store it", Schema: text}
	content := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}

	whole := op.Responses["200"]
	whole.Content = map[string]*huma.MediaType{binaryType: content}
	part := &huma.Response{
		Description: http.StatusText(http.StatusPartialContent) + ": the bytes that Range asks for; of several ranges, each in a part of its own",
		Headers:     answerHeaders(route, "206"), Content: map[string]*huma.MediaType{binaryType: content, "multipart/byteranges": {Schema: text}},
	}
	unchanged := &huma.Response{
		Description: http.StatusText(http.StatusNotModified) + ": the client has the file that If-None-Match or If-Modified-Since names",
		Headers:     answerHeaders(route, "304"),
	}
	for _, of := range []*huma.Response{whole, part} {
		of.Headers["ETag"], of.Headers["Last-Modified"], of.Headers["Content-Length"] = etag, modified, length
		of.Headers["Accept-Ranges"], of.Headers["Content-Disposition"] = units, name
	}
	part.Headers["Content-Range"] = place
	unchanged.Headers["ETag"] = etag
	op.Responses[strconv.Itoa(RangeRefused.Status)].Headers["Content-Range"] = place
	op.Responses[strconv.Itoa(ConditionFailed.Status)].Headers["ETag"] = etag
	op.Responses["206"], op.Responses["304"] = part, unchanged
	for _, header := range []struct{ name, means string }{
		{rangeHeader, "The bytes that are wanted: bytes=FIRST-LAST, bytes=FIRST-, bytes=-LENGTH, or several of these with commas between. Other units are ignored"},
		{"If-Range", "ETag or date of the file whose other bytes the client has: of another one Range is ignored"},
		{ifNoneMatch, "ETags of files that the client has"},
		{ifMatch, "ETags of files of which one is wanted"},
		{"If-Modified-Since", "The file is wanted only if it was written after this date"},
		{"If-Unmodified-Since", "The file is wanted only if it was written by this date"},
	} {
		schema := &huma.Schema{Type: huma.TypeString}
		if !slices.Contains(validatorLists, header.name) {
			schema.MinLength = new(1) // as refuseParameters has it
		}
		op.Parameters = append(op.Parameters, &huma.Param{Name: header.name, In: "header", Description: header.means, Schema: schema})
	}
}
