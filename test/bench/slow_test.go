//go:build bench

package bench

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/test/need"
	"reckon/test/wait"
)

// slowForms are the requests of clients that are slow in different ways; then is
// sent every second. Only the last leaves its answers unread.
var slowForms = []struct{ first, then string }{
	{"", ""},
	{"POST /auth/login HTTP/1.1\r\nHost: x\r\n", "X: y\r\n"},
	{"POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{", ""},
	{"POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{", " "},
	{"POST /auth/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{", ""},
	{"POST /api/evaluate HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n{", ""},
	{"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n{", " "},
	{"POST /api/proofs HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n{", ""},
	{"POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n\r\n", ""},
	{strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 200), ""},
}

// BenchmarkSlowClients: a thousand slow clients at once, none with a credential.
// Goals: less than 64 MB of the server's memory, all gone within 30 s of the last
// one's coming, and 1+1 over HTTP meanwhile at most 3 times as long as before.
func BenchmarkSlowClients(b *testing.B) {
	const clients, megabytes, seconds = 1000, 64, 30
	server := startService(b)
	account := server.NewAccount("bench@example.com")
	evaluate := func() error {
		return account.JSON("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, nil)
	}
	before := median(sortedLatencies(b, 300, evaluate))
	rss, sockets := residentBytes(b, server.PID()), openFiles(b, server.PID())

	address := strings.TrimPrefix(server.URL, "http://")
	end := make(chan struct{})
	var sending sync.WaitGroup
	for i := range clients {
		form := slowForms[i%len(slowForms)]
		c, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		sending.Go(func() {
			defer func() { _ = c.Close() }()
			_, err := io.WriteString(c, form.first)
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for {
				select {
				case <-end:
					return
				case <-tick.C:
					if err == nil {
						_, err = io.WriteString(c, form.then)
					}
				}
			}
		})
	}
	begun := time.Now()
	most, peak := int64(0), 0
	during := make(chan time.Duration)
	go func() { during <- median(sortedLatencies(b, 300, evaluate)) }()
	for {
		open := openFiles(b, server.PID()) - sockets
		peak, most = max(peak, open), max(most, residentBytes(b, server.PID())-rss)
		if open < clients/100 && time.Since(begun) > time.Second { // evaluations come and go
			break
		}
		if time.Since(begun) > 4*seconds*time.Second {
			b.Errorf("%d connections after %v", open, time.Since(begun))
			break
		}
		wait.Pace(100 * time.Millisecond)
	}
	took := time.Since(begun)
	close(end)
	sending.Wait()
	if peak < clients*9/10 {
		b.Errorf("at most %d connections were open: nothing was measured", peak)
	}
	b.ReportMetric(float64(most)/1e6/megabytes, "memory/64MB")
	b.ReportMetric(float64(most)/1e6, "MB")
	b.ReportMetric(took.Seconds()/seconds, "gone/30s")
	b.ReportMetric(float64(<-during)/float64(before), "p50-during/before")
}

func residentBytes(b *testing.B, pid int) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		need.Skip(b, "Linux's /proc", "make bench, on Linux")
	}
	var kilobytes int64
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		b.Fatal(err)
	}
	return kilobytes << 10
}

func openFiles(b *testing.B, pid int) int {
	b.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		b.Fatal(err)
	}
	return len(files)
}
