package cluster

import "github.com/google/uuid"

// hostVersion is the UUID version (RFC 9562) of the ids of processes that host the log; all
// others have version 4. So whoever reads an id in the log knows whether its process ended
// when the log did, without another event.
const hostVersion = 7

// NewProcessID is the id of a new process. hostsLog: the log is embedded in it.
func NewProcessID(hostsLog bool) string {
	if hostsLog {
		return uuid.Must(uuid.NewV7()).String() // fails only where crypto/rand does, which never fails
	}
	return uuid.NewString()
}

// hostedLog tells whether the process with this id hosted the log.
func hostedLog(processID string) bool {
	id, err := uuid.Parse(processID)
	return err == nil && id.Version() == hostVersion
}
