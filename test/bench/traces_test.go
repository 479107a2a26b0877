//go:build bench

package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reckon/test/collector"
	"reckon/test/e2e"
	"reckon/test/need"
)

// BenchmarkTraces compares an evaluation and a submission over HTTP of a server that exports traces with the same of one that does not: with a collector on the same machine, and
// with one that takes connections and never answers. The three are asked in turns, request by request, so that all see the same machine. Processor time is that of the server with
// the workers that have ended, for a submission with its run. Goal: processor time at most 1.1, with a living collector and with a dead one.
func BenchmarkTraces(b *testing.B) {
	const requests = 200
	release := make(chan struct{})
	dead := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer dead.Close()
	defer close(release)
	servers := []*tracedServer{{name: "off"}, {name: "on"}, {name: "dead"}}
	for _, s := range servers {
		switch s.name {
		case "on":
			b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.New(b).URL)
		case "dead":
			b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", dead.URL)
		}
		s.server = startService(b)
		s.account = s.server.NewAccount("bench@example.com")
	}
	off := servers[0]
	for what, ask := range map[string]func(*tracedServer) error{
		"evaluate": func(s *tracedServer) error {
			return s.account.JSON("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, nil)
		},
		"submit": (*tracedServer).submit,
	} {
		for _, s := range servers {
			s.took, s.before = nil, processorTimeOf(b, s.server.PID())
		}
		for n := range requests {
			for turn := range servers {
				s := servers[(n+turn)%len(servers)]
				begun := time.Now()
				if err := ask(s); err != nil {
					b.Fatal(err)
				}
				s.took = append(s.took, time.Since(begun))
				if err := s.awaitJob(); err != nil {
					b.Fatal(err)
				}
			}
		}
		for _, s := range servers {
			slices.Sort(s.took)
			s.spent = processorTimeOf(b, s.server.PID()) - s.before
		}
		for _, s := range servers[1:] {
			b.ReportMetric(float64(median(s.took))/float64(median(off.took)), what+"-p50-"+s.name+"/off")
			b.ReportMetric(float64(s.spent)/float64(off.spent), what+"-cpu-"+s.name+"/off")
		}
		b.ReportMetric(ms(median(off.took)), what+"-p50-off-ms")
		b.ReportMetric(ms(off.spent)/requests, what+"-cpu-off-ms")
	}
}

// tracedServer is a server with what its requests took.
type tracedServer struct {
	name    string
	server  *e2e.Server
	account *e2e.Account

	job           string // submitted and not awaited yet; empty: none
	took          []time.Duration
	before, spent time.Duration // processor time
}

func (s *tracedServer) submit() error {
	var submitted struct {
		JobID string `json:"job_id"`
	}
	err := s.account.JSON("POST", "/api/jobs", map[string]string{"expression": "1+1"}, &submitted)
	s.job = submitted.JobID
	return err
}

// awaitJob waits for the end of the job that was submitted, so that it runs beside no other server's request.
func (s *tracedServer) awaitJob() error {
	for s.job != "" {
		var now struct {
			FinishedAt *string `json:"finished_at"`
		}
		if err := s.account.JSON("GET", "/api/jobs/"+s.job+"?wait_ms=20000", nil, &now); err != nil {
			return err
		}
		if now.FinishedAt != nil {
			s.job = ""
		}
	}
	return nil
}

// clockTicks is how many of the units of /proc/PID/stat a second has (USER_HZ, 100 on every Linux that Go runs on).
const clockTicks = 100

// processorTimeOf is what a process has used, with its children that have ended (proc_pid_stat(5), fields 14 to 17).
func processorTimeOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		need.Skip(b, fmt.Sprintf("Linux's /proc (%v)", err), "make bench, on Linux")
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	ticks := 0
	for _, field := range fields[11:15] {
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicks
}
