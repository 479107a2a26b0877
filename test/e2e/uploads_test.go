package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reckon/domain/upload"
	"reckon/test/need"
	"reckon/test/sweep"
)

// bigExport is a well-formed export of just under so many bytes, another for each i. Names have up to 200 components.
func bigExport(i, size int) string {
	var b strings.Builder
	b.Grow(size)
	b.WriteString(`{"meta":{"format":{"version":"3.1.0"}}}` + "\n")
	name := 1
	for {
		line := fmt.Sprintf(`{"in":%d,"str":{"pre":%d,"str":"n%d_%d"}}`+"\n", name, (name-1)%200, i, name)
		if b.Len()+len(line) > size {
			return b.String()
		}
		b.WriteString(line)
		name++
	}
}

// TestManyUploadsAtOnce uploads the largest exports from many clients at once,
// within one GiB of memory, and then kills the server in the middle of as many
// more: every upload that was acknowledged is whole in the log and in the blob
// store, and nothing else is there.
func TestManyUploadsAtOnce(t *testing.T) {
	t.Parallel()
	clients := sweep.Size(t, "RECKON_UPLOAD_CLIENTS", 8, 24)
	size := sweep.Size(t, "RECKON_UPLOAD_MIB", 4, 16) << 20
	data := DataFolder(t)
	server := Start(t, data, "--config", proofPlans(t, data))
	account := server.NewAccount("many@example.com")
	server.Command("", "account", "plan", account.Email, "big", "--config", filepath.Join(data, "reckon.toml"))
	account.http = &http.Client{}
	var acknowledged sync.Map // upload id → sha256
	uploadAll := func(round int, stored func(so int64, err error)) {
		var group sync.WaitGroup
		var through atomic.Int64
		for i := range clients {
			group.Go(func() {
				content := bigExport(round*1000+i, size)
				u, err := account.upload(content, ndjson)
				for busy(err) {
					u, err = account.upload(content, ndjson)
				}
				if err == nil {
					acknowledged.Store(u.UploadID, u.ExportSHA256)
					if u.ExportSHA256 != sum(content) {
						t.Errorf("stored as %s", u.ExportSHA256)
					}
					stored(through.Add(1), nil)
					return
				}
				stored(0, err)
			})
		}
		group.Wait()
	}
	uploadAll(0, func(_ int64, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	if peak := peakMemoryMiB(t, server); peak > 1024 {
		t.Errorf("%d uploads of %d MiB took %d MiB of memory", clients, size>>20, peak)
	} else {
		t.Logf("%d uploads of %d MiB at once: %d MiB of memory at most", clients, size>>20, peak)
	}
	uploadAll(1, func(so int64, _ error) {
		if so == int64(clients/4) { // some are through, and others are not
			server.Kill()
		}
	})
	server.Kill()
	server = Start(t, data, "--config", filepath.Join(data, "reckon.toml"))
	account.URL = server.URL
	wholeBlobs(t, server)
	log := connect(t, server)
	acknowledged.Range(func(id, sha any) bool {
		history, err := log.Read(t.Context(), upload.Stream(id.(string)))
		if err != nil {
			t.Fatal(err)
		}
		state := upload.Decider.Fold(history.Domain())
		if state.Stored == nil || state.Stored.Export.SHA256 != sha || !hasBlob(server, state.Stored.Blob.SHA256) {
			t.Errorf("upload %s was acknowledged and is %+v", id, state.Stored)
		}
		return true
	})
}

// busy tells whether a request is to be sent again: the server refuses what it has no time for, on a busy machine even few uploads.
func busy(err error) bool {
	refused, ok := errors.AsType[*StatusError](err)
	return ok && (refused.Code == "saturated" || refused.Code == "unavailable")
}

// peakMemoryMiB is the most memory a server has had in use.
func peakMemoryMiB(t *testing.T, server *Server) int {
	t.Helper()
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(need.Proc(t, "%d/status", server.PID()))
	if found == nil {
		t.Fatal("no VmHWM in /proc")
	}
	kib, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// wholeBlobs wants every named blob to hash to its name.
func wholeBlobs(t *testing.T, server *Server) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(server.Data, "blobs"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") { // uploads under way, the folder's lock, whose log it is of
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && sum(string(content)) != d.Name() {
			t.Errorf("%s is half stored", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func hasBlob(server *Server, sha string) bool {
	_, err := os.Stat(filepath.Join(server.Data, "blobs", sha[:2], sha))
	return err == nil
}

// FuzzUpload sends anything to a running server: it answers with a receipt or a
// refusal of its own, and goes on.
func FuzzUpload(f *testing.F) {
	data := DataFolder(f)
	server := Start(f, data, "--config", proofPlans(f, data))
	account := server.NewAccount("fuzz@example.com")
	for _, name := range []string{"judge/proofIrrel", "reject/bogus1", "judge/format-3.0.0"} {
		content := []byte(leanExport(f, name))
		f.Add(content, false)
		f.Add([]byte(zip(f, string(content))), true)
		f.Add(content[:len(content)/2], true)
		f.Add(bytes.ReplaceAll(content, []byte("\n"), []byte("\n\n")), false)
	}
	f.Fuzz(func(t *testing.T, content []byte, zipped bool) {
		header := ndjson
		if zipped {
			header = http.Header{"Content-Type": {"application/gzip"}, "Content-Encoding": {"gzip"}}
		}
		_, err := account.upload(string(content), header)
		status, code := statusOf(err)
		if status != 200 && (status != 400 || code != "invalid_export" && code != "export_over_budget") && status != 413 {
			t.Fatalf("%v", err)
		}
	})
}
