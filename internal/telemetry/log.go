package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// Format is the form of a log line.
type Format string

// The forms of a log line.
const (
	Text Format = "text" // key=value pairs
	JSON Format = "json" // one JSON object a line
)

// NewLogger returns a logger that writes lines of at least a level (debug, info, warn or
// error) to w. The error names a level or a format that is none of those.
func NewLogger(w io.Writer, level string, format Format) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q: say debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: least}
	switch format {
	case Text:
		return slog.New(slog.NewTextHandler(w, options)), nil
	case JSON:
		options.ReplaceAttr = durationsAsText
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("log format %q: say text or json", format)
}

// durationsAsText writes a duration as the form for people does, with its unit: in JSON it would be a number of nanoseconds.
func durationsAsText(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
