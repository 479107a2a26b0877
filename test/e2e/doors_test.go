package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/eventstore"
)

var update = flag.Bool("update", false, "write what the tests find into docs/security.md")

const (
	securityPage = "../../docs/security.md"
	nobody       = 65534
	strangerEnv  = "RECKON_TEST_STRANGER"
	adminToken   = "a token nobody guesses"
	adminHost    = "127.0.0.2" // tells the admin's listener from the others; on Linux all of 127.0.0.0/8 is loopback
)

// door is a place at which a process can be reached.
type door struct {
	flag, at, can string
	is            func(listener, *Server) bool
}

// doors are all there are, as docs/security.md describes them.
var doors = []door{
	{"`--listen`", "`127.0.0.1:8080`", "whatever the API allows: nothing of an account's without its credentials",
		func(l listener, s *Server) bool { return "http://"+l.address == s.URL }},
	{"`--peer-listen`", "`127.0.0.1`, a free port", "nothing without the secret in `keys/`",
		func(l listener, s *Server) bool {
			return l.network == "tcp" && "http://"+l.address != s.URL && l.address != s.admin
		}},
	{"`--admin-listen`", "none unless given", "read metrics and profiles, with the `--admin-token`, and life and readiness, by a name of this machine's",
		func(l listener, s *Server) bool { return l.network == "tcp" && l.address == s.admin }},
	{"always", "`admin.sock`", "everything an operator's command can; read metrics and profiles",
		func(l listener, s *Server) bool { return l.address == filepath.Join(s.Data, "admin.sock") }},
	{"`--eventstore embedded`", "`eventstore/node.sock`", "everything: whoever can write to the log is an administrator",
		func(l listener, s *Server) bool { return l.address == filepath.Join(s.Data, "eventstore", "node.sock") }},
}

// files are what an installation consists of. A path stands for those below that it matches, and which no earlier one does.
var files = []struct{ path, is string }{
	{"", "the installation"},
	{"admin.sock", "where operators' commands reach the running server"},
	{"blobs", ""}, {"blobs/*", ""}, {"blobs/*/*", "plots, long expressions and answers, proof exports"},
	{"engine.lock", "held while the environment is made"},
	{"engine", ""}, {"engine/**", "the Python environment of engine and checker"},
	{"engine.code", ""}, {"engine.code/*", "byte code that starts of the checker have made of its sources"},
	{"engine-giac.lock", "held while that environment is made"},
	{"engine-giac", ""}, {"engine-giac/**", "the Python environment of the second engine"},
	{"engine-mpmath.lock", "held while that environment is made"},
	{"engine-mpmath", ""}, {"engine-mpmath/**", "the Python environment of the engine of numbers"},
	{"eventstore", ""}, {"eventstore/HEAD", "position and link of the newest record"}, {"eventstore/LOCK", "process id of the holder"},
	{"eventstore/node.sock", "where this user's processes reach the log"}, {"eventstore/segments", ""}, {"eventstore/segments/*", "the records of the log"},
	{"eventstore/index", ""}, {"eventstore/index/*", "what finds them; built again when it is lost"},
	{"identity.db", "addresses, password hashes, browser sessions"}, {"identity.db-shm", ""}, {"identity.db-wal", ""},
	{"keys", ""}, {"keys/*.pem", "private halves of the signing keys"}, {"keys/peer.secret", "what the processes of an installation know each other by"},
	{"settings.json", "where the last server had its parts, without passwords"},
	{"readmodels.db", "history, jobs, queue: every account's"}, {"readmodels.db-shm", ""}, {"readmodels.db-wal", ""},
}

// TestDoors: under a umask that would give everything to everyone, and in a folder that was open to all while it was empty, nobody but the
// owner reaches anything but what is meant for them. What there is, is what docs/security.md says.
func TestDoors(t *testing.T) {
	t.Parallel()
	whole, seenDoors, seenFiles := 0, map[int]string{}, map[int]map[string]bool{}
	for _, c := range []struct {
		umask     string
		installed bool // the engine, in a folder of its own
	}{{"000", false}, {"022", true}} {
		t.Run("umask "+c.umask, func(t *testing.T) {
			data := filepath.Join(passable(t), "data")
			if c.installed {
				data = DataFolder(t)
				if err := os.Chmod(filepath.Dir(data), 0o755); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := errors.Join(os.Mkdir(data, 0o700), os.Chmod(data, 0o777)); err != nil { // as made by hand
					t.Fatal(err)
				}
				DataFolder(t) // skips where the engine cannot be installed
			}
			server := startAsked(t, c.umask, data)
			fill(t, server)
			found, taken := listeners(t, server.PID()), map[int]bool{}
			for _, l := range found {
				n := slices.IndexFunc(doors, func(d door) bool { return d.is(l, server) })
				if n < 0 || taken[n] {
					t.Errorf("a listener that docs/security.md does not know: %+v", l)
					continue
				}
				taken[n] = true
				seenDoors[n] = l.reachable(t)
			}
			for path, mode := range contents(t, data) {
				if mode.Perm()&0o077 != 0 && mode&fs.ModeSymlink == 0 {
					t.Errorf("%s: %v", path, mode)
				}
				n := slices.IndexFunc(files, func(f struct{ path, is string }) bool { return matches(f.path, path) })
				if n < 0 {
					t.Errorf("a file that docs/security.md does not know: %s", path)
					continue
				}
				if seenFiles[n] == nil {
					seenFiles[n] = map[string]bool{}
				}
				if mode&fs.ModeSymlink == 0 {
					seenFiles[n][fmt.Sprintf("%04o", mode.Perm())] = true
				}
			}
			whole++
			askStranger(t, data, found)
			if status := server.Interrupt(); status != 0 {
				t.Errorf("exit status %d\n%s", status, server.Output())
			}
		})
	}
	if whole != 2 || t.Failed() {
		return // a part of it was skipped or not asked for
	}
	var listenerRows, fileRows strings.Builder
	for n, d := range doors {
		if seenDoors[n] == "" {
			t.Errorf("nothing listens at %s", d.at)
		}
		fmt.Fprintf(&listenerRows, "| %s | %s | %s | %s |\n", d.at, d.flag, seenDoors[n], d.can)
	}
	for n, f := range files {
		if seenFiles[n] == nil {
			t.Errorf("there is no %s", f.path)
		}
		path := f.path
		if path == "" {
			path = "."
		}
		fmt.Fprintf(&fileRows, "| `%s` | %s | %s |\n", path, strings.Join(slices.Sorted(maps.Keys(seenFiles[n])), ", "), f.is)
	}
	generated(t, "listeners", "| where | opened by | who can connect | and then do |\n|---|---|---|---|\n"+listenerRows.String())
	generated(t, "files", "| path in `--data` | mode | what |\n|---|---|---|\n"+fileRows.String())
}

// passable is a temporary folder that other users can enter, so that what keeps them out is not the test's doing.
func passable(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, path := range []string{folder, filepath.Dir(folder)} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// startAsked starts a server that was asked for every listener there is.
func startAsked(t *testing.T, umask, data string) *Server {
	t.Helper()
	through := []string{"sh", "-c", "umask " + umask + `; exec "$0" "$@"`}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "plans"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := GenerousPlans(t, filepath.Join(folder, "plans"))
	server := StartThrough(t, through, data, "--config", config, "--admin-listen", adminHost+":0", "--admin-token", adminToken, EveryEngine[0], EveryEngine[1])
	found := listeners(t, server.PID())
	n := slices.IndexFunc(found, func(l listener) bool { return strings.HasPrefix(l.address, adminHost+":") })
	if n < 0 {
		t.Fatalf("nothing listens at --admin-listen: %+v", found)
	}
	server.admin = found[n].address
	return server
}

// fill makes the installation keep one of everything.
func fill(t *testing.T, server *Server) {
	t.Helper()
	account := server.NewAccount("doors@example.com")
	account.evaluate(t, "Integrate[x^2 Sin[x], x]", "")
	account.evaluate(t, "a = 5", "notebook")
	account.evaluate(t, `"`+strings.Repeat("long ", 5000)+`"`, "") // over 16 KiB: a blob
}

// listener is a socket that a process listens at.
type listener struct {
	network string // tcp, udp or unix
	address string
}

// reachable tells who can connect, from the address or the modes of the socket and its folder.
func (l listener) reachable(t *testing.T) string {
	t.Helper()
	if l.network == "unix" {
		for _, path := range []string{l.address, filepath.Dir(l.address)} {
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm()&0o077 != 0 || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		return "the service's user"
	}
	address, err := netip.ParseAddrPort(l.address)
	if err != nil || !address.Addr().IsLoopback() {
		t.Errorf("%+v is no loopback address", l)
	}
	return "every user of the machine"
}

// listeners are those of a process and all it has started.
func listeners(t *testing.T, pid int) []listener {
	t.Helper()
	var found []listener
	for _, process := range family(t, pid) {
		folder := filepath.Join("/proc", strconv.Itoa(process))
		descriptors, err := os.ReadDir(filepath.Join(folder, "fd"))
		if err != nil {
			continue // it has ended
		}
		held := map[string]bool{}
		for _, d := range descriptors {
			target, _ := os.Readlink(filepath.Join(folder, "fd", d.Name())) // one that was closed meanwhile is no socket
			if inode, ok := strings.CutPrefix(target, "socket:["); ok {
				held[strings.TrimSuffix(inode, "]")] = true
			}
		}
		const addressColumn, stateColumn, inodeColumn, listening = 1, 3, 9, "0A"
		for _, network := range []string{"tcp", "tcp6", "udp", "udp6"} {
			for _, row := range table(folder, network) {
				if held[row[inodeColumn]] && (strings.HasPrefix(network, "udp") || row[stateColumn] == listening) {
					found = append(found, listener{network[:3], inetAddress(t, row[addressColumn])})
				}
			}
		}
		const flagsColumn, unixInodeColumn, pathColumn, accepting = 3, 6, 7, "00010000"
		for _, row := range table(folder, "unix") {
			if len(row) > pathColumn && held[row[unixInodeColumn]] && row[flagsColumn] == accepting {
				found = append(found, listener{"unix", row[pathColumn]})
			}
		}
	}
	for n, l := range found { // the node binds its socket in a folder of its own and then moves it
		if folder, moved := strings.CutSuffix(l.address, "/.new/s"); moved {
			found[n].address = filepath.Join(folder, "node.sock")
		}
	}
	if len(found) == 0 {
		t.Fatal("no listener found: /proc was misread")
	}
	return found
}

// table reads a table of /proc/PID/net without its heading.
func table(folder, name string) (rows [][]string) {
	content, _ := os.ReadFile(filepath.Join(folder, "net", name)) // of a process that has ended there is none
	for n, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		if n > 0 {
			rows = append(rows, strings.Fields(line))
		}
	}
	return rows
}

// inetAddress reads what /proc says of an address: the bytes of each 32-bit group are in the machine's order.
func inetAddress(t *testing.T, text string) string {
	t.Helper()
	digits, port, _ := strings.Cut(text, ":")
	var ip []byte
	for group := range slices.Chunk([]byte(digits), 8) {
		word, err := strconv.ParseUint(string(group), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		ip = append(ip, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	number, err := strconv.ParseUint(port, 16, 16)
	address, ok := netip.AddrFromSlice(ip)
	if err != nil || !ok {
		t.Fatalf("%s is no address: %v", text, err)
	}
	return netip.AddrPortFrom(address, uint16(number)).String()
}

// family is a process and all that it has started, and they.
func family(t *testing.T, pid int) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	children := map[int][]int{}
	for _, entry := range entries {
		process, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat")) // one that has ended has none
		if _, behind, ok := strings.Cut(string(stat), ") "); ok {
			parent, _ := strconv.Atoi(strings.Fields(behind)[1])
			children[parent] = append(children[parent], process)
		}
	}
	all := []int{pid}
	for n := 0; n < len(all); n++ {
		all = append(all, children[all[n]]...)
	}
	return all
}

// contents are the modes of all files, by their paths below a folder.
func contents(t *testing.T, folder string) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // a journal that was just removed
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			found[strings.TrimPrefix(strings.TrimPrefix(path, folder), "/")] = info.Mode()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// matches tells whether a path is one a pattern stands for: * within a name, ** for anything.
func matches(pattern, path string) bool {
	expression := strings.NewReplacer(`\*\*`, `.*`, `\*`, `[^/]*`).Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("^" + expression + "$").MatchString(path)
}

// generated compares a part of docs/security.md with what was found.
func generated(t *testing.T, name, found string) {
	t.Helper()
	page, err := os.ReadFile(securityPage)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := fmt.Sprintf("<!-- %s: written by go test ./test/e2e -run TestDoors -update -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	before, rest, hasBegin := strings.Cut(string(page), begin)
	now, after, hasEnd := strings.Cut(rest, end)
	switch {
	case !hasBegin || !hasEnd:
		t.Errorf("docs/security.md has no place for %s", name)
	case now == found:
	case *update:
		if err := os.WriteFile(securityPage, []byte(before+begin+found+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/security.md says of %s\n%s\nbut found was\n%s\nIf that is meant, run this test with -update.", name, now, found)
	}
}

// errand is what a stranger tries, as another user of the machine.
type errand struct {
	Data      string
	Listeners []listener
}

// MarshalJSON keeps the fields of a listener out of other packages' sight.
func (l listener) MarshalJSON() ([]byte, error) { return json.Marshal([2]string{l.network, l.address}) }

// UnmarshalJSON undoes MarshalJSON.
func (l *listener) UnmarshalJSON(text []byte) error {
	var pair [2]string
	err := json.Unmarshal(text, &pair)
	l.network, l.address = pair[0], pair[1]
	return err
}

// askStranger tries everything as another user of the machine.
func askStranger(t *testing.T, data string, found []listener) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("not root: what another user of the machine can do was not tried, only modes were read")
		return
	}
	text, err := json.Marshal(errand{data, found})
	if err != nil {
		t.Fatal(err)
	}
	command := asStranger(t, "/proc/self/exe")
	command.Env = []string{strangerEnv + "=" + string(text)}
	output, err := command.CombinedOutput()
	if err != nil || !bytes.HasSuffix(output, []byte(strangerDone)) {
		t.Fatalf("%v\n%s", err, output)
	}
	if got := strings.TrimSuffix(string(output), strangerDone); got != "" {
		t.Errorf("another user of the machine:\n%s", got)
	}
}

// asStranger is a command that another user of the machine runs: a copy of the program at path, in a folder that this user can enter.
func asStranger(t *testing.T, path string, arguments ...string) *exec.Cmd {
	t.Helper()
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(passable(t), "program")
	if err := os.WriteFile(copied, program, 0o755); err != nil { //nolint:gosec // the other user has to run it
		t.Fatal(err)
	}
	command := exec.Command(copied, arguments...)
	command.Dir, command.Env = "/", []string{"HOME=/nonexistent"}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return command
}

const strangerDone = "nothing more\n"

// beStranger prints what this process, run by another user, could do.
func beStranger(text string) {
	var e errand
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	_ = filepath.WalkDir(e.Data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if d.IsDir() {
			if _, err := os.ReadDir(path); err == nil {
				fmt.Println("listed", path)
			}
			if err := os.WriteFile(filepath.Join(path, "mine"), nil, 0o600); err == nil {
				fmt.Println("wrote into", path)
			}
		}
		return nil
	})
	for _, name := range []string{"readmodels.db", "identity.db", "keys/peer.secret", "eventstore/HEAD", "engine/lib"} {
		if _, err := os.Open(filepath.Join(e.Data, name)); err == nil {
			fmt.Println("opened", name)
		}
	}
	var group sync.WaitGroup
	for _, l := range e.Listeners {
		group.Go(func() {
			if l.network == "unix" {
				if _, err := net.Dial("unix", l.address); err == nil {
					fmt.Println("connected to", l.address)
				}
				return
			}
			tryLog(l.address)
			tryAdmin(l.address)
		})
	}
	group.Wait()
	fmt.Print(strangerDone)
	os.Exit(0)
}

// tryLog reads and writes with the official client, behind our own.
func tryLog(address string) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	quiet := slog.New(slog.DiscardHandler)
	log, err := eventstore.Connect(ctx, eventstore.Config{Connection: "esdb://" + address + "?tls=false", Insecure: true, Catalogue: domain.Catalogue(), Logger: quiet})
	if err != nil {
		return
	}
	fmt.Println("the log answers at", address)
	if _, err := log.Read(ctx, "keys"); err == nil {
		fmt.Println("read the stream of keys")
	}
	for r, err := range log.ReadAll(ctx, event.Position{}) {
		fmt.Println("read", r.Stream, err)
		break
	}
}

// tryAdmin asks without a credential, and by a name that is not ours.
func tryAdmin(address string) {
	client := http.Client{Timeout: 5 * time.Second}
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/connections", "/projections/"} {
		for host, authorization := range map[string]string{address: "", "evil.example": "Bearer " + adminToken} {
			request, err := http.NewRequest("GET", "http://"+address+path, nil)
			if err != nil {
				continue
			}
			request.Host = host
			request.Header.Set("Authorization", authorization)
			if response, err := client.Do(request); err == nil {
				_ = response.Body.Close()
				if response.StatusCode < 300 {
					fmt.Println("was answered", path, "by", address, "as", host)
				}
			}
		}
	}
}

// TestMetricsAndProfiles are where operators look for them.
func TestMetricsAndProfiles(t *testing.T) {
	t.Parallel()
	server := startAsked(t, "022", DataFolder(t))
	local := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(server.Data, "admin.sock"))
	}}}
	for _, path := range []string{"/metrics", "/debug/pprof/heap"} {
		response, err := local.Get("http://admin" + path)
		if err != nil || response.StatusCode != 200 {
			t.Errorf("%s on the socket: %v", path, err)
		}
		request, err := http.NewRequest("GET", "http://"+server.admin+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+adminToken)
		if response, err = http.DefaultClient.Do(request); err != nil || response.StatusCode != 200 {
			t.Errorf("%s on the port: %v", path, err)
		}
	}
}
