package elaborate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"

	"reckon/commands"
)

const (
	maxMessages     = 100
	maxMessageBytes = 4 << 10
)

// leanMessage is one line of `lean --json`.
type leanMessage struct {
	Severity commands.Severity `json:"severity"`
	Pos      *position         `json:"pos"`
	EndPos   *position         `json:"endPos"`
	Data     string            `json:"data"`
	Silent   bool              `json:"isSilent"`
}

type position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// messages reads what Lean printed; lines that are no messages are passed over.
func messages(printed []byte) []commands.ElaborationMessage {
	var list []commands.ElaborationMessage
	lines := bufio.NewScanner(bytes.NewReader(printed))
	lines.Buffer(nil, maxPrintedBytes)
	for lines.Scan() && len(list) < maxMessages {
		var m leanMessage
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.Pos == nil || m.Silent {
			continue
		}
		switch m.Severity {
		case commands.SeverityError, commands.SeverityWarning, commands.SeverityInformation:
		default:
			continue
		}
		one := commands.ElaborationMessage{Severity: m.Severity, Line: m.Pos.Line, Column: m.Pos.Column, Message: clip(m.Data)}
		if m.EndPos != nil {
			one.EndLine, one.EndColumn = &m.EndPos.Line, &m.EndPos.Column
		}
		list = append(list, one)
	}
	return list
}

func clip(text string) string {
	if len(text) <= maxMessageBytes {
		return strings.ToValidUTF8(text, "�")
	}
	return strings.ToValidUTF8(text[:maxMessageBytes], "") + "…"
}

// ofSeverity returns the messages of one severity, in order; never nil.
func ofSeverity(list []commands.ElaborationMessage, severity commands.Severity) []commands.ElaborationMessage {
	kept := []commands.ElaborationMessage{}
	for _, m := range list {
		if m.Severity == severity {
			kept = append(kept, m)
		}
	}
	return kept
}

// serviceError is an error that the service found and Lean did not report; it stands on line 1.
func serviceError(text string) commands.ElaborationMessage {
	return commands.ElaborationMessage{Severity: commands.SeverityError, Line: 1, Message: clip(text)}
}
