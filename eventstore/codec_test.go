package eventstore_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/eventstore"
)

// FuzzDecode: whatever bytes stand in a log, they are an event of ours that
// survives being written again, or a DecodeError.
func FuzzDecode(f *testing.F) {
	catalogue := domain.Catalogue()
	codec := eventstore.NewCodec(catalogue)
	for _, name := range catalogue.Names() {
		raws, err := codec.Encode([]event.Proposed{{ID: uuid.NewString(), Event: catalogue[name].Sample}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, raws[0].Data, raws[0].Metadata)
		f.Add(name, raws[0].Data, []byte(`{"v":99}`))
		f.Add(name, []byte(`{"unknown":1}`), raws[0].Metadata)
	}
	f.Add("run.evaluated", []byte("null"), []byte("null"))
	f.Add("$metadata", []byte("{"), []byte(""))
	f.Fuzz(func(t *testing.T, name string, data, metadata []byte) {
		raw := eventstore.Raw{ID: uuid.New(), Name: name, Stream: "s", Data: data, Metadata: metadata}
		read, err := codec.DecodeAny(raw)
		var unreadable *eventstore.DecodeError
		switch _, known := catalogue[name]; {
		case !known:
			if err != nil || read.Event != nil {
				t.Fatalf("a foreign event: %+v, %v", read, err)
			}
			return
		case errors.As(err, &unreadable) && unreadable.Name == name && read.Event == nil:
			return
		case err != nil:
			t.Fatalf("%v is no DecodeError", err)
		}
		if len(data) > eventstore.MaxAppendBytes/8 {
			return // escaping makes it larger than one append may be
		}
		again, err := codec.Encode([]event.Proposed{{ID: read.ID, Event: read.Event, Metadata: read.Metadata}})
		if err != nil {
			var unwritable *json.MarshalerError // a time of year 10000 is read and not written
			if errors.As(err, &unwritable) {
				return
			}
			t.Fatal(err)
		}
		second, err := codec.Decode(again[0])
		if err != nil || !reflect.DeepEqual(second.Event, read.Event) {
			t.Fatalf("read %+v, written and read again %+v, %v", read.Event, second.Event, err)
		}
	})
}
