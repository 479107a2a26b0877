package domain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"reckon/domain"
	"reckon/domain/event"
)

var update = flag.Bool("update", false, "write golden files of new event versions")

const goldenFolder = "testdata/events"

func goldenFile(name string, version int) string {
	return filepath.Join(goldenFolder, fmt.Sprintf("%s.v%d.json", name, version))
}

// TestGolden: what the log holds of every version ever written stays readable.
// A golden file is never rewritten: it stands for events that exist. A changed
// shape is a new version, with an upcast from the one before.
func TestGolden(t *testing.T) {
	catalogue := domain.Catalogue()
	if *update {
		writeGolden(t, catalogue)
	}
	expected := map[string]bool{}
	for _, name := range catalogue.Names() {
		declared := catalogue[name]
		for version := 1; version <= declared.Version; version++ {
			expected[filepath.Base(goldenFile(name, version))] = true
			stored, err := os.ReadFile(goldenFile(name, version))
			if err != nil {
				t.Errorf("%v: run `make events`", err)
				continue
			}
			got, err := catalogue.Decode(name, version, stored)
			if err != nil {
				t.Errorf("%s v%d cannot be read any more: %v", name, version, err)
				continue
			}
			if version == declared.Version {
				same(t, catalogue, got, stored)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(goldenFolder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !expected[filepath.Base(file)] {
			t.Errorf("%s: the log may hold such events and no declaration reads them", file)
		}
	}
}

// same wants the event to be the declared sample, and to be stored as it was.
func same(t *testing.T, catalogue event.Catalogue, got event.Event, stored []byte) {
	t.Helper()
	name := got.EventName()
	if sample := catalogue[name].Sample; !reflect.DeepEqual(got, sample) {
		t.Errorf("%s: the golden file says\n%+v\nand the declared sample is\n%+v", name, got, sample)
	}
	version, data, err := catalogue.Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, bytes.TrimSpace(stored)) {
		t.Errorf("%s v%d is stored in another shape now:\nwas %s\nis  %s\nAdd an upcast to its declaration; delete the golden file only if no log holds such an event.", name, version, stored, data)
	}
}

// TestEveryEventTypeIsDescribed: the audit, the usage of accounts and the documentation know of an event what its type says.
func TestEveryEventTypeIsDescribed(t *testing.T) {
	for name, declared := range domain.Catalogue() {
		if declared.Facts == nil {
			t.Errorf("%s: declare it with decider.On, or decider.Undecided where nothing decides on its stream", name)
			continue
		}
		address := declared.Address(declared.Sample)
		if address.Stream == "" && name != "slots.refunded" {
			t.Errorf("%s does not say in which stream it stands", name)
		}
		data, err := json.Marshal(declared.Sample)
		if err != nil {
			t.Fatal(err)
		}
		if given := declared.Given(declared.Sample); given.Field != "" && !bytes.Contains(data, []byte(fmt.Sprintf("%q:%q", given.Field, given.Value))) {
			t.Errorf("%s has no %s that is %s", name, given.Field, given.Value)
		}
		if account := []byte(`"account":"`); bytes.Contains(data, account) && address.Account == "" {
			t.Errorf("%s has an account, and does not say that it is of it", name)
		}
		if declared.Begins(declared.Sample) && address.Account == "" {
			t.Errorf("%s begins something for no account", name)
		}
	}
}

func writeGolden(t *testing.T, catalogue event.Catalogue) {
	if err := os.MkdirAll(goldenFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range catalogue.Names() {
		version, data, err := catalogue.Encode(catalogue[name].Sample)
		if err != nil {
			t.Fatal(err)
		}
		file := goldenFile(name, version)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// moved is a test's event at its third version: v1 held a name, v2 called it
// title, v3 counts the pages.
type moved struct {
	Title string `json:"title"`
	Pages int    `json:"pages"`
}

func (moved) EventName() string { return "test.moved" }

// TestUpcast shows how an event's shape changes: one upcast a version, and every
// older version is still read.
func TestUpcast(t *testing.T) {
	rename := func(data json.RawMessage) (json.RawMessage, error) {
		var v1 struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(data, &v1); err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"title": v1.Name})
	}
	onePage := func(data json.RawMessage) (json.RawMessage, error) {
		var v2 map[string]any
		if err := json.Unmarshal(data, &v2); err != nil {
			return nil, err
		}
		v2["pages"] = 1
		return json.Marshal(v2)
	}
	catalogue, err := event.NewCatalogue([]event.Type{event.Of(moved{Title: "t", Pages: 2}, rename, onePage)})
	if err != nil {
		t.Fatal(err)
	}
	for version, stored := range map[int]string{1: `{"name":"t"}`, 2: `{"title":"t"}`, 3: `{"title":"t","pages":1}`} {
		got, err := catalogue.Decode("test.moved", version, []byte(stored))
		if want := (moved{Title: "t", Pages: 1}); err != nil || got != event.Event(want) {
			t.Errorf("v%d: %+v, %v; want %+v", version, got, err, want)
		}
	}
	var newer *event.VersionError
	if _, err := catalogue.Decode("test.moved", 4, []byte(`{}`)); !errors.As(err, &newer) || newer.Newest != 3 {
		t.Errorf("an event of a newer binary: %v", err)
	}
	if _, err := catalogue.Decode("test.moved", 1, []byte(`[]`)); err == nil {
		t.Error("an upcast's failure was lost")
	}
	if version, data, err := catalogue.Encode(moved{Title: "t", Pages: 1}); err != nil || version != 3 || string(data) != `{"title":"t","pages":1}` {
		t.Errorf("stored as v%d %s, %v", version, data, err)
	}
	if _, err := event.NewCatalogue([]event.Type{event.Of(moved{})}, []event.Type{event.Of(moved{})}); err == nil {
		t.Error("one name was declared twice")
	}
}
