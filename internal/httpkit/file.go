package httpkit

import (
	"context"
	"io"
	"net/http"
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

// HandleFile adds an operation that answers with a file, or parts of it, as http.ServeContent does: Range, If-Range, If-None-Match and
// HEAD are answered.
func HandleFile[I any](a *API, route Route, handler func(context.Context, *I) (*File, error)) {
	route.ContentType = binaryType
	Handle(a, route, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		file, err := handler(ctx, in)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(c huma.Context) { file.serve(humabunrouter.Unwrap(c)) }}, nil
	})
}

func (f *File) serve(r bunrouter.Request, w http.ResponseWriter) {
	defer func() { _ = f.Content.Close() }()
	header := w.Header()
	header.Set("Content-Type", binaryType)
	header.Set("Content-Disposition", `attachment; filename="`+f.Name+`"`)
	header.Set("ETag", `"`+f.ETag+`"`)
	http.ServeContent(w, r.Request, "", f.Modified, f.Content)
}
