package audit_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/runner"
)

// timesOf are the paths of all times in a decoded event.
func timesOf(v any, path string, visit func(path string, at time.Time, set func(time.Time))) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[name].(string); ok {
				if at, err := event.ParseTimestamp(text); err == nil {
					visit(path+"."+name, at, func(to time.Time) { v[name] = event.Timestamp(to) })
				}
			}
			timesOf(v[name], path+"."+name, visit)
		}
	case []any:
		for _, inside := range v {
			timesOf(inside, path, visit)
		}
	}
}

// TestEveryTimeIsCompared: given the true log, when any one time of any event is moved by six hours, back or ahead, then the audit says so,
// but for those of which event.Free says why nothing else follows from them.
func TestEveryTimeIsCompared(t *testing.T) {
	tried, declared := 0, domain.Catalogue().Free()
	try := func(name string, found []audit.Finding) {
		tried++
		if len(found) > 0 {
			return
		}
		if declared[name] == "" {
			t.Errorf("%s is not compared with anything: add it to a check, or to event.Free with the reason", name)
		}
	}
	p := prepare(t)
	for i, e := range p.log.Events {
		if strings.HasPrefix(e.Stream, "$") || e.Stream == "reckon-log" {
			continue
		}
		for _, by := range []time.Duration{-6 * time.Hour, 6 * time.Hour} {
			said, metadata := p.all[i], e.Metadata
			metadata.At = metadata.At.Add(by)
			var err error
			if said.Metadata, err = event.Marshal(metadata); err != nil {
				t.Fatal(err)
			}
			try(e.Name+" (metadata at)", p.withStored(t, i, said))
			for _, path := range pathsOf(t, e.Event) {
				try(e.Name+path, p.withEvent(t, i, moved(t, e.Event, path, by)))
			}
		}
	}
	t.Logf("%d changes", tried)
}

func decoded(t *testing.T, e event.Event) any {
	t.Helper()
	data, err := event.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func pathsOf(t *testing.T, e event.Event) (paths []string) {
	t.Helper()
	timesOf(decoded(t, e), "", func(path string, _ time.Time, _ func(time.Time)) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	})
	return paths
}

// moved is an event whose times of a path are others.
func moved(t *testing.T, e event.Event, path string, by time.Duration) event.Event {
	t.Helper()
	v := decoded(t, e)
	timesOf(v, "", func(at string, was time.Time, set func(time.Time)) {
		if at == path {
			set(was.Add(by))
		}
	})
	return encoded(t, v, e)
}

// encoded is the event of another's type that has a value as its JSON.
func encoded(t *testing.T, v any, like event.Event) event.Event {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	into := reflect.New(reflect.TypeOf(like))
	if err := json.Unmarshal(data, into.Interface()); err != nil {
		t.Fatal(err)
	}
	return into.Elem().Interface().(event.Event)
}

// TestEveryTimeOfTheCatalogueIsTried: the true log has each event type that has a time of its own, so that a new field cannot be missed above.
func TestEveryTimeOfTheCatalogueIsTried(t *testing.T) {
	tried := map[string]bool{}
	for _, e := range audittest.True().Events {
		for _, path := range pathsOf(t, e.Event) {
			tried[e.Name+path] = true
		}
	}
	for name, declared := range domain.Catalogue() {
		for _, path := range pathsOf(t, declared.Sample) {
			if !tried[name+path] {
				t.Errorf("no event of the true log has %s%s: add it to audittest.True", name, path)
			}
		}
	}
}

// TestClocksThatAreSetAreNoFinding: given a log whose machine's clock is set back by two days, or ahead, or that was migrated, so that its
// stamps are those of the copy, then nothing but notes is found, and one for each step.
func TestClocksThatAreSetAreNoFinding(t *testing.T) {
	steps := map[string]struct {
		notes  int
		happen func(l *audittest.Log)
	}{
		"back": {1, func(l *audittest.Log) {
			before := l.Now
			l.Now = l.Now.Add(-48 * time.Hour)
			for range 5 {
				last := l.Add("runids", "", run.Reserved{Process: audittest.Process})
				last.Created = before // a node's stamps do not decrease
				l.Now = l.Now.Add(time.Minute)
			}
		}},
		"ahead": {0, func(l *audittest.Log) {
			l.Now = l.Now.Add(48 * time.Hour)
			l.Add("runids", "", run.Reserved{Process: audittest.Process})
		}},
		"a machine whose clock is two days late": {0, func(l *audittest.Log) {
			for _, e := range l.Events {
				e.Created = l.Now.Add(48 * time.Hour)
			}
		}},
		"stamps of a migration": {0, func(l *audittest.Log) {
			for i, e := range l.Events {
				e.Created = l.Now.Add(1000*time.Hour + time.Duration(i)*time.Millisecond)
			}
			l.Add("runner-"+audittest.Process, "", runner.Beat{Runner: audittest.Process, Seq: 2}).Created = l.Now.Add(1001 * time.Hour)
		}},
	}
	for name, c := range steps {
		t.Run(name, func(t *testing.T) {
			l := audittest.True()
			c.happen(l)
			findings := audittest.Audit(t, l, nil)
			notes := 0
			for _, f := range findings {
				if f.Kind == audit.KindTimeOrder {
					notes++
				}
				if f.Severity != audit.Note {
					t.Error(f)
				}
			}
			if notes != c.notes {
				t.Error(fmt.Sprint(notes), findings)
			}
		})
	}
}
