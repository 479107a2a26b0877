package httpkit

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bufferedAnswer buffers a public answer until its ETag is computed.
type bufferedAnswer struct {
	http.ResponseWriter
	fixed  bool // the handler's bytes never change: they are not copied
	status int
	body   []byte
}

func (b *bufferedAnswer) WriteHeader(status int) {
	if b.status == 0 {
		b.status = status
	}
}

func (b *bufferedAnswer) Write(p []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	if b.fixed && b.body == nil {
		b.body = slices.Clip(p)
	} else {
		b.body = append(b.body, p...)
	}
	return len(p), nil
}

const (
	ifNoneMatch = "If-None-Match"
	ifMatch     = "If-Match"
)

// validatorLists are the headers that are lists of ETags (RFC 9110 section 13.1).
var validatorLists = []string{ifMatch, ifNoneMatch}

// sendWithETag sends the buffered answer with a strong ETag, or 304 when If-None-Match names that ETag.
func (b *bufferedAnswer) sendWithETag(r *http.Request, maxAge time.Duration) {
	if b.status == 0 {
		b.status = http.StatusOK
	}
	header := b.Header()
	if b.status != http.StatusOK {
		b.ResponseWriter.WriteHeader(b.status)
		_, _ = b.ResponseWriter.Write(b.body)
		return
	}
	sum := sha256.Sum256(b.body)
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:18]) + `"`
	header.Set("ETag", etag)
	header.Set("Cache-Control", "public, max-age="+strconv.FormatInt(int64(maxAge/time.Second), 10))
	if matches(strings.Join(r.Header.Values(ifNoneMatch), ","), etag) {
		header.Del("Content-Type")
		b.ResponseWriter.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(b.body)))
	b.ResponseWriter.WriteHeader(http.StatusOK)
	_, _ = b.ResponseWriter.Write(b.body)
}

// matches reports whether If-None-Match names the ETag, by weak comparison (RFC 9110 §13.1.2).
func matches(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == etag || candidate == "*" {
			return true
		}
	}
	return false
}
