package node

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/monitoring"
)

// TestStats: figures come again and again, and are those of this process and log.
func TestStats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	call, err := monitoring.NewMonitoringClient((&running{Node: n}).raw(t)).Stats(testCtx(t), &monitoring.StatsReq{RefreshTimePeriodInMs: 1})
	if err != nil {
		t.Fatal(err)
	}
	numbers := []string{"proc-id", "proc-tcp-connections", "proc-gc-totalBytesInHeaps", "proc-gc-allocationSpeed", "proc-gc-timeInGc", "es-checksum", "es-checksumNonFlushed"}
	if runtime.GOOS == "linux" {
		numbers = append(numbers, "proc-mem", "proc-cpu", "proc-threadsCount", "sys-freeMem", "sys-loadavg-1m", "sys-loadavg-5m", "sys-loadavg-15m")
	}
	var begun string
	for i := range 3 {
		answer, err := call.Recv()
		if err != nil {
			t.Fatal(err)
		}
		f := answer.GetStats()
		for _, name := range numbers {
			if v, err := strconv.ParseFloat(f[name], 64); err != nil || v < 0 {
				t.Errorf("%s: %q", name, f[name])
			}
		}
		if f["proc-id"] != strconv.Itoa(os.Getpid()) || f["es-checksum"] != strconv.FormatUint(n.Health().Records, 10) || f["proc-tcp-connections"] != "1" {
			t.Errorf("%v", f)
		}
		if at, err := time.Parse(time.RFC3339, f["proc-startTime"]); err != nil || i > 0 && f["proc-startTime"] != begun || time.Since(at) < 0 {
			t.Errorf("begun at %q", f["proc-startTime"])
		}
		begun = f["proc-startTime"]
		if drive, err := strconv.ParseUint(f["sys-drive-"+dir+"-totalBytes"], 10, 64); err != nil || drive == 0 {
			t.Errorf("the drive: %v", err)
		}
		if i == 1 {
			if _, err := n.log.Append(t.Context(), "s", eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: "t"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestStatsPeriod(t *testing.T) {
	t.Parallel()
	for asked, want := range map[uint64]time.Duration{0: time.Second, 1: 100 * time.Millisecond, 500: 500 * time.Millisecond, 3_600_001: time.Hour, 1<<64 - 1: time.Hour} {
		if got := statsEvery(asked); got != want {
			t.Errorf("%d: %v", asked, got)
		}
	}
}

// TestStatsAreCounted: one connection has so many calls, and they end with the node.
func TestStatsAreCounted(t *testing.T) {
	t.Parallel()
	n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	client := monitoring.NewMonitoringClient((&running{Node: n}).raw(t))
	calls := make([]monitoring.Monitoring_StatsClient, maxStatsCallsPerConnection)
	for i := range calls {
		calls[i], err = client.Stats(testCtx(t), &monitoring.StatsReq{RefreshTimePeriodInMs: 1 << 40})
		if err == nil {
			_, err = calls[i].Recv()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	more, err := client.Stats(testCtx(t), &monitoring.StatsReq{})
	if err == nil {
		_, err = more.Recv()
	}
	if status.Code(err) != codes.ResourceExhausted {
		t.Error(err)
	}
	stop(t, n)
	for _, call := range calls {
		if _, err := call.Recv(); status.Code(err) != codes.Unavailable {
			t.Error(err)
		}
	}
}

// TestStatsEndWithTheRight: an operator who is none any more gets no more figures.
func TestStatsEndWithTheRight(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	if err := s.users.SetGroups(t.Context(), ordinary, []string{access.Ops}); err != nil {
		t.Fatal(err)
	}
	call, err := monitoring.NewMonitoringClient(s.conn).Stats(as(t, ordinary), &monitoring.StatsReq{RefreshTimePeriodInMs: 1})
	if err == nil {
		_, err = call.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.users.SetGroups(t.Context(), ordinary, nil); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = call.Recv()
	}
	if status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
}
