package qsim_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

// succeeded runs a circuit and returns its id and its result.
func succeeded(t *testing.T, s *apitest.Server, u *apitest.User, circuit string) (id string, result map[string]any) {
	t.Helper()
	id, _ = submit(t, u, `{"kind":"qsim","circuit":`+circuit+`}`).OK(t).JSON["job_id"].(string)
	s.RunJob(t, id)
	answer := u.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t)
	result, _ = answer.JSON["result"].(map[string]any)
	if answer.JSON["status"] != "succeeded" {
		t.Fatalf("%s", answer.Body)
	}
	return id, result
}

func filePath(id string) string { return "/api/jobs/" + id + "/statevector.npy" }

// TestStatevectorIsDownloaded: the bytes are those the log names, also in parts, and only their owner's.
func TestStatevectorIsDownloaded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	const ghz = `{"qubits":14,"seed":1,"npy":true,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":13}],"noise":{"readout":[{"matrix":[[0.9,0.1],[0,1]]}]}}`
	id, result := succeeded(t, s, u, ghz)
	named, _ := result["npy"].(map[string]any)
	if result["engine"] != "statevector-double-v1" || named["bytes"] != float64(128+16<<14) {
		t.Fatalf("%v, %v", result["engine"], named)
	}
	a := u.Do(t, http.MethodGet, filePath(id), "")
	if a.Status != http.StatusOK || len(a.Body) != 128+16<<14 || !strings.HasPrefix(string(a.Body), "\x93NUMPY") {
		t.Fatalf("%d, %d bytes", a.Status, len(a.Body))
	}
	sum := sha256.Sum256(a.Body)
	if got := hex.EncodeToString(sum[:]); got != named["sha256"] || a.Header.Get("ETag") != `"`+got+`"` {
		t.Errorf("%s, %v, %v", got, named, a.Header)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "Content-Length": fmt.Sprint(len(a.Body)), "Cache-Control": "no-store", "Accept-Ranges": "bytes",
		"Content-Disposition": `attachment; filename="` + id + `.npy"`,
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, at := range []int{0, 1<<13 + 1} {
		if re := math.Float64frombits(binary.LittleEndian.Uint64(a.Body[128+16*at:])); math.Abs(re-math.Sqrt2/2) > 1e-15 {
			t.Errorf("amplitude %d is %v", at, re)
		}
	}
	if part := u.Do(t, http.MethodGet, filePath(id), "", "Range", "bytes=128-143"); part.Status != http.StatusPartialContent || string(part.Body) != string(a.Body[128:144]) {
		t.Errorf("%d, %d bytes", part.Status, len(part.Body))
	}
	if same := u.Do(t, http.MethodGet, filePath(id), "", "If-None-Match", a.Header.Get("ETag")); same.Status != http.StatusNotModified || len(same.Body) > 0 {
		t.Errorf("%d, %d bytes", same.Status, len(same.Body))
	}
	u.Do(t, http.MethodGet, filePath(id), "", "Range", fmt.Sprintf("bytes=%d-", len(a.Body))).Want(t, httpkit.RangeRefused)
	u.Do(t, http.MethodGet, filePath(id), "", "If-Match", `"another"`).Want(t, httpkit.ConditionFailed)
	if head := u.Do(t, http.MethodHead, filePath(id), ""); head.Status != http.StatusOK || head.Header.Get("Content-Length") != fmt.Sprint(len(a.Body)) || len(head.Body) > 0 {
		t.Errorf("%d, %v", head.Status, head.Header)
	}
	s.NewUser(t).Do(t, http.MethodGet, filePath(id), "").Want(t, httpkit.NoSuchJob)
	if again, second := succeeded(t, s, u, ghz); again == id || second["npy"].(map[string]any)["sha256"] != named["sha256"] { //nolint:forcetypeassert // the test fails
		t.Errorf("%v", second)
	}
}

// TestJobsWithoutAStatevector: 404 where no file was asked for or the job has not ended, and refusals that cost no slot.
func TestJobsWithoutAStatevector(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{StateBytes: 1 << 20})
	u := s.NewUser(t)
	id, result := succeeded(t, s, u, `{"qubits":1,"gates":[]}`)
	u.Do(t, http.MethodGet, filePath(id), "").Want(t, httpkit.NoStatevector)
	if result["npy"] != nil {
		t.Errorf("%v", result)
	}
	waiting, _ := submit(t, u, `{"kind":"qsim","circuit":{"qubits":1,"npy":true,"gates":[]}}`).OK(t).JSON["job_id"].(string)
	u.Do(t, http.MethodGet, filePath(waiting), "").Want(t, httpkit.NoStatevector)
	u.Do(t, http.MethodGet, filePath("7c9e6679-7425-50de-944b-e07fc1f90ae7"), "").Want(t, httpkit.NoSuchJob)
	for circuit, says := range map[string]string{
		`{"qubits":1,"npy":true,"gates":[{"gate":"h","target":0},{"gate":"measure","target":0},{"gate":"h","target":0}]}`: "wrong_state",
		`{"qubits":1,"npy":true,"gates":[{"gate":"bit_flip","target":0,"p":0.1}]}`:                                        "wrong_state",
		`{"qubits":1,"npy":true,"gates":[{"gate":"rx","target":0,"angle":"a"}],"sweep":[{"a":1}]}`:                        "wrong_sweep",
		`{"qubits":40,"npy":true,"gates":[]}`:                                                                             "qubits_out_of_range",
		`{"qubits":17,"npy":true,"gates":[]}`:                                                                             "state_too_large",
		`{"qubits":1,"npy":"x.npy","gates":[]}`:                                                                           "wrong_type",
	} {
		a := submit(t, u, `{"kind":"qsim","circuit":`+circuit+`}`)
		a.Want(t, malformed)
		if !strings.Contains(string(a.Body), says) {
			t.Errorf("%s: %s", circuit, a.Body)
		}
	}
}

// TestForgottenStatevectors: once its age or the account's bound is reached, a file is gone, and the answer says how to get it again.
func TestForgottenStatevectors(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{StateBytes: 1 << 20})
	u := s.NewUser(t)
	first, named := succeeded(t, s, u, `{"qubits":15,"npy":true,"gates":[]}`)
	second, _ := succeeded(t, s, u, `{"qubits":15,"npy":true,"gates":[{"gate":"x","target":0}]}`)
	for _, id := range []string{first, second} { // 512 KiB each, and a head that does not count
		u.Do(t, http.MethodGet, filePath(id), "").OK(t)
	}
	succeeded(t, s, u, `{"qubits":1,"npy":true,"gates":[]}`)
	a := u.Do(t, http.MethodGet, filePath(first), "")
	a.Want(t, httpkit.StateForgotten)
	sha, _ := named["npy"].(map[string]any)["sha256"].(string) //nolint:forcetypeassert // the test fails
	if !strings.Contains(string(a.Body), sha) || !strings.Contains(string(a.Body), "again") || a.Status != http.StatusGone {
		t.Errorf("%s", a.Body)
	}
	u.Do(t, http.MethodGet, filePath(second), "").OK(t)
	all, _ := succeeded(t, s, u, `{"qubits":16,"npy":true,"gates":[]}`)
	u.Do(t, http.MethodGet, filePath(all), "").OK(t)
	u.Do(t, http.MethodGet, filePath(second), "").Want(t, httpkit.StateForgotten)

	s = apitest.Start(t, apitest.Options{StateAge: time.Nanosecond})
	u = s.NewUser(t)
	id, _ := succeeded(t, s, u, `{"qubits":1,"npy":true,"gates":[]}`)
	u.Do(t, http.MethodGet, filePath(id), "").Want(t, httpkit.StateForgotten)
}
