package deploy

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reckon/internal/supervision"
	"reckon/projections/pgtest"
	"reckon/runners/engine/enginetest"
	"reckon/test/binary"
	"reckon/test/need"
	"reckon/test/wait"
)

var units = []string{"reckon-node", "reckon-api", "reckon-run"}

// readUnit returns the settings of a unit, which are each given once.
func readUnit(t *testing.T, name string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "systemd", name+".service"))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for line := range strings.Lines(string(content)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(key, "#") {
			continue
		}
		if _, twice := settings[key]; twice {
			t.Errorf("%s: %s is given twice", name, key)
		}
		settings[key] = value
	}
	return settings
}

func stopTimeout(t *testing.T, settings map[string]string) time.Duration {
	t.Helper()
	seconds, err := strconv.Atoi(settings["TimeoutStopSec"])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(seconds) * time.Second
}

// TestUnits: systemd reads the units as they are meant, and gives each process the time that it needs to stop.
func TestUnits(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]time.Duration{"reckon-node": supervision.Killed(supervision.NodeEnds), "reckon-api": serverKilled(), "reckon-run": serverKilled()} {
		settings := readUnit(t, name)
		if got := stopTimeout(t, settings); got != killed {
			t.Errorf("%s: TimeoutStopSec is %v, and internal/supervision says %v", name, got, killed)
		}
		if settings["KillMode"] != "mixed" || settings["Restart"] != "always" { // the workers of evaluations in flight would get the signal too
			t.Errorf("%s: KillMode=%s Restart=%s", name, settings["KillMode"], settings["Restart"])
		}
	}
	analyze := need.Program(t, "systemd-analyze", "systemd")
	copied := t.TempDir()
	verify := []string{"verify", "--man=no"}
	for _, name := range units {
		content, err := os.ReadFile(filepath.Join(folder, "systemd", name+".service"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(copied, name+".service")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(content), "/usr/local/bin/reckon", binary.Reckon(t))), 0o600); err != nil {
			t.Fatal(err)
		}
		verify = append(verify, path)
	}
	if output, err := exec.Command(analyze, verify...).CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("systemd-analyze: %v\n%s", err, output)
	}
}

// TestUnitsRun: the commands of the units make one installation, whichever is started first; each ends by itself on the signal that systemd
// sends, before it would be killed.
func TestUnitsRun(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	pairs := []string{"/var/lib/reckon/engine", enginetest.Environment(t), "/var/lib/reckon", state}
	for _, port := range []string{"8080", "9090", "9091", "9092"} {
		pairs = append(pairs, "127.0.0.1:"+port, need.Address(t))
	}
	local := strings.NewReplacer(pairs...)
	environment := append(os.Environ(), "RECKON_DATABASE="+pgtest.Database(t), "RECKON_ADMIN_TOKEN=at-least-16-bytes")
	type run struct {
		*exec.Cmd
		done chan struct{}
		err  error // once done is closed
	}
	processes := map[string]*run{}
	begin := func(name string, further ...string) {
		settings := readUnit(t, name)
		for _, made := range strings.Fields(settings["StateDirectory"]) { // as systemd makes them
			if err := os.MkdirAll(local.Replace(filepath.Join("/var/lib", made)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		arguments := strings.Fields(local.Replace(settings["ExecStart"]))[1:]
		command := exec.Command(binary.Reckon(t), append(arguments, further...)...)
		var output strings.Builder
		command.Env, command.Stdout, command.Stderr = environment, &output, &output
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		p := &run{Cmd: command, done: make(chan struct{})}
		processes[name] = p
		go func() {
			defer close(p.done)
			p.err = command.Wait()
		}()
		t.Cleanup(func() {
			_ = command.Process.Kill()
			if <-p.done; t.Failed() {
				t.Logf("%s:\n%s", name, &output)
			}
		})
	}
	asked := func(port, path string) bool {
		response, err := http.Get("http://" + local.Replace("127.0.0.1:"+port) + path)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}
	begin("reckon-run")
	begin("reckon-api")
	wait.Until(t, "both live and wait for the log", func() bool { return asked("9091", "/livez") && asked("9092", "/livez") })
	begin("reckon-node", "--init")
	for _, port := range []string{"9090", "9091", "9092"} {
		wait.Until(t, "the process at port "+port+" is ready", func() bool { return asked(port, "/livez") && asked(port, "/readyz") })
	}
	if !asked("8080", "/readyz") {
		t.Error("the API is not ready")
	}
	for _, name := range []string{"reckon-run", "reckon-api", "reckon-node"} {
		p := processes[name]
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.done:
			if p.err != nil {
				t.Errorf("%s ends with %v", name, p.err)
			}
		case <-time.After(stopTimeout(t, readUnit(t, name))):
			t.Errorf("%s would be killed", name)
		}
	}
}
