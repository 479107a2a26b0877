package node

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"reckon/eventstore/node/protos/monitoring"
)

// monitoringService tells operators what the node's process does.
type monitoringService struct {
	monitoring.UnimplementedMonitoringServer
	node  *Node
	calls *quota
	dir   string
}

// Stats is monitoring.MonitoringServer: figures at once, and then whenever the period has passed.
func (s *monitoringService) Stats(req *monitoring.StatsReq, call monitoring.Monitoring_StatsServer) error {
	ctx := call.Context()
	return statusError(ctx, func() error {
		leave, err := s.calls.take(ctx)
		if err != nil {
			return err
		}
		defer leave()
		tick := time.NewTicker(statsEvery(req.GetRefreshTimePeriodInMs()))
		defer tick.Stop()
		var last processSample
		for {
			if err := authorizeOperator(ctx); err != nil {
				return err
			}
			now := sampleProcess()
			if err := call.Send(&monitoring.StatsResp{Stats: s.figures(now, last)}); err != nil {
				return err
			}
			last = now
			select {
			case <-tick.C:
			case <-s.node.closing:
				return errShuttingDown
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}())
}

// statsEvery is the period for one that was asked for.
func statsEvery(milliseconds uint64) time.Duration {
	if milliseconds == 0 {
		return defaultStatsEvery
	}
	every := time.Duration(min(milliseconds, uint64(maxStatsEvery/time.Millisecond))) * time.Millisecond
	return max(every, minStatsEvery)
}

// figures returns the figures under the names that KurrentDB-Client-Rust, kurrentdb-extras/src/stats.rs, reads.
// Those of which the node, or the system, knows nothing are absent. Rates are since the last sample, and zero in the first.
func (s *monitoringService) figures(now, last processSample) map[string]string {
	connections := s.node.listener.(*places).open()
	if s.node.door != nil {
		connections += s.node.door.listener.(*places).open()
	}
	health := s.node.log.Health()
	f := map[string]string{
		"proc-id":                   strconv.Itoa(os.Getpid()),
		"proc-startTime":            s.node.begun.UTC().Format(time.RFC3339Nano),
		"proc-tcp-connections":      strconv.Itoa(connections),
		"proc-gc-totalBytesInHeaps": strconv.FormatUint(now.heapBytes, 10),
		"proc-gc-allocationSpeed":   rate(now.allocatedBytes-last.allocatedBytes, now.at.Sub(last.at), last),
		"proc-gc-timeInGc":          percent(now.gcSeconds-last.gcSeconds, now.cpuSeconds-last.cpuSeconds, last),
		"es-checksum":               strconv.FormatUint(health.Records, 10), // positions: everything that is acknowledged is flushed
		"es-checksumNonFlushed":     strconv.FormatUint(health.Records, 10),
	}
	addProcess(f, now, last)
	addSystem(f)
	addDrive(f, s.dir)
	return f
}

// processSample is what the process had done at a time.
type processSample struct {
	at                        time.Time
	heapBytes, allocatedBytes uint64
	gcSeconds, cpuSeconds     float64 // available to the runtime, of all cores
	usedTicks                 uint64  // of CPU, as proc_pid_stat(5) counts; 0 where the system does not tell
	threads                   string
}

// ticksPerSecond is the unit of CPU time in /proc/PID/stat: USER_HZ, which is 100 on every Linux that Go runs on.
const ticksPerSecond = 100

func sampleProcess() processSample {
	read := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}}
	metrics.Read(read)
	s := processSample{at: time.Now(), heapBytes: read[0].Value.Uint64(), allocatedBytes: read[1].Value.Uint64(), gcSeconds: read[2].Value.Float64(), cpuSeconds: read[3].Value.Float64()}
	stat, _ := os.ReadFile("/proc/self/stat") // not everywhere
	// fields 14 and 15 are user and system time, 20 is the number of threads; the second, in brackets, is a name
	if fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(fields) > 17 {
		user, _ := strconv.ParseUint(fields[11], 10, 64)
		system, _ := strconv.ParseUint(fields[12], 10, 64)
		s.usedTicks, s.threads = user+system, fields[17]
	}
	return s
}

// rate is an amount in a second.
func rate(amount uint64, in time.Duration, last processSample) string {
	if last.at.IsZero() || in <= 0 {
		return "0"
	}
	return strconv.FormatFloat(float64(amount)/in.Seconds(), 'f', 1, 64)
}

func percent(part, whole float64, last processSample) string {
	if last.at.IsZero() || whole <= 0 {
		return "0"
	}
	return strconv.FormatFloat(100*part/whole, 'f', 2, 64)
}

// addProcess adds what proc_pid_stat(5), proc_pid_statm(5) and proc_pid_io(5) tell.
func addProcess(f map[string]string, now, last processSample) {
	if now.usedTicks > 0 {
		f["proc-cpu"] = percent(float64(now.usedTicks-last.usedTicks)/ticksPerSecond, now.at.Sub(last.at).Seconds(), last) // of one core
		f["proc-threadsCount"] = now.threads
	}
	statm, _ := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(statm)); len(fields) > 1 {
		if pages, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
			f["proc-mem"] = strconv.FormatUint(pages*uint64(os.Getpagesize()), 10)
		}
	}
	addLines(f, "/proc/self/io", map[string]string{"read_bytes": "proc-diskIo-readBytes", "write_bytes": "proc-diskIo-writtenBytes"}, 1)
}

// addSystem adds what proc_loadavg(5) and proc_meminfo(5) tell.
func addSystem(f map[string]string) {
	load, _ := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(load)); len(fields) > 2 {
		f["sys-loadavg-1m"], f["sys-loadavg-5m"], f["sys-loadavg-15m"] = fields[0], fields[1], fields[2]
	}
	addLines(f, "/proc/meminfo", map[string]string{"MemAvailable": "sys-freeMem"}, 1<<10)
}

// addLines adds figures of a file with lines KEY: NUMBER, in units of so many.
func addLines(f map[string]string, file string, names map[string]string, unit uint64) {
	content, _ := os.ReadFile(file)
	for line := range strings.Lines(string(content)) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if name, wanted := names[key]; wanted && len(fields) > 0 {
			if number, err := strconv.ParseUint(fields[0], 10, 64); err == nil {
				f[name] = strconv.FormatUint(number*unit, 10)
			}
		}
	}
}

// addDrive adds the room of the disk that has the log.
func addDrive(f map[string]string, dir string) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return
	}
	usage, err := vfs.Default.GetDiskUsage(absolute)
	if err != nil || usage.TotalBytes == 0 {
		return
	}
	name := "sys-drive-" + absolute + "-"
	f[name+"availableBytes"] = strconv.FormatUint(usage.AvailBytes, 10)
	f[name+"totalBytes"] = strconv.FormatUint(usage.TotalBytes, 10)
	f[name+"usedBytes"] = strconv.FormatUint(usage.UsedBytes, 10)
	f[name+"usage"] = fmt.Sprintf("%d%%", 100*usage.UsedBytes/usage.TotalBytes)
}
