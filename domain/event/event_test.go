package event_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reckon/domain/event"
)

// noted is a test's event at its second version: v1 called its text a note.
type noted struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

func (noted) EventName() string { return "test.noted" }

// plain has had one version only.
type plain struct {
	Text string `json:"text"`
}

func (plain) EventName() string { return "test.plain" }

// unheard is declared nowhere.
type unheard struct{}

func (unheard) EventName() string { return "test.unheard" }

// unencodable cannot be written as JSON.
type unencodable struct{ C chan int }

func (unencodable) EventName() string { return "test.unencodable" }

var errNoNote = errors.New("no note")

func fromNote(data json.RawMessage) (json.RawMessage, error) {
	var v1 struct {
		Note *string `json:"note"`
	}
	if err := json.Unmarshal(data, &v1); err != nil {
		return nil, err
	}
	if v1.Note == nil {
		return nil, errNoNote
	}
	return json.Marshal(noted{Text: *v1.Note, Count: 1})
}

func catalogue(t rapid.TB) event.Catalogue {
	t.Helper()
	c, err := event.NewCatalogue([]event.Type{event.Of(noted{}, fromNote)}, []event.Type{event.Of(plain{}), event.Of(unencodable{})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOneNameIsDeclaredOnce(t *testing.T) {
	within := []event.Type{event.Of(plain{}), event.Of(noted{}), event.Of(plain{})}
	across := [][]event.Type{{event.Of(plain{})}, {event.Of(plain{})}}
	for name, groups := range map[string][][]event.Type{"within a group": {within}, "across groups": across} {
		if c, err := event.NewCatalogue(groups...); err == nil || !strings.Contains(err.Error(), "test.plain") || c != nil {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	if c, err := event.NewCatalogue(); err != nil || len(c.Names()) != 0 {
		t.Errorf("an empty catalogue: %v, %v", c, err)
	}
}

func TestNamesAreInOrder(t *testing.T) {
	if names := catalogue(t).Names(); !slices.Equal(names, []string{"test.noted", "test.plain", "test.unencodable"}) {
		t.Errorf("%v", names)
	}
}

func TestWhatIsNotDeclaredIsRefused(t *testing.T) {
	c := catalogue(t)
	if _, err := c.Decode("test.unheard", 1, []byte(`{}`)); !errors.Is(err, event.ErrUnknown) || !strings.Contains(err.Error(), "test.unheard") {
		t.Errorf("decode: %v", err)
	}
	if _, _, err := c.Encode(unheard{}); !errors.Is(err, event.ErrUnknown) {
		t.Errorf("encode: %v", err)
	}
	if _, err := c.Embed(plain{}, unheard{}); !errors.Is(err, event.ErrUnknown) {
		t.Errorf("embed: %v", err)
	}
	if _, _, err := c.Encode(event.Embedded{Name: "test.unheard", Version: 1}); !errors.Is(err, event.ErrUnknown) {
		t.Errorf("encode embedded: %v", err)
	}
}

func TestVersionsOutsideTheDeclaredAreRefused(t *testing.T) {
	for _, version := range []int{-1, 0, 3} {
		var outside *event.VersionError
		_, err := catalogue(t).Decode("test.noted", version, []byte(`{"text":"a"}`))
		if !errors.As(err, &outside) || *outside != (event.VersionError{Name: "test.noted", Stored: version, Newest: 2}) {
			t.Errorf("v%d: %v", version, err)
		}
	}
}

func TestUnreadableBytesNameTheirEvent(t *testing.T) {
	c := catalogue(t)
	for _, stored := range []string{``, `{`, `[]`, `{"text":1}`, `{"text":"a","count":1.5}`, `{"text":"a"}x`} {
		if _, err := c.Decode("test.noted", 2, []byte(stored)); err == nil || !strings.Contains(err.Error(), "test.noted v2") {
			t.Errorf("%q: %v", stored, err)
		}
	}
	if _, err := c.Decode("test.noted", 1, []byte(`{}`)); !errors.Is(err, errNoNote) || !strings.Contains(err.Error(), "upcast v1 to v2") {
		t.Errorf("a failing upcast: %v", err)
	}
	if _, _, err := c.Encode(unencodable{}); err == nil {
		t.Error("a channel was written as JSON")
	}
}

func TestEmbeddedEventsGoThroughUpcasts(t *testing.T) {
	c := catalogue(t)
	got, err := readBack(c, []event.Embedded{
		{Name: "test.noted", Version: 1, Data: json.RawMessage(`{"note":"old"}`)},
		{Name: "test.noted", Version: 2, Data: json.RawMessage(`{"text":"new","count":3}`)},
		{Name: "test.plain", Version: 1, Data: json.RawMessage(`{"text":"p"}`)},
	})
	if want := []event.Event{noted{"old", 1}, noted{"new", 3}, plain{"p"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, version := range []int{0, 2} {
		var unknown *event.VersionError
		if _, _, err := c.Encode(event.Embedded{Name: "test.plain", Version: version, Data: json.RawMessage(`{}`)}); !errors.As(err, &unknown) ||
			*unknown != (event.VersionError{Name: "test.plain", Stored: version, Newest: 1}) {
			t.Errorf("an embedded event of version %d: %v", version, err)
		}
	}
}

// TestEmbeddedEventsSurviveTheirCarrier: what is embedded is stored inside
// another event's JSON, byte for byte, and comes out equal.
// readBack stores embedded events as an append does and reads them again.
func readBack(c event.Catalogue, embedded []event.Embedded) ([]event.Event, error) {
	events := make([]event.Event, len(embedded))
	for i, e := range embedded {
		version, data, err := c.Encode(e)
		if err != nil {
			return nil, err
		}
		if events[i], err = c.Decode(e.EventName(), version, data); err != nil {
			return nil, err
		}
	}
	return events, nil
}

func TestEmbeddedEventsSurviveTheirCarrier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := catalogue(t)
		var events []event.Event
		for range rapid.IntRange(0, 4).Draw(t, "events") {
			text := rapid.String().Draw(t, "text")
			if rapid.Bool().Draw(t, "noted") {
				events = append(events, noted{Text: text, Count: rapid.Int64().Draw(t, "count")})
			} else {
				events = append(events, plain{Text: text})
			}
		}
		embedded, err := c.Embed(events...)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := event.Marshal(embedded)
		if err != nil {
			t.Fatal(err)
		}
		var read []event.Embedded
		if err := json.Unmarshal(stored, &read); err != nil {
			t.Fatal(err)
		}
		for i, e := range read {
			if string(e.Data) != string(embedded[i].Data) {
				t.Fatalf("stored as %s, was %s", e.Data, embedded[i].Data)
			}
		}
		got, err := readBack(c, read)
		if err != nil || !slices.Equal(got, events) && len(events) > 0 {
			t.Fatalf("%+v, %v; want %+v", got, err, events)
		}
	})
}

func TestMarshalKeepsTextReadable(t *testing.T) {
	got, err := event.Marshal(plain{Text: "a<b && c>d\u2028"})
	if want := `{"text":"a<b && c>d\u2028"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	embedded, err := catalogue(t).Embed(plain{Text: "<&>"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := event.Marshal(embedded); err != nil || !strings.Contains(string(got), `{"text":"<&>"}`) {
		t.Errorf("embedded: %s, %v", got, err)
	}
}

func TestTexts(t *testing.T) {
	blob := event.Text{Blob: &event.Blob{SHA256: "ab", Bytes: 20_000}}
	for want, text := range map[string]event.Text{
		`{}`:                                     {},
		`{"inline":"1+1"}`:                       event.Inline("1+1"),
		`{"blob":{"sha256":"ab","bytes":20000}}`: blob,
	} {
		got, err := event.Marshal(text)
		if err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v; want %s", text, got, err, want)
		}
	}
}

// TestPositionsAreOneOrder: exactly one of before, after and equal holds, and
// the zero position is before every other.
func TestPositionsAreOneOrder(t *testing.T) {
	position := rapid.Custom(func(t *rapid.T) event.Position {
		return event.Position{Commit: rapid.Uint64Range(0, 3).Draw(t, "commit"), Prepare: rapid.Uint64Range(0, 3).Draw(t, "prepare")}
	})
	rapid.Check(t, func(t *rapid.T) {
		p, q, r := position.Draw(t, "p"), position.Draw(t, "q"), position.Draw(t, "r")
		holds := 0
		for _, so := range []bool{p.Less(q), q.Less(p), p == q} {
			if so {
				holds++
			}
		}
		if holds != 1 {
			t.Fatalf("%v and %v are ordered in %d ways", p, q, holds)
		}
		if p.Less(q) && q.Less(r) && !p.Less(r) {
			t.Fatalf("%v < %v < %v, and not %v < %v", p, q, r, p, r)
		}
		if p.Less(event.Position{}) {
			t.Fatalf("%v is before the zero position", p)
		}
	})
}
