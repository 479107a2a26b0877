package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestListsAreComplete: what a file declares is listed, so that nothing exists
// that no process keeps or serves.
func TestListsAreComplete(t *testing.T) {
	for _, folder := range []string{"projections", "readapi", "writeapi"} {
		folder, err := filepath.Abs(filepath.Join("../..", folder))
		if err != nil {
			t.Fatal(err)
		}
		want, err := renderList(folder)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(folder, listFile))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s/%s is not what its files declare (%v): run `make generate`", filepath.Base(folder), listFile, err)
		}
	}
}

func TestAMethodIsListedByWhatItDeclares(t *testing.T) {
	for _, c := range []struct {
		source string
		want   map[string]int // how often each part stands in the list
	}{
		{"func (*Visits) Projection() {}\nfunc (*Visits) List() {}\nfunc Projection() {}", map[string]int{"Visits: &Visits{from: from}": 1, "m.Visits.Projection()": 1}},
		{"func (Services) registerVisits(api *httpkit.API) {}\nfunc (Services) visits() {}\nfunc (Services) registerInLog(id string) {}\nfunc registerDocs(api *httpkit.API) {}",
			map[string]int{"s.registerVisits(api)": 1, "s.visits": 0, "s.registerInLog": 0, "registerDocs": 0}},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "visits.go"), []byte("package p\n\n"+c.source), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, ignored := range []string{listFile, "visits_test.go"} {
			if err := os.WriteFile(filepath.Join(folder, ignored), []byte("not Go"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		list, err := renderList(folder)
		if err != nil {
			t.Fatal(err)
		}
		for part, want := range c.want {
			if got := bytes.Count(list, []byte(part)); got != want {
				t.Errorf("%q stands %d times, want %d, in\n%s", part, got, want, list)
			}
		}
	}
}
