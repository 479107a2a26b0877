package engine

// While a projection is built, the rows that its last batches wrote are remembered: what an
// event changes was often written shortly before. They are what the database holds, because
// nobody else may move the checkpoint, and are forgotten when a transaction fails.

const (
	maxRecentRows  = 8192
	maxRecentBytes = 8 << 20
)

// recentMap holds the *recentRows of each table.
type recentMap map[any]any

// recentRows are two generations of rows by key; nil is a row that was deleted.
type recentRows[K comparable, R any] struct {
	young, old map[K]*R
	bytes      int        // of the texts in young
	keys       *keySet[K] // of all rows of the table; nil: not read
}

// known is the set of the table's keys; nil: not read.
func (r *recentRows[K, R]) known() *keySet[K] {
	if r == nil {
		return nil
	}
	return r.keys
}

func (r *recentRows[K, R]) get(key K) (row *R, known bool) {
	if r == nil {
		return nil, false
	}
	if row, known = r.young[key]; !known {
		row, known = r.old[key]
	}
	return row, known
}

// recent returns nil where nothing is remembered.
func (t *Rows[K, R]) recent(tx *Tx) *recentRows[K, R] {
	if tx.recents == nil {
		return nil
	}
	if r, ok := tx.recents[t]; ok {
		return r.(*recentRows[K, R])
	}
	r := &recentRows[K, R]{young: map[K]*R{}}
	tx.recents[t] = r
	return r
}

// remember is called once the transaction has committed.
func (b *pending[K, R]) remember(tx *Tx) {
	r := b.table.recent(tx)
	for key, row := range b.rows {
		r.young[key] = row
		if r.keys != nil {
			r.keys.add(key)
		}
	}
	if r.bytes += tx.bytes; len(r.young) > maxRecentRows || r.bytes > maxRecentBytes {
		r.young, r.old, r.bytes = map[K]*R{}, r.young, 0
	}
}
