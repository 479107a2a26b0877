package reference

import (
	"slices"
	"strings"
)

// Probed is the probe's result for a name without an example.
type Probed struct {
	Name           string
	Attributes     []string
	Denied         string // why it may not be used here; empty: it may
	NotImplemented bool   // the engine says that it has no such function
}

// notImplemented is the engine's message for a name of the language that it does not implement.
const notImplemented = "not yet implemented"

// Learn takes what calls of the name with ProbeFile as its arguments told.
func (p *Probed) Learn(ran Ran) {
	if ran.Denied {
		p.Denied = ran.Refused
	}
	if slices.ContainsFunc(ran.Answer.Messages, func(m string) bool {
		return strings.HasPrefix(m, p.Name+"[") && strings.Contains(m, notImplemented)
	}) {
		p.NotImplemented = true
	}
	if slices.ContainsFunc(ran.Answer.Messages, isClosedFile) {
		p.Denied = "it reads or writes files, and expressions have none here"
	}
}

// ProbeFile is there on every machine that runs the engine, so that what finds it missing was kept from it.
const ProbeFile = "/dev/null"

// isClosedFile tells whether a message says that ProbeFile cannot be opened or found.
func isClosedFile(message string) bool {
	name, text, _ := strings.Cut(message, ": ")
	_, tag, _ := strings.Cut(name, "::")
	return (tag == "noopen" || tag == "fdnfnd" || tag == "nffil") && strings.Contains(text, ProbeFile)
}
