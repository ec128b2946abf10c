package postgres

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

var (
	feedbackColumns = columnsOf[tarsy.Feedback]()

	feedbackSQL = `SELECT ` + feedbackColumns.list() + ` FROM feedback WHERE session_id = $1 ORDER BY updated_at DESC, id DESC`

	// putFeedbackSQL stores an opinion, or replaces the one that its author gave before. A session that is over stays so, so its row needs no
	// lock.
	putFeedbackSQL = `
WITH target AS (SELECT id, last_seq FROM sessions WHERE id = $2 AND deleted_at IS NULL AND completed_at IS NOT NULL),
put AS (
    INSERT INTO feedback AS f (id, session_id, author, rating, why, real_cause, created_at, updated_at)
    SELECT $1::uuid, target.id, $3, $4, $5, $6, $7, $7 FROM target
    ON CONFLICT (session_id, author) DO UPDATE SET
        rating = excluded.rating, why = excluded.why, real_cause = excluded.real_cause, updated_at = greatest(f.updated_at, excluded.updated_at)
    RETURNING ` + feedbackColumns.of("f") + `)
SELECT ` + feedbackColumns.of("put") + `, target.last_seq AS version FROM put, target`

	deleteFeedbackSQL = `
WITH deleted AS (
    DELETE FROM feedback f USING sessions s
    WHERE f.session_id = $1 AND f.author = $2 AND s.id = f.session_id AND s.deleted_at IS NULL
    RETURNING ` + feedbackColumns.of("f") + `, s.last_seq AS version)
SELECT ` + feedbackColumns.of("deleted") + `, deleted.version FROM deleted`
)

// ratingSQL is the worst rating of session s.
const ratingSQL = `coalesce((SELECT CASE WHEN bool_or(f.rating = 'wrong') THEN 'wrong' WHEN bool_or(f.rating = 'partly') THEN 'partly'
    WHEN count(*) > 0 THEN 'right' END FROM feedback f WHERE f.session_id = s.id), '')`

// feedbackRow is feedback with the number of the session's last event.
type feedbackRow struct {
	tarsy.Feedback

	Version int64
}

// Feedback returns what people said about a session, the latest change first.
func (db *DB) Feedback(ctx context.Context, sessionID string) ([]tarsy.Feedback, error) {
	if _, err := db.RequestTarget(ctx, sessionID); err != nil {
		return nil, err
	}

	found, err := collect[tarsy.Feedback](ctx, db.readers, feedbackSQL, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}

	return found, nil
}

// PutFeedback stores what a person thinks of a session that is over, and replaces what they said before. Of several at once one remains.
func (db *DB) PutFeedback(ctx context.Context, f tarsy.Feedback) (tarsy.Feedback, error) {
	if !tarsy.ValidID(f.SessionID) {
		return f, sessionNotFound(f.SessionID)
	}

	stored, err := collect[feedbackRow](ctx, db.front, putFeedbackSQL, f.ID, f.SessionID, f.Author, f.Rating, f.Why, f.RealCause, f.UpdatedAt)
	if err != nil {
		return f, fmt.Errorf("store feedback: %w", err)
	}

	if len(stored) == 0 {
		return f, db.refuseFeedback(ctx, f.SessionID)
	}

	db.Touch(f.SessionID, stored[0].Version)

	return stored[0].Feedback, nil
}

// DeleteFeedback removes what a person said about a session and returns it.
func (db *DB) DeleteFeedback(ctx context.Context, sessionID, author string) (tarsy.Feedback, error) {
	if !tarsy.ValidID(sessionID) {
		return tarsy.Feedback{}, sessionNotFound(sessionID)
	}

	deleted, err := collect[feedbackRow](ctx, db.front, deleteFeedbackSQL, sessionID, author)
	if err != nil {
		return tarsy.Feedback{}, fmt.Errorf("delete feedback: %w", err)
	}

	if len(deleted) > 0 {
		db.Touch(sessionID, deleted[0].Version)

		return deleted[0].Feedback, nil
	}

	if _, err := db.RequestTarget(ctx, sessionID); err != nil {
		return tarsy.Feedback{}, err
	}

	return tarsy.Feedback{}, tarsy.Errorf(tarsy.CodeFeedbackNotFound, "%s has given no feedback on this session", author)
}

// refuseFeedback is why a session takes none.
func (db *DB) refuseFeedback(ctx context.Context, sessionID string) error {
	target, err := db.RequestTarget(ctx, sessionID)
	if err != nil {
		return err
	}

	return tarsy.Errorf(tarsy.CodeSessionNotOver, "the session is %s: give feedback when it is over", target.Status)
}
