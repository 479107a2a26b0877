package export_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
)

const meta = `{"meta":{"format":{"version":"3.1.0"}}}` + "\n"

func read(text string) (*export.File, error) {
	return export.Read(context.Background(), strings.NewReader(text), export.Limits{})
}

func TestRefusesMalformedFilesWithTheLine(t *testing.T) {
	sort := `{"ie":0,"sort":0}` + "\n"
	cases := map[string]struct {
		text  string
		line  int
		class export.Class
	}{
		"empty":                 {"", 1, export.BadMeta},
		"blank only":            {"\n", 1, export.BadMeta},
		"no meta":               {sort, 1, export.BadMeta},
		"no version":            {`{"meta":{}}`, 1, export.BadMeta},
		"bad version":           {`{"meta":{"format":{"version":"three"}}}`, 1, export.BadMeta},
		"pre-release":           {`{"meta":{"format":{"version":"3.1.0-rc1"}}}`, 1, export.BadMeta},
		"too old":               {`{"meta":{"format":{"version":"3.0.9"}}}`, 1, export.FormatWindow},
		"too new":               {`{"meta":{"format":{"version":"3.2.0"}}}`, 1, export.FormatWindow},
		"second meta":           {meta + meta, 2, export.BadMeta},
		"blank line":            {meta + "\n" + sort, 2, export.BlankLine},
		"space line":            {meta + " \t\n" + sort, 2, export.BlankLine},
		"two blank at the end":  {meta + sort + "\n\n", 3, export.BlankLine},
		"not JSON":              {meta + "sort 0\n", 2, export.BadJSON},
		"array":                 {meta + "[]\n", 2, export.BadJSON},
		"cut off":               {meta + `{"ie":0,"sort":0`, 2, export.BadJSON},
		"two objects":           {meta + `{"ie":0,"sort":0}{}`, 2, export.BadJSON},
		"not UTF-8":             {meta + "{\"in\":1,\"str\":{\"pre\":0,\"str\":\"\xff\"}}\n", 2, export.BadJSON},
		"lone surrogate":        {meta + `{"in":1,"str":{"pre":0,"str":"\ud800"}}`, 2, export.BadJSON},
		"control character":     {meta + "{\"in\":1,\"str\":{\"pre\":0,\"str\":\"\x01\"}}", 2, export.BadJSON},
		"leading zero":          {meta + `{"ie":00,"sort":0}`, 2, export.BadJSON},
		"undefined name":        {meta + `{"in":1,"str":{"pre":7,"str":"a"}}`, 2, export.UndefinedIndex},
		"undefined level":       {meta + `{"ie":0,"sort":9}`, 2, export.UndefinedIndex},
		"undefined expression":  {meta + sort + `{"ie":1,"app":{"fn":0,"arg":5}}`, 3, export.UndefinedIndex},
		"forward":               {meta + `{"ie":1,"app":{"fn":2,"arg":2}}` + "\n" + `{"ie":2,"sort":0}`, 2, export.UndefinedIndex},
		"redefined name":        {meta + `{"in":0,"str":{"pre":0,"str":"a"}}`, 2, export.RedefinedIndex},
		"redefined level":       {meta + `{"il":0,"succ":0}`, 2, export.RedefinedIndex},
		"redefined expression":  {meta + sort + sort, 3, export.RedefinedIndex},
		"unknown record":        {meta + `{"ie":0,"fvar":0}`, 2, export.UnknownRecord},
		"no record":             {meta + `{}`, 2, export.UnknownRecord},
		"two kinds":             {meta + `{"ie":0,"sort":0,"bvar":0}`, 2, export.BadRecord},
		"no index":              {meta + `{"sort":0}`, 2, export.BadRecord},
		"index of another kind": {meta + `{"in":1,"sort":0}`, 2, export.BadRecord},
		"two indices":           {meta + `{"ie":0,"il":1,"sort":0}`, 2, export.BadRecord},
		"missing field":         {meta + sort + `{"ie":1,"app":{"fn":0}}`, 3, export.BadRecord},
		"field twice":           {meta + sort + `{"ie":1,"app":{"fn":0,"fn":0,"arg":0}}`, 3, export.BadRecord},
		"negative":              {meta + `{"ie":0,"bvar":-1}`, 2, export.BadRecord},
		"fraction":              {meta + `{"ie":0,"bvar":1.0}`, 2, export.BadRecord},
		"string for number":     {meta + `{"ie":0,"bvar":"1"}`, 2, export.BadRecord},
		"number for string":     {meta + `{"in":1,"str":{"pre":0,"str":1}}`, 2, export.BadRecord},
		"bad binderInfo":        {meta + sort + `{"ie":1,"lam":{"name":0,"type":0,"body":0,"binderInfo":"odd"}}`, 3, export.BadRecord},
		"bad digits":            {meta + `{"ie":0,"natVal":"1_000"}`, 2, export.BadRecord},
		"no digits":             {meta + `{"ie":0,"natVal":""}`, 2, export.BadRecord},
		"bad safety":            {meta + sort + `{"def":{"name":0,"levelParams":[],"type":0,"value":0,"all":[],"hints":"abbrev","safety":"mostly"}}`, 3, export.BadRecord},
		"bad hints":             {meta + sort + `{"def":{"name":0,"levelParams":[],"type":0,"value":0,"all":[],"hints":{"height":1},"safety":"safe"}}`, 3, export.BadRecord},
		"undefined in all":      {meta + sort + `{"thm":{"name":0,"levelParams":[],"type":0,"value":0,"all":[3]}}`, 3, export.UndefinedIndex},
		"nested too deep":       {meta + `{"ie":0,"sort":0,"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}", 2, export.TooLarge},
	}
	for name, c := range cases {
		_, err := read(c.text)
		var bad *export.Error
		if !errors.As(err, &bad) || bad.Line != c.line || bad.Class != c.class {
			t.Errorf("%s: %v, want line %d %s", name, err, c.line, c.class)
		}
	}
}

func TestBoundsHoldBeforeMemory(t *testing.T) {
	text := meta + strings.Repeat(`{"ie":0,"sort":0,"pad":"`+strings.Repeat("x", 1<<16)+`"}`+"\n", 2)
	for name, limits := range map[string]export.Limits{
		"bytes": {Bytes: 1000}, "line": {LineBytes: 1000}, "records": {Records: 1},
	} {
		_, err := export.Read(context.Background(), strings.NewReader(text), limits)
		var bad *export.Error
		if !errors.As(err, &bad) || bad.Class != export.TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is read, and the first mistake, are the same whether lines are parsed ahead or in turn; also with mistakes far
// apart, of both kinds, so that the later one is found first.
func TestThreadsDoNotMatter(t *testing.T) {
	good := func(from, count int) string {
		var out strings.Builder
		for i := range count {
			fmt.Fprintf(&out, `{"ie":%d,"sort":0}`+"\n", from+i)
		}
		return out.String()
	}
	const twice = `{"ie":0,"sort":0}` + "\n"
	for name, text := range map[string]string{
		"good":                meta + good(0, 3000),
		"blank end":           meta + good(0, 3000) + "\n",
		"blank line":          meta + good(0, 1500) + "\n" + good(1500, 100),
		"not JSON":            meta + good(0, 1000) + "{\n" + good(1000, 1000),
		"twice":               meta + good(0, 1000) + twice + good(1000, 3000),
		"twice, then no JSON": meta + good(0, 1000) + twice + "{\n" + good(1000, 3000),
		"no JSON, then twice": meta + good(0, 1000) + "{\n" + twice + good(1000, 3000),
		"long lines":          meta + good(0, 10) + `{"ie":10,"strVal":"` + strings.Repeat("x", 1<<20) + `"}` + "\n" + good(11, 10),
		"old format":          `{"meta":{"format":{"version":"3.0.0"}}}` + "\n" + strings.Repeat("{\n", 1000),
	} {
		one, errOne := export.Read(context.Background(), strings.NewReader(text), export.Limits{Threads: 1})
		two, errTwo := export.Read(context.Background(), strings.NewReader(text), export.Limits{Threads: 2})
		if fmt.Sprint(errOne) != fmt.Sprint(errTwo) || one.Lines != two.Lines || one.Bytes != two.Bytes || one.SHA256 != two.SHA256 ||
			one.Store.ExprCount() != two.Store.ExprCount() {
			t.Errorf("%s: %v %d lines; %v %d lines", name, errOne, one.Lines, errTwo, two.Lines)
		}
	}
}

// slow gives a blank at a time and ends with an error of its own.
type slow struct{ left int }

var errBroken = errors.New("the connection broke")

func (s *slow) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, errBroken
	}
	s.left--
	return copy(p, " "), nil
}

func TestAnErrorOfTheReaderIsReturned(t *testing.T) {
	for _, threads := range []int{1, 2} {
		_, err := export.Read(context.Background(), &slow{left: 100}, export.Limits{Threads: threads})
		if !errors.Is(err, errBroken) {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
}

func TestAcceptsWhatTheFormatLeavesOpen(t *testing.T) {
	for name, text := range map[string]string{
		"keys in any order, spaces": meta + ` { "sort" : 0 , "ie" : 0 } ` + "\n",
		"sparse and unordered":      meta + `{"ie":4000000000,"sort":0}` + "\n" + `{"ie":3,"app":{"arg":4000000000,"fn":4000000000}}` + "\n",
		"unknown extra field":       meta + `{"ie":0,"sort":0,"note":[1,{"a":null}]}`,
		"no newline at the end":     meta + `{"ie":0,"sort":0}`,
		"blank line at the end":     meta + `{"ie":0,"sort":0}` + "\n\n",
		"mdata":                     meta + `{"ie":0,"sort":0}` + "\n" + `{"ie":1,"mdata":{"expr":0,"data":{"k":1}}}`,
		"large numeric component":   meta + `{"in":1,"num":{"pre":0,"i":123456789012345678901234567890}}`,
		"numeric literal":           meta + `{"ie":0,"natVal":"123456789012345678901234567890"}`,
		"surrogate pair":            meta + `{"ie":0,"strVal":"\ud83d\ude00"}`,
		"format 3.1.7":              `{"meta":{"format":{"version":"3.1.7"}}}`,
	} {
		if _, err := read(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIdentityIgnoresLineEndsOnly(t *testing.T) {
	lf := meta + `{"ie":0,"sort":0}` + "\n"
	sum := sha256.Sum256([]byte(lf))
	for name, text := range map[string]string{
		"as it is": lf, "CRLF": strings.ReplaceAll(lf, "\n", "\r\n"), "no final newline": strings.TrimSuffix(lf, "\n"), "blank end": lf + "\n",
	} {
		f, err := read(text)
		if err != nil || f.SHA256 != hex.EncodeToString(sum[:]) || f.Bytes != int64(len(text)) {
			t.Errorf("%s: %v %+v", name, err, f)
		}
	}
	f, err := read(strings.ReplaceAll(lf, ":0}", ": 0}"))
	if err != nil || f.SHA256 == hex.EncodeToString(sum[:]) {
		t.Errorf("a space inside a line is part of the identity: %v", err)
	}
}

func TestReadsMeta(t *testing.T) {
	f, err := read(`{"meta":{"exporter":{"name":"lean4export","version":"3.1.0"},"lean":{"githash":"abc","version":"4.29.1"},"format":{"version":"3.1.0"}}}`)
	want := export.Meta{ExporterName: "lean4export", ExporterVersion: "3.1.0", LeanVersion: "4.29.1", LeanGitHash: "abc", FormatVersion: "3.1.0"}
	if err != nil || f.Meta != want {
		t.Errorf("%v %+v", err, f.Meta)
	}
}

// FuzzRead: never a panic; what is read is JSON by encoding/json's lights too; what is no JSON is never read.
func FuzzRead(f *testing.F) {
	f.Add(meta + `{"ie":0,"sort":0}`)
	f.Add(meta + `{"in":1,"str":{"pre":0,"str":"a\u00e9\n"}}` + "\n" + `{"il":1,"imax":[0,0]}`)
	for _, rule := range []string{"iota", "let-value"} {
		text, err := os.ReadFile(leantest.AcceptedExport(f, rule))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := read(text)
		var bad *export.Error
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("not an *Error: %v", err)
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range lines {
			if bad != nil && i+1 >= bad.Line {
				break
			}
			if strings.Trim(line, " \t\r") == "" {
				continue
			}
			if !json.Valid([]byte(line)) || !utf8.ValidString(line) {
				t.Fatalf("line %d was read but is no JSON: %q", i+1, line)
			}
		}
		if bad != nil && bad.Class == export.BadJSON && bad.Line <= len(lines) {
			line := []byte(lines[bad.Line-1])
			if json.Valid(line) && utf8.Valid(line) && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && !bytes.Contains(line, []byte(`\u`)) {
				t.Fatalf("line %d is JSON but refused: %v: %q", bad.Line, err, line)
			}
		}
		if err == nil && file.SHA256 == "" {
			t.Fatal("no identity")
		}
	})
}
