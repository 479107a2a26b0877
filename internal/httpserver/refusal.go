package httpserver

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusedStatus is the status of the answer that p begins, where that is a refusal; otherwise 0.
func refusedStatus(p []byte) int {
	rest, is := bytes.CutPrefix(p, []byte("HTTP/1.1 "))
	if !is || len(rest) < 3 {
		return 0
	}
	status, err := strconv.Atoi(string(rest[:3]))
	if err != nil || status < http.StatusBadRequest {
		return 0
	}
	return status
}

// refusal is the answer, from its first line to its end, to a request that net/http refuses with a status before a
// handler has it. head is what was read of the request.
func refusal(refuser Refuser, client string, status int, head []byte) []byte {
	line, rest, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	method, address, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	address, _, _ = strings.Cut(address, " ")
	r, err := http.NewRequest(method, "/", http.NoBody)
	if err != nil { // the method is none
		r, _ = http.NewRequest(http.MethodGet, "/", http.NoBody)
	}
	r.RemoteAddr, r.RequestURI = client, address

	w := &unreadAnswer{header: http.Header{}}
	setSecurity(w.header)
	whole, _, _ := cutHead(rest)
	if why := framingFault(whole, true); why != "" && status == http.StatusBadRequest {
		refuser.RefuseFraming(w, r, why)
	} else {
		refuser.RefuseUnread(w, r, status)
	}
	w.header.Set("Connection", "close") // net/http closes it
	w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	w.header.Set("Content-Length", strconv.Itoa(w.body.Len()))
	var all bytes.Buffer
	fmt.Fprintf(&all, "HTTP/1.1 %d %s\r\n", w.status, http.StatusText(w.status))
	_ = w.header.Write(&all) // a buffer takes everything
	all.WriteString("\r\n")
	if r.Method != http.MethodHead {
		all.Write(w.body.Bytes())
	}
	return all.Bytes()
}

// unreadAnswer is an answer in memory.
type unreadAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is http.ResponseWriter.
func (a *unreadAnswer) Header() http.Header { return a.header }

// WriteHeader is http.ResponseWriter.
func (a *unreadAnswer) WriteHeader(status int) { a.status = status }

// Write is http.ResponseWriter.
func (a *unreadAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }
