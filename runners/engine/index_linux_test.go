package engine_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

// index is a package index (PEP 503) with packages of a few lines that bear the names of the engine's. What Install does
// is the same for them as for the engine's own, which TestDoors in test/e2e and enginetest.Environment install.
type index struct {
	url  string
	pins []byte // as requirements.txt
}

// startIndex serves an index and lets Install, in this process and in those it starts, install from it and from nothing
// else. beforeDownload, when set, is called with the name of every file before it is sent.
func startIndex(t *testing.T, bulkBytes int, beforeDownload func(file string)) index {
	t.Helper()
	enginetest.Environment(t) // skips where there is no Python
	files, pages, pins := map[string][]byte{}, map[string]string{}, ""
	for name, modules := range map[string]map[string]string{
		"woxi":         {"woxi/__init__.py": "def interpret(code):\n    return str(eval(code))\n", "woxi/bulk.txt": strings.Repeat("x", bulkBytes)},
		"python-flint": {"flint/__init__.py": "fmpz = int\n"},
	} {
		file := strings.ReplaceAll(name, "-", "_") + "-0.0.1-py3-none-any.whl"
		files[file] = wheel(t, name, modules)
		sum := sha256.Sum256(files[file])
		pages[name] = fmt.Sprintf("<a href=\"/files/%s#sha256=%x\">%s</a>", file, sum, file)
		pins += fmt.Sprintf("%s==0.0.1 --hash=sha256:%x\n", name, sum)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content, ok := files[path.Base(r.URL.Path)]; ok {
			if beforeDownload != nil {
				beforeDownload(path.Base(r.URL.Path))
			}
			_, _ = w.Write(content)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(pages[path.Base(r.URL.Path)]))
	}))
	t.Cleanup(server.Close)
	useIndex(t, server.URL+"/simple/")
	t.Cleanup(engine.PinForTest([]byte(pins)))
	return index{url: server.URL, pins: []byte(pins)}
}

// useIndex has pip ask this index only, whatever the machine's own settings are.
func useIndex(t *testing.T, url string) {
	t.Helper()
	for name, value := range map[string]string{
		"PIP_CONFIG_FILE": os.DevNull, "PIP_FIND_LINKS": "", "PIP_NO_INDEX": "", "PIP_EXTRA_INDEX_URL": "",
		"PIP_INDEX_URL": url, "PIP_CACHE_DIR": t.TempDir(), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
	} {
		t.Setenv(name, value)
	}
}

// wheel packs files as a package of one version; stored, not compressed, so that it is as large as they are.
func wheel(t *testing.T, name string, modules map[string]string) []byte {
	t.Helper()
	info := strings.ReplaceAll(name, "-", "_") + "-0.0.1.dist-info/"
	modules[info+"METADATA"] = "Metadata-Version: 2.1\nName: " + name + "\nVersion: 0.0.1\n"
	modules[info+"WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	record := ""
	for file := range modules {
		record += file + ",,\n"
	}
	modules[info+"RECORD"] = record + info + "RECORD,,\n"
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for file, content := range modules {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: file, Method: zip.Store})
		must(t, err)
		_, err = w.Write([]byte(content))
		must(t, err)
	}
	must(t, archive.Close())
	return packed.Bytes()
}

// installed is an environment of the test's own, with the packages of an index of its own.
func installed(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "data", "engine")
	must(t, engine.Core.Install(t.Context(), folder, nil))
	if status := engine.Core.Status(folder); !status.Ready {
		t.Fatalf("not ready after Install: %+v", status)
	}
	return folder
}
