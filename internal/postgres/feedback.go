package postgres

import (
	"context"
	"errors"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

var (
	feedbackColumns = ColumnsOf[tarsy.Feedback]()

	feedbackSQL = `SELECT ` + feedbackColumns.List() + ` FROM feedback WHERE session_id = $1 ORDER BY updated_at DESC, id DESC`

	// ownFeedbackSQL finds the feedback on session $1 of the person with the name $2 and the identity $3: by identity, or else
	// under their name without an identity.
	ownFeedbackSQL = `SELECT f.id, f.author FROM feedback f WHERE f.session_id = $1 AND ` + ofPersonSQL + ` ORDER BY f.author_id DESC LIMIT 1`

	// putFeedbackSQL stores feedback, or replaces the previous feedback of its author. A finished session stays finished, so its
	// row needs no lock. It returns nothing if another statement was faster; repeated, it finds what that one stored. The author
	// is the name, with a number if others have the same name.
	putFeedbackSQL = `
WITH target AS (SELECT id, last_seq FROM sessions WHERE id = $1 AND deleted_at IS NULL AND completed_at IS NOT NULL),
own AS (` + ownFeedbackSQL + `),
named AS (
    SELECT n, CASE n WHEN 1 THEN $2 ELSE $2 || ' (' || n || ')' END AS author
    FROM generate_series(1, 1 + (SELECT count(*) FROM feedback WHERE session_id = $1)) AS n),
free AS (
    SELECT author FROM named
    WHERE NOT EXISTS (SELECT FROM feedback o WHERE o.session_id = $1 AND o.author = named.author AND o.id IS DISTINCT FROM (SELECT id FROM own))
    ORDER BY author IS DISTINCT FROM (SELECT author FROM own), n LIMIT 1),
changed AS (
    UPDATE feedback AS f SET
        author = free.author, author_id = CASE $3 WHEN '' THEN f.author_id ELSE $3 END, rating = $5, why = $6, real_cause = $7, updated_at = greatest(f.updated_at, $8)
    FROM own, target, free WHERE f.id = own.id AND ` + ofPersonSQL + `
    RETURNING ` + feedbackColumns.Of("f") + `),
added AS (
    INSERT INTO feedback AS f (id, session_id, author, author_id, rating, why, real_cause, created_at, updated_at)
    SELECT $4::uuid, target.id, free.author, $3, $5, $6, $7, $8, $8 FROM target, free WHERE NOT EXISTS (SELECT FROM own)
    ON CONFLICT DO NOTHING
    RETURNING ` + feedbackColumns.Of("f") + `)
SELECT ` + feedbackColumns.Of("put") + `, target.last_seq AS version
FROM (SELECT ` + feedbackColumns.List() + ` FROM changed UNION ALL SELECT ` + feedbackColumns.List() + ` FROM added) AS put, target`

	deleteFeedbackSQL = `
WITH deleted AS (
    DELETE FROM feedback f USING sessions s
    WHERE f.id = (SELECT id FROM (` + ownFeedbackSQL + `) AS own) AND ` + ofPersonSQL + ` AND s.id = f.session_id AND s.deleted_at IS NULL
    RETURNING ` + feedbackColumns.Of("f") + `, s.last_seq AS version)
SELECT ` + feedbackColumns.Of("deleted") + `, deleted.version FROM deleted`
)

// ofPersonSQL is the condition that feedback f is by the person with the name $2 and the identity $3. Names are compared only if
// one of the two has no identity.
const ofPersonSQL = `CASE WHEN $3 = '' OR f.author_id = '' THEN f.author = $2 ELSE f.author_id = $3 END`

// feedbackAttempts is how often storing is tried because others of the same name were faster. Each time, one of them succeeds.
const feedbackAttempts = 100

// ratingSQL is the worst rating of session s.
const ratingSQL = `coalesce((SELECT CASE WHEN bool_or(f.rating = 'wrong') THEN 'wrong' WHEN bool_or(f.rating = 'partly') THEN 'partly'
    WHEN count(*) > 0 THEN 'right' END FROM feedback f WHERE f.session_id = s.id), '')`

// feedbackRow is feedback with the number of the session's last event.
type feedbackRow struct {
	tarsy.Feedback

	Version int64
}

// Feedback returns the feedback on a session, the latest change first.
func (db *DB) Feedback(ctx context.Context, sessionID string) ([]tarsy.Feedback, error) {
	if _, err := db.RequestTarget(ctx, sessionID); err != nil {
		return nil, err
	}

	found, err := Collect[tarsy.Feedback](ctx, db.readers, feedbackSQL, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}

	return found, nil
}

// PutFeedback stores a person's feedback on a finished session, and replaces their previous feedback. Of concurrent calls, one
// remains. Another person of the same name keeps theirs: the name of the later one gets a number.
func (db *DB) PutFeedback(ctx context.Context, f tarsy.Feedback) (tarsy.Feedback, error) {
	if !ident.Valid(f.SessionID) {
		return f, SessionNotFound(f.SessionID)
	}

	for range feedbackAttempts {
		stored, err := Decide[feedbackRow](ctx, db.front, putFeedbackSQL,
			f.SessionID, f.Author, f.AuthorID, f.ID, f.Rating, f.Why, f.RealCause, f.UpdatedAt)

		switch {
		case isUniqueViolation(err): // another author took the name
		case err != nil:
			return f, fmt.Errorf("store feedback: %w", err)
		case len(stored) > 0:
			db.Touch(f.SessionID, stored[0].Version)

			return stored[0].Feedback, nil
		default:
			if err := db.refuseFeedback(ctx, f.SessionID); err != nil {
				return f, err
			}
		}
	}

	return f, tarsy.Errorf(tarsy.CodeUnavailable, "too many people gave feedback on this session at once, try again")
}

// DeleteFeedback removes a person's feedback on a session and returns it.
func (db *DB) DeleteFeedback(ctx context.Context, sessionID string, by tarsy.Person) (tarsy.Feedback, error) {
	if !ident.Valid(sessionID) {
		return tarsy.Feedback{}, SessionNotFound(sessionID)
	}

	deleted, err := Decide[feedbackRow](ctx, db.front, deleteFeedbackSQL, sessionID, by.Name, by.ID)
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

	return tarsy.Feedback{}, tarsy.Errorf(tarsy.CodeFeedbackNotFound, "%s has given no feedback on this session", by.Name)
}

// isUniqueViolation reports whether a statement violated a unique constraint.
func isUniqueViolation(err error) bool {
	failed, ok := errors.AsType[*pgError](err)

	return ok && failed.Code == "23505"
}

// refuseFeedback returns why a session takes no feedback; nil if it does.
func (db *DB) refuseFeedback(ctx context.Context, sessionID string) error {
	target, err := db.RequestTarget(ctx, sessionID)
	if err != nil {
		return err
	}

	if target.Status.Terminal() {
		return nil
	}

	return tarsy.Errorf(tarsy.CodeSessionNotOver, "the session is %s: give feedback when it is over", target.Status)
}
