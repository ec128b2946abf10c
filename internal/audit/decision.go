package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// Decision is an action of a person, passed from the surface where they take it to the transaction that makes the change. That
// transaction also appends the audit row, so neither exists without the other. A Decision travels in a context, because the
// code in between is the same with and without a person's request.
type Decision struct {
	row func(target string, details map[string]string) tarsy.AuditEntry

	mu      sync.Mutex
	target  string
	details map[string]string
	state   state
}

// state is the progress of a decision.
type state int

const (
	// pending means that nothing has been changed in the database, as far as is known.
	pending state = iota
	// unchanged means that no change was necessary.
	unchanged
	stored
)

type decisionKey struct{}

// Decide returns a context that carries a decision. Row returns the audit row with the actor, the action and its origin; the
// code that makes the change supplies target and details that the surface does not know.
func Decide(ctx context.Context, row func(target string, details map[string]string) tarsy.AuditEntry) (context.Context, *Decision) {
	d := &Decision{row: row}

	return context.WithValue(ctx, decisionKey{}, d), d
}

// By is Decide with a fixed row, to which the reported target and details are added.
func By(ctx context.Context, entry tarsy.AuditEntry) context.Context {
	ctx, _ = Decide(ctx, func(target string, details map[string]string) tarsy.AuditEntry {
		if target != "" {
			entry.TargetID = target
		}

		whole := map[string]string{}
		maps.Copy(whole, entry.Details)
		maps.Copy(whole, details)

		entry.Details = whole

		return entry
	})

	return ctx
}

// Each returns a context for one of several independent changes of a decision: each change gets a row, and the decision itself
// none.
func Each(ctx context.Context, target string) context.Context {
	d := of(ctx)
	if d == nil {
		return ctx
	}

	d.setState(unchanged)

	return context.WithValue(ctx, decisionKey{}, &Decision{row: d.row, target: target})
}

// Target sets the ID that the decision changes. It does nothing if ctx carries no decision.
func Target(ctx context.Context, id string) {
	if d := of(ctx); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()

		d.target = id
	}
}

// Detail adds a detail to the row of the decision. Values must be chosen by the server, or masked. It does nothing if ctx
// carries no decision.
func Detail(ctx context.Context, name, value string) {
	if d := of(ctx); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()

		if d.details == nil {
			d.details = map[string]string{}
		}

		d.details[name] = value
	}
}

// Deciding reports whether ctx carries a decision whose row has not been stored.
func Deciding(ctx context.Context) bool {
	d := of(ctx)

	return d != nil && !d.Stored()
}

// Unchanged marks the decision as requiring no change, so it gets no row.
func Unchanged(ctx context.Context) {
	if d := of(ctx); d != nil {
		d.setState(unchanged)
	}
}

func of(ctx context.Context) *Decision {
	d, _ := ctx.Value(decisionKey{}).(*Decision)

	return d
}

// setState records the new state of a decision. A stored decision stays stored.
func (d *Decision) setState(next state) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.state != stored {
		d.state = next
	}
}

// Settled reports whether the decision needs no further row: it was stored with its change, or there was no change.
func (d *Decision) Settled() bool {
	if d == nil {
		return false
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	return d.state != pending
}

// Stored reports whether the row of the decision was stored with the change.
func (d *Decision) Stored() bool {
	if d == nil {
		return false
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	return d.state == stored
}

// Row returns the row of the decision as currently known, without its position in the log.
func (d *Decision) Row() tarsy.AuditEntry {
	d.mu.Lock()
	target, details := d.target, d.details
	d.mu.Unlock()

	return d.row(target, details)
}

// Beginner begins transactions: a pool, a connection, or a transaction.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// ErrUnchanged rolls back a transaction that turns out to change nothing.
var ErrUnchanged = errors.New("nothing is changed")

// Change makes a change in one transaction, together with the row of the decision in ctx, if any. An error of change rolls the
// transaction back and is returned, except ErrUnchanged, which is not an error to the caller.
func Change(ctx context.Context, on Beginner, change func(pgx.Tx) error) error {
	d := of(ctx)

	err := pgx.BeginFunc(ctx, on, func(tx pgx.Tx) error {
		if err := change(tx); err != nil {
			return err
		}

		// Last, because the log is locked until the commit: the lock holder must not wait for anything else.
		if d == nil || d.Stored() {
			return nil
		}

		return Append(ctx, tx, d.Row())
	})

	switch {
	case errors.Is(err, ErrUnchanged):
		if d != nil {
			d.setState(unchanged)
		}

		return nil
	case err == nil && d != nil:
		d.setState(stored)
	}

	return err
}

// lock serializes appends across servers, so that each row continues from the last one.
const lock = 0x7461727379_03

const insertSQL = `INSERT INTO audit_log (id, at, actor, actor_kind, key_id, key_prefix, role, action, target_type, target_id, request_id, remote,
    outcome, details, prev_hash, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`

// Append adds a row at the end of a transaction. It locks the log until the commit.
func Append(ctx context.Context, tx pgx.Tx, entry tarsy.AuditEntry) error {
	var (
		batch    pgx.Batch
		lastID   int64
		lastHash = FirstHash()
	)

	batch.Queue(`SELECT pg_advisory_xact_lock($1)`, int64(lock))
	// A separate statement: its snapshot is taken after the lock.
	batch.Queue(`SELECT id, hash FROM audit_log ORDER BY id DESC LIMIT 1`).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&lastID, &lastHash); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}

		return nil
	})

	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("lock the audit log: %w", err)
	}

	e := Link(entry, lastID, lastHash)

	if _, err := tx.Exec(ctx, insertSQL, e.ID, e.At, e.Actor, e.ActorKind, e.KeyID, e.KeyPrefix, e.Role, e.Action, e.TargetType, e.TargetID,
		e.RequestID, e.Remote, e.Outcome, e.Details, e.PrevHash, e.Hash); err != nil {
		return fmt.Errorf("append to the audit log: %w", err)
	}

	return nil
}
