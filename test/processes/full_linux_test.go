package processes

import (
	"os"
	"path/filepath"
	"testing"

	"reckon/internal/blobs/s3test"
	"reckon/internal/disk"
	"reckon/projections/pgtest"
	"reckon/test/need"
	"reckon/test/wait"
)

// filled fills a disk, and returns what makes room on it again.
func filled(t *testing.T, folder string, size int) (makeRoom func()) {
	t.Helper()
	filling := filepath.Join(folder, "filling")
	if err := os.WriteFile(filling, make([]byte, 2*size), 0o600); !disk.IsFull(err) {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		must(t, os.Remove(filling))
	}
}

// TestWhatCallersAreToldByFullDisks is TestWhatCallersAreTold of the disk of the bucket's service and of that of the log. Once there is room all is as before;
// the node, which ends then, is started again.
func TestWhatCallersAreToldByFullDisks(t *testing.T) {
	t.Parallel()
	const size = 32 << 20
	ofBucket, ofLog := need.SmallDisk(t, size), need.SmallDisk(t, size)
	in := installIn(t, ofLog, plans, pgtest.Database(t), func(string) {})
	in = withBucket(in, s3test.StartIn(t, ofBucket)).installation
	server := in.api("api,project,run,react")
	alice := server.NewAccount("alice@example.com")
	requests := tableRequests(t, alice)
	works := func() bool { return allAnswered(t, server, alice, requests) }
	wait.Until(t, "everything works", works)
	told := map[string]map[string]string{}
	measure := func(failure string, refused request) {
		t.Helper()
		wait.Until(t, failure+": a write is refused", func() bool { return answerTo(alice, refused) != "200" }) // a file's last page takes some
		answers := answersTo(alice, requests)
		answers["`GET /readyz`"] = notReady(t, server)
		told[failure] = answers
	}

	makeRoom := filled(t, ofBucket, size)
	measure("blobs, full", request{method: "POST", path: "/api/evaluate", body: longAnswer})
	makeRoom()
	wait.Until(t, "everything works after the bucket was full", works)

	makeRoom = filled(t, ofLog, size)
	measure("eventstore, full", request{method: "POST", path: "/api/evaluate", body: map[string]any{"expression": "1 + 1"}})
	makeRoom()
	<-in.node.exited
	if status := in.node.command.ProcessState.ExitCode(); status != 2 {
		t.Errorf("the node ends with %d:\n%s", status, in.node.output)
	}
	in.startNode()
	wait.Until(t, "everything works after the log was full", works)

	compareTold(t, told)
	settle(t, connect(t, in.log)).check(t)
}
