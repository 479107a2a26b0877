package event

import "encoding/json"

// Embedded is an event kept inside another one until it is appended to its own
// stream. It keeps its own name and version, so that its upcasts apply wherever
// it stands.
type Embedded struct {
	Name    string          `json:"name"`
	Version int             `json:"v"`
	Data    json.RawMessage `json:"data"`
}

// Embed encodes events for keeping inside another one.
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

// Extract decodes embedded events through their upcasts.
func (c Catalogue) Extract(embedded []Embedded) ([]Event, error) {
	events := make([]Event, len(embedded))
	for i, e := range embedded {
		var err error
		if events[i], err = c.Decode(e.Name, e.Version, e.Data); err != nil {
			return nil, err
		}
	}
	return events, nil
}
