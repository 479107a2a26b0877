package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Preview is the payload in one line: a text as it is, of an object its members. Of a payload in the blob store it says the size, because
// a read model is derived from the log alone.
func (s Submission) Preview() string {
	if s.Payload.Blob != nil {
		return fmt.Sprintf("a text of %d bytes", s.Payload.Blob.Bytes)
	}
	text := s.Payload.Inline
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) == nil && members != nil {
		text = membersInWords(members)
	}
	return strings.Join(strings.Fields(text), " ")
}

// membersInWords lists the members of an object by name: texts and lists of texts as they are, numbers with their name, other lists by their length. Objects are left out.
func membersInWords(members map[string]json.RawMessage) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var value any
		if json.Unmarshal(members[name], &value) != nil {
			continue
		}
		switch value := value.(type) {
		case string:
			words = append(words, value)
		case float64:
			words = append(words, fmt.Sprintf("%s: %s", name, members[name]))
		case []any:
			words = append(words, listInWords(name, value))
		}
	}
	return strings.Join(words, ", ")
}

func listInWords(name string, list []any) string {
	texts := make([]string, 0, len(list))
	for _, entry := range list {
		text, is := entry.(string)
		if !is {
			return fmt.Sprintf("%s: %d", name, len(list))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
