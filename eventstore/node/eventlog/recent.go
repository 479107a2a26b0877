package eventlog

import "github.com/google/uuid"

// The window in which a repeated append with Any or StreamExists is recognised: the
// newest records of the log, by count and by size. It is a function of the log alone,
// so a restart does not change it.
const (
	recentRecords = 32_768
	recentBytes   = 64 << 20
)

type recentKey struct {
	id     uuid.UUID
	stream string
}

type recentEntry struct {
	recentKey
	position  uint64
	sizeBytes int
}

// recordedAt is the revision and the position of a stored event.
type recordedAt struct{ revision, position uint64 }

// recentIDs maps the ids of the window's events to their revision and position.
type recentIDs struct {
	places    map[recentKey]recordedAt
	ring      []recentEntry // the window, behind entries already left
	oldest    int           // index in ring of the first entry of the window
	most      int           // entries in the window
	sizeBytes int
}

func newRecentIDs(most int) *recentIDs {
	return &recentIDs{places: map[recentKey]recordedAt{}, most: most}
}

// add adds an event; calls are in the order of the log.
func (r *recentIDs) add(id uuid.UUID, stream string, at recordedAt, sizeBytes int) {
	entry := recentEntry{recentKey: recentKey{id, stream}, position: at.position, sizeBytes: sizeBytes}
	r.ring = append(r.ring, entry)
	r.places[entry.recentKey] = at
	r.sizeBytes += sizeBytes
	for len(r.ring)-r.oldest > r.most || (r.sizeBytes > recentBytes && len(r.ring)-r.oldest > 1) {
		r.evict()
	}
	if r.oldest > r.most {
		r.ring = append(r.ring[:0], r.ring[r.oldest:]...)
		r.oldest = 0
	}
}

func (r *recentIDs) evict() {
	entry := r.ring[r.oldest]
	r.ring[r.oldest] = recentEntry{}
	r.oldest++
	r.sizeBytes -= entry.sizeBytes
	// a newer event of the same stream may carry the same id
	if r.places[entry.recentKey].position == entry.position {
		delete(r.places, entry.recentKey)
	}
}

func (r *recentIDs) find(id uuid.UUID, stream string) (recordedAt, bool) {
	at, ok := r.places[recentKey{id, stream}]
	return at, ok
}
