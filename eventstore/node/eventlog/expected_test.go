package eventlog

import "testing"

// The rows and columns of the protocol's expected-revision table.
func TestExpectedRevisionTable(t *testing.T) {
	t.Parallel()
	type row struct {
		any, noStream, exists, equal, below, above verdict
	}
	states := map[string]struct {
		state streamState
		want  row
	}{
		"tombstoned": {
			streamState{head: head{last: 4, tombstoned: true}},
			row{streamDeleted, streamDeleted, streamDeleted, streamDeleted, streamDeleted, streamDeleted},
		},
		"never existed": {
			streamState{head: head{last: -1}},
			row{acceptOrKnown, accept, wrongRevision, wrongRevision, wrongRevision, wrongRevision},
		},
		"metadata only": {
			streamState{head: head{last: -1}, hasMetadata: true},
			row{acceptOrKnown, accept, acceptOrKnown, wrongRevision, wrongRevision, wrongRevision},
		},
		"exists": {
			streamState{head: head{last: 4}},
			row{acceptOrKnown, knownOrWrong, acceptOrKnown, accept, knownOrWrong, wrongRevision},
		},
		"soft-deleted": {
			streamState{head: head{last: 4}, hasMetadata: true, metadata: Metadata{TruncateBefore: DeletedBefore}},
			row{acceptOrKnown, knownOrRevive, streamDeleted, accept, knownOrWrong, wrongRevision},
		},
	}
	for name, s := range states {
		got := row{
			evaluateExpected(&s.state, Any()), evaluateExpected(&s.state, NoStream()), evaluateExpected(&s.state, StreamExists()),
			evaluateExpected(&s.state, Revision(4)), evaluateExpected(&s.state, Revision(3)), evaluateExpected(&s.state, Revision(5)),
		}
		if got != s.want {
			t.Errorf("%s: got %v, want %v", name, got, s.want)
		}
		if v := evaluateExpected(&s.state, Expected{}); v != wrongRevision && v != streamDeleted {
			t.Errorf("%s: an append without expectation is judged %v", name, v)
		}
	}
}

func TestDeletionTable(t *testing.T) {
	t.Parallel()
	never := streamState{head: head{last: -1}}
	exists := streamState{head: head{last: 4}}
	soft := streamState{head: head{last: 4}, hasMetadata: true, metadata: Metadata{TruncateBefore: DeletedBefore}}
	gone := streamState{head: head{last: 4, tombstoned: true}}
	cases := []struct {
		name      string
		state     streamState
		expected  Expected
		tombstone bool
		want      verdict
	}{
		{"delete never existed, any", never, Any(), false, wrongRevision},
		{"delete never existed, no stream", never, NoStream(), false, wrongRevision},
		{"tombstone never existed, any", never, Any(), true, accept},
		{"tombstone never existed, no stream", never, NoStream(), true, accept},
		{"tombstone never existed, exists", never, StreamExists(), true, wrongRevision},
		{"tombstone never existed, exact", never, Revision(0), true, wrongRevision},
		{"delete, any", exists, Any(), false, accept},
		{"delete, no stream", exists, NoStream(), false, wrongRevision},
		{"delete, exact", exists, Revision(4), false, accept},
		{"delete, stale", exists, Revision(3), false, wrongRevision},
		{"delete, ahead", exists, Revision(5), false, wrongRevision},
		{"delete again, any", soft, Any(), false, accept},
		{"delete again, exists", soft, StreamExists(), false, streamDeleted},
		{"delete again, exact", soft, Revision(4), false, accept},
		{"tombstone after delete", soft, Any(), true, accept},
		{"delete after tombstone", gone, Any(), false, streamDeleted},
		{"tombstone twice", gone, Any(), true, streamDeleted},
	}
	for _, c := range cases {
		if got := evaluateExpectedDeletion(&c.state, c.expected, c.tombstone); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Metadata{
		`{"$maxCount":3,"$maxAge":10,"$tb":7,"custom":[1]}`: {MaxCount: 3, MaxAgeSeconds: 10, TruncateBefore: 7},
		`{"$tb":9223372036854775807}`:                       {TruncateBefore: DeletedBefore},
		`{"$tb":9223372036854775808}`:                       {},
		`{"$maxCount":-1}`:                                  {},
		`{"$maxCount":"3"}`:                                 {},
		`{"$maxAge":9223372036854775807}`:                   {MaxAgeSeconds: maxAgeSeconds},
		`null`:                                              {},
		`[]`:                                                {},
		`{"$maxCount":`:                                     {},
		``:                                                  {},
	} {
		if got := parseMetadata([]byte(text)); got != want {
			t.Errorf("%s: got %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		`{"$tb":9223372036854775807,"$maxCount":3,"a":"<b>"}`: `{"$maxCount":3,"$tb":5,"a":"<b>"}`,
		`not json`: `{"$tb":5}`,
		`null`:     `{"$tb":5}`,
		``:         `{"$tb":5}`,
	} {
		if got := string(withTruncateBefore([]byte(text), 5)); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}
