package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// counts are what a leak of the server would add to.
type counts struct{ goroutines, descriptors, processes int }

func (c counts) over(other counts) bool {
	return c.goroutines > other.goroutines || c.descriptors > other.descriptors || c.processes > other.processes
}

// counts are the server's own, with all processes below it.
func (s *Server) counts(t *testing.T) (c counts) {
	t.Helper()
	descriptors, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.PID()))
	if err != nil {
		t.Skipf("needs /proc: %v", err)
	}
	c.descriptors, c.processes = len(descriptors), processesBelow(t, s.PID())
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(s.Data, "admin.sock"))
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	response, err := client.Get("http://admin/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if number, is := strings.CutPrefix(lines.Text(), "go_goroutines "); is {
			if _, err := fmt.Sscan(number, &c.goroutines); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// processesBelow counts the descendants of a process that have not ended.
func processesBelow(t *testing.T, pid int) (n int) {
	t.Helper()
	numbers, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	parents := map[string]string{}
	for _, number := range numbers {
		stat, err := os.ReadFile("/proc/" + number.Name() + "/stat")
		if err != nil {
			continue // no process, or one that has just ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[0] != "Z" {
			parents[number.Name()] = fields[1]
		}
	}
	for number := range parents {
		for parent := parents[number]; parent != ""; parent = parents[parent] {
			if parent == fmt.Sprint(pid) {
				n++
				break
			}
		}
	}
	return n
}

// TestNothingIsLeftBehind: 32 clients who leave in the middle, run over the budget, kill their workers and want too much. When
// they are gone the server has as many goroutines, descriptors and processes as before. RECKON_LEAK_SECONDS makes them stay
// for that long.
func TestNothingIsLeftBehind(t *testing.T) {
	const clients, accounts = 32, 8
	rounds, until := 6, time.Now().Add(time.Hour)
	if seconds := os.Getenv("RECKON_LEAK_SECONDS"); seconds != "" {
		long, err := time.ParseDuration(seconds + "s")
		if err != nil {
			t.Fatal(err)
		}
		rounds, until = 1<<30, time.Now().Add(long)
	}
	data := DataFolder(t)
	server := Start(t, data, "--workers", "4", "--queue-wait", "500ms", "--config", GenerousPlans(t, data))
	var all [accounts]*Account
	for i := range all {
		all[i] = server.NewAccount(fmt.Sprintf("client%d@example.com", i))
	}
	codes := []string{"1+1", "Quit[]", `StringRepeat["a",3*10^6]`, "Range[10^5]", `ToExpression[StringRepeat["(",10^5]]`, "Pause[20]", "Integrate[x^2 Sin[x], x]", `Print[StringRepeat["a",3*10^6]]`}
	calls := func(rounds int) {
		var group sync.WaitGroup
		for client := range clients {
			group.Go(func() {
				account := all[client%accounts]
				for n := 0; n < rounds && time.Now().Before(until); n++ {
					leave := account.start(t, codes[(client+n)%len(codes)], []string{"a", "b"}[n%2])
					time.Sleep(time.Duration((client*7+n*13)%40) * time.Millisecond) // a client's own pace; nothing is waited for
					leave()
				}
			})
		}
		group.Wait()
		for _, account := range all {
			for _, session := range []string{"a", "b"} {
				if err := account.JSON("DELETE", "/api/sessions/"+session, nil, nil); err != nil {
					t.Error(err)
				}
			}
			account.http.CloseIdleConnections()
		}
	}
	calm := func(enough func(counts) bool) (c counts) {
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if c = server.counts(t); enough(c) || time.Now().After(deadline) {
				return c
			}
		}
	}
	calls(1) // everything has been used once
	last, same := counts{}, 0
	before := calm(func(c counts) bool {
		if c != last {
			last, same = c, 0
		}
		same++
		return same > 25
	})
	calls(rounds)
	after := calm(func(c counts) bool { return !c.over(before) })
	t.Logf("before %+v, after %+v", before, after)
	if after.over(before) {
		t.Errorf("left behind: before %+v, after %+v", before, after)
	}
	all[0].evaluate(t, "1+1", "")
}
