package htmx_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"reckon/readapi/workbench/htmx"
)

// TestManifest: what is not ours in this folder is what the manifest says, byte for byte, and nothing else is here.
func TestManifest(t *testing.T) {
	var manifest struct {
		Version, Licence string
		Files            map[string]struct{ SHA256 string }
	}
	if err := json.Unmarshal(htmx.Manifest, &manifest); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".go") || entry.Name() == "manifest.json" {
			continue
		}
		content, err := os.ReadFile(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if got, want := hex.EncodeToString(sum[:]), manifest.Files[entry.Name()].SHA256; got != want {
			t.Errorf("%s: its SHA-256 is %s, the manifest says %q", entry.Name(), got, want)
		}
		seen++
	}
	if seen != len(manifest.Files) || manifest.Version == "" || manifest.Licence == "" {
		t.Errorf("%d files here; %+v", seen, manifest)
	}
	if !strings.Contains(string(htmx.Script), `version:"`+manifest.Version+`"`) {
		t.Errorf("the script is not of version %s", manifest.Version)
	}
}
