package main

import (
	"encoding/json"
	"strings"
	"testing"

	projecting "reckon/projections/engine"
)

// TestParkedIsShownAndGivenUpOnRequest: drop says how many events it is about and does nothing unless it is told to.
func TestParkedIsShownAndGivenUpOnRequest(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stream := parkOne(t, data)
	run := func(want int, stdin string, arguments ...string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := reckon(t, stdin, nil, append(arguments, "--data", data)...)
		if status != want {
			t.Fatalf("%q: status %d\n%s\n%s", arguments, status, stdout, stderr)
		}
		return stdout, stderr
	}
	if out, _ := run(0, "", "parked", "show", "tokens", stream); !strings.Contains(out, `parked since 2026-08-01T12:00:00Z: a <b>\u001b[2Jreason`) || !strings.Contains(out, stream+"@0  account.registered v1") {
		t.Errorf("%s", out)
	}
	run(2, "", "parked", "show", "tokens", "none")
	if out, _ := run(0, "", "parked", "drop", "tokens", stream, "--dry-run"); !strings.Contains(out, "1 parked events") {
		t.Errorf("%s", out)
	}
	if _, says := run(2, "", "parked", "drop", "tokens", stream); !strings.Contains(says, "give --yes") {
		t.Errorf("%s", says)
	}
	if _, says := run(2, "no\n", "parked", "drop", "tokens", stream); !strings.Contains(says, "Give up 1 parked events") || !strings.Contains(says, "nothing was done") {
		t.Errorf("%s", says)
	}
	run(2, "", "parked", "drop", "tokens", "none", "--yes")
	run(1, "", "parked") // it is there still
	if out, _ := run(0, "yes\n", "parked", "drop", "tokens", stream); !strings.Contains(out, "are given up") {
		t.Errorf("%s", out)
	}
	run(0, "", "parked")
}

// TestDryRuns say what would be done and do nothing; versions shows what the database holds.
func TestDryRuns(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	run := func(want int, arguments ...string) string {
		t.Helper()
		status, stdout, stderr := reckon(t, "", nil, append(arguments, "--data", data)...)
		if status != want {
			t.Fatalf("%q: status %d\n%s\n%s", arguments, status, stdout, stderr)
		}
		return stdout
	}
	run(0, "keys", "rotate", "--init")
	run(0, "projections", "boot", "tokens")
	stored := func() (of projecting.StoredVersion) {
		t.Helper()
		var list []projecting.StoredVersion
		if err := json.Unmarshal([]byte(run(0, "projections", "versions", "--json")), &list); err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if v.Name == "tokens" {
				of = v
			}
		}
		return of
	}
	before := stored()
	if len(before.Tables) == 0 || before.Position.Commit == 0 || before.Writer != "" {
		t.Fatalf("%+v", before)
	}
	if out := run(0, "projections", "boot", "tokens", "--dry-run"); !strings.Contains(out, before.Tables[0]) || !strings.Contains(out, "would drop") {
		t.Errorf("%s", out)
	}
	version := strings.TrimPrefix(before.Tables[0], "tokens_v")
	if out := run(0, "projections", "teardown", "tokens", version, "--dry-run"); !strings.Contains(out, before.Tables[0]) {
		t.Errorf("%s", out)
	}
	run(2, "projections", "teardown", "tokens", "99", "--dry-run")
	run(2, "projections", "boot", "none", "--dry-run")
	if after := stored(); after.Position != before.Position || after.Version != before.Version {
		t.Errorf("%+v, was %+v", after, before)
	}
	run(0, "projections", "teardown", "tokens", version)
	if after := stored(); after.Name != "" {
		t.Errorf("%+v", after)
	}
	if out := run(0, "projections", "versions"); !strings.HasPrefix(out, "NAME") {
		t.Errorf("%s", out)
	}
}
