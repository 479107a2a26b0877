package eventstore

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// callDeadline bounds one call of a tool; the context of the caller may end it sooner.
const callDeadline = time.Minute

// OpenClient returns the official client of a server, for tools that copy events: address is
// unix:PATH or esdb://…. Who else reaches that server is not asked.
func OpenClient(address string, logger *slog.Logger) (*esdb.Client, error) {
	config, err := clientConfiguration(address)
	if err != nil {
		return nil, err
	}
	return patientClient(config, logger)
}

// OpenGuarded is OpenClient of a server that only those reach who may, unless insecure accepts any. Errors: an *UnguardedError, or that
// of an address that cannot be parsed.
func OpenGuarded(address string, insecure bool, logger *slog.Logger) (*esdb.Client, error) {
	config, err := clientConfiguration(address)
	if err != nil {
		return nil, err
	}
	if err := checkGuarded(config); err != nil && !insecure {
		return nil, err
	}
	return patientClient(config, logger)
}

func patientClient(config *esdb.Configuration, logger *slog.Logger) (*esdb.Client, error) {
	config.Logger = func(level, format string, args ...any) {
		logger.Debug("event store client: "+strings.TrimSpace(fmt.Sprintf(format, args...)), "level", level)
	}
	patient := callDeadline
	config.DefaultDeadline = &patient
	return esdb.NewClient(config)
}
