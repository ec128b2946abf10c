package postgres_test

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/journaltest"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func TestSessionJournalConformsForReaders(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	writer, reader := f.Server(t), f.Server(t)

	var queue sync.Mutex // hold requires an empty queue

	// The reader is on the writer's server in one suite, and on another server in the other.
	for name, on := range map[string]func(id string) journal.Reader[tarsy.Event]{
		"same server": writer.Journal, "another server": reader.Journal,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journaltest.Reader(t, func(t *testing.T) (journal.Reader[string], journaltest.Append) {
				t.Helper()
				queue.Lock()
				defer queue.Unlock()

				claim := f.Hold(t, writer, storetest.NewEvents("intake", 1)...)
				holder := writer.Hold(claim.Lease)

				return textReader{on(claim.SessionID)}, func(ctx context.Context, entries ...string) error {
					events := make([]tarsy.Event, len(entries))
					for i, entry := range entries {
						events[i] = tarsy.Event{Type: "test", Payload: text(entry), CreatedAt: storetest.Epoch()}
					}

					_, err := holder.Commit(ctx, progress.Step{Events: events})

					return err
				}
			})
		})
	}
}

func text(s string) json.RawMessage {
	raw, err := json.Marshal(map[string]string{"text": s})
	if err != nil {
		panic(err)
	}

	return raw
}

// textReader shows the texts of a session's journal.
type textReader struct{ events journal.Reader[tarsy.Event] }

func (r textReader) Head(ctx context.Context) (journal.Position, error) { return r.events.Head(ctx) }

func (r textReader) Tail(ctx context.Context, after journal.Position) iter.Seq2[journal.Record[string], error] {
	return texts(r.events.Tail(ctx, after))
}

func (r textReader) Backward(ctx context.Context, before journal.Position) iter.Seq2[journal.Record[string], error] {
	return texts(r.events.Backward(ctx, before))
}

func texts(events iter.Seq2[journal.Record[tarsy.Event], error]) iter.Seq2[journal.Record[string], error] {
	return func(yield func(journal.Record[string], error) bool) {
		for record, err := range events {
			var payload struct{ Text string }

			if err == nil {
				err = json.Unmarshal(record.Entry.Payload, &payload)
			}

			if !yield(journal.Record[string]{Position: record.Position, At: record.At, Entry: payload.Text}, err) {
				return
			}
		}
	}
}

func TestJournalRecordMatchesCommittedEvent(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	event := tarsy.NewEvent(claim.SessionID, tarsy.TypeSessionStatus,
		tarsy.SessionStatusPayload{Type: tarsy.TypeSessionStatus, SessionID: claim.SessionID, Status: tarsy.SessionInProgress, Timestamp: storetest.Epoch()},
		f.Clock.Now())

	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: []tarsy.Event{event}})
	require.NoError(t, err)

	event.Seq = 1

	for record, err := range db.Journal(claim.SessionID).Backward(t.Context(), 0) {
		require.NoError(t, err)
		storetest.RequireSame(t, journal.Record[tarsy.Event]{Position: 1, At: f.Clock.Now(), Entry: event}, record)
	}
}

func TestHeadOfMissingSessionIsNotFound(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	deleted := f.Create(t, db)
	f.Exec(t, `UPDATE sessions SET deleted_at = $2 WHERE id = $1`, deleted.ID, storetest.Epoch())

	for _, id := range []string{ident.New(), "no-id", "", "' OR 1=1", deleted.ID} {
		_, err := db.Journal(id).Head(t.Context())
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err), "head of %q", id)
	}
}
