package projections

import (
	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/projections/engine"
)

// ReadModels are all read models over one database.
type ReadModels struct {
	History      *History
	Tokens       *Tokens
	Sessions     *Sessions
	Jobs         *Jobs
	Queue        *Queue
	Certificates *Certificates
}

// New is the read models; nothing is created yet.
func New(db *bun.DB, blobs event.BlobReader) *ReadModels {
	return &ReadModels{
		History:      &History{db: db, blobs: blobs},
		Tokens:       &Tokens{db: db},
		Sessions:     &Sessions{db: db},
		Jobs:         &Jobs{db: db},
		Queue:        &Queue{db: db},
		Certificates: &Certificates{db: db},
	}
}

// All is the one list of projections.
func (m *ReadModels) All() []engine.Projection {
	return []engine.Projection{
		m.History.Projection(),
		m.Tokens.Projection(),
		m.Sessions.Projection(),
		m.Jobs.Projection(),
		m.Queue.Projection(),
		m.Certificates.Projection(),
	}
}
