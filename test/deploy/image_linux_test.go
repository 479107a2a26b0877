// Package deploy holds the files of docs/deploy against the real binary: the image's own instructions make a root in which it runs with no
// privileges, the compose file's commands run as processes, and what the dashboard asks for is measured.
package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"reckon/test/binary"
	"reckon/test/need"
)

const folder = "../../docs/deploy"

// instruction is a line of a Dockerfile.
type instruction struct{ name, rest string }

// lastStage returns the instructions of a Dockerfile's last stage, and what its FROM names.
func lastStage(t *testing.T, path string) (base string, stage []instruction) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "" || strings.HasPrefix(name, "#"):
		case strings.HasSuffix(rest, `\`):
			t.Fatalf("%s: a continued line, which this reader does not know", path)
		case name == "FROM":
			base, stage = rest, nil
		default:
			stage = append(stage, instruction{name, rest})
		}
	}
	return base, stage
}

// container is a root folder with what a Dockerfile says of how programs run in it.
type container struct {
	root, user  string
	environment []string
	entrypoint  []string
	command     []string
}

// isolated runs a program in the root as a container's engine would: no capabilities, no new privileges, a user of its own, files
// that cannot be changed but for tmpfs and the data folder, processes of its own.
const isolated = `set -e
root=$1 user=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o nosuid,nodev,noexec,mode=1777 tmpfs "$root/tmp"
mount --bind "$root.data" "$root/var/lib/reckon"
mount --rbind /dev "$root/dev"
exec chroot "$root" setpriv --reuid "${user%%:*}" --regid "${user##*:}" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`

// run is a command that runs arguments in the container; it is ended with the context.
func (c container) run(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "unshare", append([]string{"--mount", "--pid", "--fork", "sh", "-c", isolated, "sh", c.root, c.user}, arguments...)...)
	command.Env = c.environment
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) } // unshare and the first process of its own
	return command
}

// build follows the instructions of the image's last stage in a root of Debian's packages.
func build(t *testing.T) container {
	t.Helper()
	base, stage := lastStage(t, filepath.Join(folder, "Dockerfile"))
	suite, found := strings.CutPrefix(base, "debian:")
	suite, slim := strings.CutSuffix(suite, "-slim")
	if !found || !slim {
		t.Fatalf("the image is based on %s, of which no root can be made here", base)
	}
	c := container{root: filepath.Join(t.TempDir(), "root"), user: "0:0", environment: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
	shell(t, nil, "debootstrap", "--variant=minbase", suite, c.root)
	building := []string{}
	if authorities := os.Getenv("PIP_CERT"); authorities != "" { // this machine's network has authorities of its own
		const inside = "/authorities.crt"
		shell(t, nil, "install", "-m", "0644", authorities, c.root+inside)
		building = append(building, "PIP_CERT="+inside)
		defer func() { _ = os.Remove(c.root + inside) }()
	}
	for _, i := range stage {
		switch i.name {
		case "RUN":
			shell(t, append(building, c.environment...), "unshare", "--mount", "--pid", "--fork", "sh", "-c",
				`mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" setpriv --reuid "${1%%:*}" --regid "${1##*:}" --clear-groups sh -c "$2"`, c.root, c.user, i.rest)
		case "COPY":
			if i.rest != "--from=build /reckon /usr/local/bin/reckon" {
				t.Fatalf("COPY %s: this reader knows only the binary", i.rest)
			}
			shell(t, nil, "install", "-m", "0755", binary.Reckon(t), filepath.Join(c.root, "usr/local/bin/reckon"))
		case "ENV":
			c.environment = append(c.environment, strings.Fields(i.rest)...)
		case "USER":
			c.user = i.rest
		case "ENTRYPOINT", "CMD":
			into := map[string]*[]string{"ENTRYPOINT": &c.entrypoint, "CMD": &c.command}[i.name]
			if err := json.Unmarshal([]byte(i.rest), into); err != nil {
				t.Fatalf("%s %s: %v", i.name, i.rest, err)
			}
		case "EXPOSE":
		default:
			t.Fatalf("%s: this reader does not know it", i.name)
		}
	}
	shell(t, nil, "install", "-d", "-m", "0700", "-o", "65532", "-g", "65532", c.root+".data")
	return c
}

func shell(t *testing.T, environment []string, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Env = environment
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, output)
	}
	return string(output)
}

// TestImage: the image's instructions, followed in a root of Debian's packages, make a service that answers with no privileges, its
// walls observed and its files unchangeable. It downloads some 100 MB, and asks for root: RECKON_TEST_IMAGE=1.
func TestImage(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECKON_TEST_IMAGE") == "" {
		need.Skip(t, "root, debootstrap and 100 MB of downloads", "RECKON_TEST_IMAGE=1 go test ./test/deploy")
	}
	c := build(t)
	report := shellOutput(t, c.run(t.Context(), "reckon", "engine", "test", "--json"))
	var engine struct {
		OK         bool `json:"ok"`
		Boundaries []struct {
			Name    string `json:"name"`
			InForce bool   `json:"in_force"`
		} `json:"boundaries"`
	}
	if err := json.Unmarshal(report, &engine); err != nil || !engine.OK {
		t.Fatalf("%v: %s", err, report)
	}
	t.Logf("%s", report)

	ctx, end := context.WithCancel(t.Context())
	defer end()
	var output bytes.Buffer
	server := c.run(ctx, append(append([]string{}, c.entrypoint...), "serve", "--init", "--listen", "127.0.0.1:0")...)
	server.Stderr = &output
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { end(); _ = server.Wait() }()
	readyAt(t, stdout, &output)
	if answer := shellOutput(t, c.run(t.Context(), "reckon", "try", "Integrate[x^2 Sin[x], x]")); !bytes.Contains(answer, []byte("verified here")) {
		t.Errorf("%s\n%s", answer, &output)
	}
}

func shellOutput(t *testing.T, command *exec.Cmd) []byte {
	t.Helper()
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, output)
	}
	return output
}

// readyAt waits until a server says where it is ready.
func readyAt(t *testing.T, stdout io.Reader, log fmt.Stringer) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		defer close(found)
		var seen []byte
		for part := make([]byte, 4096); ; {
			n, err := stdout.Read(part)
			if seen = append(seen, part[:n]...); err != nil {
				return
			}
			if m := regexp.MustCompile(`ready (http://\S+)`).FindSubmatch(seen); m != nil {
				found <- string(m[1])
				_, _ = io.Copy(io.Discard, stdout)
				return
			}
		}
	}()
	select {
	case url, ok := <-found:
		if ok {
			return url
		}
		t.Fatalf("it ended:\n%s", log)
	case <-time.After(5 * time.Minute):
		t.Fatalf("not ready:\n%s", log)
	}
	return ""
}
