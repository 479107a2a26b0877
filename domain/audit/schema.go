package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"reckon/domain/event"
)

// decode decodes data and metadata. Bytes of today's version of an event are those that this service writes for what they
// say, so that no field can be added, left out, doubled or spelt otherwise; those of older versions have no unknown field.
func (r Reader) decode(it *Item, s Stored) {
	if err := r.Unmarshal(s.Metadata, &it.Metadata); err != nil {
		it.problem(checkSchema, KindSchema, "metadata of the service", err.Error())
		return
	}
	if again, err := event.Marshal(it.Metadata); err != nil || !bytes.Equal(again, s.Metadata) {
		it.problem(checkSchema, KindSchema, "metadata "+shown(string(again)), shown(string(s.Metadata)))
	}
	if it.Metadata.Source != "" && !slices.Contains(event.Sources(), it.Metadata.Source) {
		it.problem(checkSchema, KindSchema, fmt.Sprintf("a source of %v", event.Sources()), shown(string(it.Metadata.Source)))
	}
	declared, known := r.Catalogue[s.Name]
	if !known {
		it.problem(checkSchema, KindUnknownEvent, "an event of docs/events", shown(s.Name))
		return
	}
	current := it.Metadata.Version == declared.Version
	unmarshal := r.Unmarshal
	if !current {
		unmarshal = strictUnmarshal
	}
	e, err := r.Catalogue.DecodeWith(unmarshal, s.Name, it.Metadata.Version, s.Data)
	var version *event.VersionError
	if errors.As(err, &version) {
		it.problem(checkSchema, KindUnknownEvent, fmt.Sprintf("version 1 to %d", version.Newest), fmt.Sprintf("version %d", version.Stored))
		return
	}
	if err != nil {
		it.problem(checkSchema, KindSchema, "the fields of docs/events", err.Error())
		return
	}
	it.Event, it.facts, it.address = e, declared.Facts, declared.Address(e)
	if isPublished(e) {
		it.published = hashOf(s.Name, fmt.Sprint(it.Metadata.Version), string(s.Data))
	}
	if again, err := event.Marshal(e); current && (err != nil || !bytes.Equal(again, s.Data)) {
		it.problem(checkSchema, KindSchema, "data as the service writes them: "+difference(again, s.Data), "other bytes")
	}
	if place, want, found := invalidValue(reflect.ValueOf(e)); place != "" {
		it.problem(checkSchema, KindSchema, fmt.Sprintf("%s: %s", place, want), shown(found))
	}
}

// difference shows where two texts begin to differ.
func difference(want, found []byte) string {
	i := 0
	for i < min(len(want), len(found)) && want[i] == found[i] {
		i++
	}
	cut := func(b []byte) string { return shown(string(b[max(0, i-20):min(len(b), i+40)])) }
	return fmt.Sprintf("at byte %d %s, not %s", i, cut(want), cut(found))
}

// strictUnmarshal is json.Unmarshal that refuses fields that v does not have.
func strictUnmarshal(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// The forms that the tag format names.
var formats = map[string]func(string) bool{
	"uuid":      func(s string) bool { _, ok := parseID(s); return ok },
	"sha256":    regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString,
	"date":      regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`).MatchString,
	"date-time": isTimestamp,
}

func isTimestamp(s string) bool {
	t, err := event.ParseTimestamp(s)
	return err == nil && event.Timestamp(t) == s
}

// valueRule is what one field of an event may hold, by the tags that also make docs/events.
type valueRule struct {
	index    []int
	path     string
	optional bool
	enum     []string
	format   string
	inside   reflect.Type // of structs, pointers to them and lists of them
}

var valueRules sync.Map // reflect.Type → []valueRule

func rulesOf(t reflect.Type) []valueRule {
	if known, ok := valueRules.Load(t); ok {
		return known.([]valueRule)
	}
	var rules []valueRule
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || !field.IsExported() || name == "" {
			continue
		}
		rule := valueRule{index: field.Index, path: name, optional: strings.Contains(options, "omitempty"), format: field.Tag.Get("format")}
		if enum := field.Tag.Get("enum"); enum != "" {
			rule.enum = strings.Split(enum, ",")
		}
		inside := field.Type
		for inside.Kind() == reflect.Pointer || inside.Kind() == reflect.Slice {
			inside = inside.Elem()
		}
		if inside.Kind() == reflect.Struct {
			rule.inside = inside
		}
		if rule.enum != nil || rule.format != "" || rule.inside != nil {
			rules = append(rules, rule)
		}
	}
	valueRules.Store(t, rules)
	return rules
}

// invalidValue returns the first field that holds what its tags do not allow; an empty place when there is none.
func invalidValue(v reflect.Value) (place, want, found string) {
	for _, rule := range rulesOf(v.Type()) {
		field := v.FieldByIndex(rule.index)
		if rule.inside != nil {
			if inner, want, found := invalidInside(field); inner != "" {
				return rule.path + "." + inner, want, found
			}
			continue
		}
		for field.Kind() == reflect.Pointer && !field.IsNil() {
			field = field.Elem()
		}
		if field.Kind() != reflect.String || field.String() == "" && rule.optional {
			continue
		}
		text := field.String()
		switch check := formats[rule.format]; {
		case rule.enum != nil && !slices.Contains(rule.enum, text):
			return rule.path, fmt.Sprintf("one of %v", rule.enum), text
		case check != nil && !check(text):
			return rule.path, "a " + rule.format, text
		}
	}
	return "", "", ""
}

func invalidInside(v reflect.Value) (place, want, found string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "", "", ""
		}
		return invalidInside(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if place, want, found = invalidInside(v.Index(i)); place != "" {
				return fmt.Sprintf("%d.%s", i, place), want, found
			}
		}
		return "", "", ""
	case reflect.Struct:
		return invalidValue(v)
	}
	return "", "", ""
}
