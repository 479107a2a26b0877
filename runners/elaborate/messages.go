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
	Severity string    `json:"severity"`
	Pos      *position `json:"pos"`
	EndPos   *position `json:"endPos"`
	Data     string    `json:"data"`
	Silent   bool      `json:"isSilent"`
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
		case "error", "warning", "information":
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

// only keeps the messages of one severity.
func only(list []commands.ElaborationMessage, severity string) []commands.ElaborationMessage {
	kept := []commands.ElaborationMessage{}
	for _, m := range list {
		if m.Severity == severity {
			kept = append(kept, m)
		}
	}
	return kept
}

// said is a message of ours where Lean has none.
func said(text string) commands.ElaborationMessage {
	return commands.ElaborationMessage{Severity: "error", Line: 1, Message: clip(text)}
}
