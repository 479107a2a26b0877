package engine

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memoryBytes is what the worker's process holds: its proportional set size (proc(5), smaps_rollup), in which pages that it
// shares with the zygote count by their part; where the kernel does not tell that, its resident set size. 0: the process is gone.
func (w *Worker) memoryBytes() int64 {
	return processMemory(w.hostPID())
}

func processMemory(pid int) int64 {
	if pid <= 0 {
		return 0
	}
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	if kilobytes, ok := fieldOf(filepath.Join(folder, "smaps_rollup"), "Pss:"); ok {
		return kilobytes << 10
	}
	if kilobytes, ok := fieldOf(filepath.Join(folder, "status"), "VmRSS:"); ok {
		return kilobytes << 10
	}
	return 0
}

// hostPID is the worker's number in this process's namespace; 0 once the process is gone.
func (w *Worker) hostPID() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.handle >= 0:
		pid, _ := fieldOf(fmt.Sprintf("/proc/self/fdinfo/%d", w.handle), "Pid:")
		return int(pid)
	case w.Alive() && !w.process.namespaced:
		return w.pid
	}
	return 0
}

// machineMemory is the memory of the machine, or of the container where that is less, in bytes; 0: it cannot be known.
func machineMemory() int64 {
	kilobytes, _ := fieldOf("/proc/meminfo", "MemTotal:")
	least := kilobytes << 10
	if least == 0 {
		least = math.MaxInt64
	}
	for _, file := range memoryLimits() {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64); err == nil { // "max" is no limit
			least = min(least, limit)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// memoryLimits are the files that may hold a limit of this process's memory: those of its control group and of all above
// it (cgroups(7)); the last is that of version 1 in a container.
func memoryLimits() []string {
	var files []string
	if content, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		for line := range strings.Lines(string(content)) {
			if group, unified := strings.CutPrefix(strings.TrimSpace(line), "0::"); unified {
				for ; group != "/" && group != "."; group = filepath.Dir(group) {
					files = append(files, filepath.Join("/sys/fs/cgroup", group, "memory.max"))
				}
			}
		}
	}
	return append(files, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
}

// fieldOf is the number that follows a name at the beginning of a line of a file below /proc.
func fieldOf(file, name string) (int64, bool) {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(content)) {
		if rest, found := strings.CutPrefix(line, name); found {
			number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			value, err := strconv.ParseInt(number, 10, 64)
			return value, err == nil
		}
	}
	return 0, false
}
