package event

import "encoding/json"

// Embedded is an encoded event that another event carries until it is appended
// to a stream of its own. It has its own name and schema version. It is itself an
// Event: an append stores Data as it is, under that name and version, and the
// upcasts apply when the appended event is read.
type Embedded struct {
	Name    string          `json:"name"`
	Version int             `json:"v"`
	Data    json.RawMessage `json:"data"`
}

// EventName is the name of the event it holds.
func (e Embedded) EventName() string { return e.Name }

// Embed encodes events that another event is to carry. An event that the
// catalogue does not declare is ErrUnknown.
func (c Catalogue) Embed(events ...Event) ([]Embedded, error) {
	embedded := make([]Embedded, len(events))
	for i, e := range events {
		version, data, err := c.Encode(e)
		if err != nil {
			return nil, err
		}
		embedded[i] = Embedded{Name: e.EventName(), Version: version, Data: data}
	}
	return embedded, nil
}
