package audit_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/event"
)

// fieldsOf visits every value of a decoded event that is no object and no list, by its path; set puts another one in its place.
func fieldsOf(v any, path string, visit func(path string, value any, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch v[name].(type) {
			case map[string]any, []any:
				fieldsOf(v[name], path+"."+name, visit)
			default:
				visit(path+"."+name, v[name], func(to any) { v[name] = to })
			}
		}
	case []any:
		for i := range v {
			switch v[i].(type) {
			case map[string]any, []any:
				fieldsOf(v[i], path+"[]", visit)
			default:
				visit(path+"[]", v[i], func(to any) { v[i] = to })
			}
		}
	}
}

// another is a value like one, of the same type and form.
func another(value any) any {
	switch value := value.(type) {
	case string:
		if value == "USD" {
			return "EUR" // a currency that there is
		}
		for i := len(value) - 1; i >= 0; i-- { // the last digit or letter: forms of ids, hashes and times are kept
			if c := value[i]; c >= '0' && c <= '8' || c >= 'a' && c <= 'e' || c >= 'A' && c <= 'Y' {
				return value[:i] + string(c+1) + value[i+1:]
			} else if c == '9' || c == 'f' {
				return value[:i] + "0" + value[i+1:]
			}
		}
		return value + "x"
	case float64:
		return value + 1
	case bool:
		return !value
	}
	return nil
}

// enumAt is what a field of a type may hold, by its tag; nil where that is not said.
func enumAt(in reflect.Type, path []string) []string {
	for in.Kind() == reflect.Pointer || in.Kind() == reflect.Slice {
		in = in.Elem()
	}
	if in.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(in) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != path[0] || field.Anonymous {
			continue
		}
		if len(path) > 1 {
			return enumAt(field.Type, path[1:])
		}
		if enum := field.Tag.Get("enum"); enum != "" {
			return strings.Split(enum, ",")
		}
	}
	return nil
}

// withField is an event whose n-th value of a path is another one; false where it is no event then, or the same.
func withField(t *testing.T, e event.Event, path string) (event.Event, bool) {
	t.Helper()
	v := decoded(t, e)
	changed := false
	fieldsOf(v, "", func(at string, value any, set func(any)) {
		to := another(value)
		for _, member := range enumAt(reflect.TypeOf(e), strings.Split(strings.ReplaceAll(strings.TrimPrefix(path, "."), "[]", ""), ".")) {
			if member != value {
				to = member // one that the schema takes
			}
		}
		if at == path && !changed && to != nil {
			set(to)
			changed = true
		}
	})
	data, err := json.Marshal(v)
	if err != nil || !changed {
		return nil, false
	}
	into := reflect.New(reflect.TypeOf(e))
	if err := json.Unmarshal(data, into.Interface()); err != nil {
		return nil, false
	}
	other := into.Elem().Interface().(event.Event)
	return other, !reflect.DeepEqual(other, e)
}

// fieldPaths are the paths of an event's values, each once.
func fieldPaths(t *testing.T, e event.Event) (paths []string) {
	t.Helper()
	fieldsOf(decoded(t, e), "", func(path string, value any, _ func(any)) {
		if value != nil && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	})
	return paths
}

// prepared is the true log, ready to be judged with one event changed as often as a test wants.
type prepared struct {
	log   *audittest.Log
	all   []audit.Stored
	items []*audit.Item
}

func prepare(t *testing.T) prepared {
	t.Helper()
	l := audittest.True()
	all := l.Stored(t)
	return prepared{l, all, audittest.Prepare(t, l, all)}
}

// withStored is what is found when the event at a place, or one more at the end, is stored as said.
func (p prepared) withStored(t *testing.T, place int, said audit.Stored) []audit.Finding {
	t.Helper()
	changed := slices.Clone(p.items)
	if place == len(changed) {
		changed = append(changed, nil)
	}
	changed[place] = audittest.Prepare(t, p.log, []audit.Stored{said})[0]
	findings, _ := audittest.Judge(changed, audit.Config{Witnesses: []audit.Witness{audittest.Witness()}})
	return findings
}

// withEvent is what is found when another event stands at a place.
func (p prepared) withEvent(t *testing.T, place int, other event.Event) []audit.Finding {
	t.Helper()
	said := p.all[place]
	var err error
	if _, said.Data, err = p.log.Catalogue.Encode(other); err != nil {
		t.Fatal(err)
	}
	return p.withStored(t, place, said)
}

// asOne are parts of events that checks compare as one piece of JSON, so that each of their fields is as the others: a certificate with its
// job's outcome, and the description of an export with its job's payload.
var asOne = []string{"certificate.issued.", "upload.stored.export."}

// findings are events each of which is a finding: a true log has none.
var findings = []string{"checkpoint.conflicted."}

// TestEveryFieldIsComparedOrFree: given the true log, when any one field of any event is changed, then the audit finds it, but for the
// fields of event.Free, which docs/audit.md lists with the reason why nothing else in the log follows from them.
func TestEveryFieldIsComparedOrFree(t *testing.T) {
	free, tried := map[string]bool{}, map[string]bool{}
	declared := domain.Catalogue().Free()
	p := prepare(t)
	for i, e := range p.log.Events {
		if strings.HasPrefix(e.Stream, "$") || e.Stream == "reckon-log" {
			continue
		}
		for _, path := range fieldPaths(t, e.Event) {
			other, ok := withField(t, e.Event, path)
			if !ok {
				continue
			}
			name := e.Name + path
			tried[name] = true
			if len(p.withEvent(t, i, other)) > 0 {
				continue
			}
			if free[name] = true; declared[name] == "" {
				t.Errorf("%s can be changed, and no check finds it: have one compare it, or say in event.Free why nothing else in the log follows from it", name)
			}
		}
	}
	for name := range declared {
		if tried[name] && !free[name] {
			t.Errorf("%s is called free, and is compared all the same", name)
		}
	}
	known := map[string]bool{}
	for name, kind := range domain.Catalogue() {
		for _, path := range fieldPaths(t, kind.Sample) {
			known[name+path] = true
			repeated := slices.ContainsFunc(slices.Concat(asOne, findings), func(prefix string) bool { return strings.HasPrefix(name+path, prefix) })
			if !tried[name+path] && declared[name+path] == "" && !repeated {
				t.Errorf("no event of the true log has %s%s: add it to audittest.True, or to event.Free", name, path)
			}
		}
	}
	for name := range declared {
		if !tried[name] && !known[name] {
			t.Errorf("event.Free has %s, which no event has", name)
		}
	}
	t.Logf("%d fields, of which %d are free", len(tried), len(declared))
}
