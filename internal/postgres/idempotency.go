package postgres

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// idempotencyKeyRetention is how long a key identifies the session that it created, as documented in docs/api.md.
const idempotencyKeyRetention = 24 * time.Hour

const (
	// forgetReusedSQL makes expired keys usable again that have not been removed yet.
	forgetReusedSQL = `DELETE FROM idempotency_keys WHERE hash = ANY($1) AND expires_at <= $2`

	// forgetExpiredSQL removes expired keys when new ones are stored, more than are stored, so that they never pile up.
	forgetExpiredSQL = `
DELETE FROM idempotency_keys WHERE hash IN (
    SELECT hash FROM idempotency_keys WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

	// keyedSQL runs after the statement that stores sessions, so it also sees keys that were committed while that one waited.
	keyedSQL = `
SELECT k.hash, k.fingerprint, k.session_id, coalesce(s.status, 'completed') AS status
FROM idempotency_keys k LEFT JOIN sessions s ON s.id = k.session_id
WHERE k.hash = ANY($1)`
)

// Existing is the session that an earlier request with the same idempotency key created.
type Existing struct {
	SessionID string
	// Status is SessionCompleted if the session's rows have already been removed.
	Status tarsy.SessionStatus
}

// CreateSessionOnce is CreateSession for a request with an idempotency key. If the key has already created a session, nothing is
// stored and that session is returned; if it did so for a different request, the error has CodeIdempotencyConflict.
func (db *DB) CreateSessionOnce(
	ctx context.Context, key tarsy.IdempotencyKey, session tarsy.Session, terms Terms, events ...tarsy.Event,
) (*Existing, error) {
	a := newArrival(session, terms, events)
	a.key = &key

	// After an error the arrival may still be in the hands of the batcher, so its fields must not be read.
	if err := db.take(ctx, a); err != nil {
		return nil, err
	}

	return a.existing, nil
}

// keyRow is a stored key with its session.
type keyRow struct {
	Hash        []byte
	Fingerprint []byte
	SessionID   string
	Status      tarsy.SessionStatus
}

// groupKeys are the idempotency keys of a group of arrivals, as columns.
type groupKeys struct {
	hashes, fingerprints [][]byte
	sessions             []string
	expires              []time.Time
	// now is the time of the newest arrival.
	now   time.Time
	found []keyRow
}

func keysOf(group []*arrival) *groupKeys {
	// Empty arrays, not nulls.
	k := &groupKeys{hashes: [][]byte{}, fingerprints: [][]byte{}, sessions: []string{}, expires: []time.Time{}}

	for _, a := range group {
		if a.key == nil {
			continue
		}

		at := a.session.CreatedAt
		k.hashes, k.fingerprints = append(k.hashes, a.key.Hash), append(k.fingerprints, a.key.Fingerprint)
		k.sessions, k.expires = append(k.sessions, a.session.ID), append(k.expires, at.Add(idempotencyKeyRetention))

		if at.After(k.now) {
			k.now = at
		}
	}

	return k
}

// columns are the last arguments of createSQL.
func (k *groupKeys) columns() []any { return []any{k.hashes, k.fingerprints, k.sessions, k.expires} }

// queueBefore queues the statements that run before the sessions are stored, in the same transaction.
func (k *groupKeys) queueBefore(batch *pgx.Batch) {
	if len(k.hashes) == 0 {
		return
	}

	const times = 2

	batch.Queue(forgetReusedSQL, k.hashes, k.now)
	batch.Queue(forgetExpiredSQL, k.now, times*len(k.hashes))
}

// queueAfter queues the query for the sessions of the keys.
func (k *groupKeys) queueAfter(batch *pgx.Batch) {
	if len(k.hashes) > 0 {
		QueueRows(batch, &k.found, keyedSQL, k.hashes)
	}
}

// resolveAll sets the result of each arrival, and returns how many arrivals of the group were stored. paused is the reason why
// none was, or nil; a repeated request gets its session even then.
func (k *groupKeys) resolveAll(group []*arrival, paused error) (stored int) {
	for _, a := range group {
		a.refused = paused

		if a.key != nil && (paused == nil || k.finds(a)) {
			a.existing, a.refused = k.resolve(a)
		}

		if a.existing == nil && a.refused == nil {
			stored++
		}
	}

	return stored
}

// finds reports whether the key of an arrival identifies a session.
func (k *groupKeys) finds(a *arrival) bool {
	return slices.ContainsFunc(k.found, func(row keyRow) bool { return bytes.Equal(row.Hash, a.key.Hash) })
}

func (k *groupKeys) resolve(a *arrival) (*Existing, error) {
	for _, row := range k.found {
		switch {
		case !bytes.Equal(row.Hash, a.key.Hash):
		case row.SessionID == a.session.ID:
			return nil, nil //nolint:nilnil // it is the first one
		case !bytes.Equal(row.Fingerprint, a.key.Fingerprint):
			return nil, tarsy.FieldErrorf(tarsy.CodeIdempotencyConflict, "Idempotency-Key",
				"this idempotency key was used for another request; use a new key for a new request")
		default:
			return &Existing{SessionID: row.SessionID, Status: row.Status}, nil
		}
	}

	// The key expired and was removed in between.
	return nil, tarsy.Errorf(tarsy.CodeUnavailable, "the idempotency key has just expired; try again")
}
