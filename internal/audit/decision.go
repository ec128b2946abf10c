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

// Decision is something that a person does, on its way from the surface where they do it to the transaction that makes the change. The
// transaction appends the row: neither is there without the other. A Decision travels in a context, because between the two lies code that
// is the same whether or not a person asked for it.
type Decision struct {
	row func(target string, details map[string]string) tarsy.AuditEntry

	mu      sync.Mutex
	target  string
	details map[string]string
	state   state
}

// state is what became of a decision.
type state int

const (
	// undone decisions have changed nothing in the database, as far as is known.
	undone state = iota
	// unchanged decisions found everything as they would have it.
	unchanged
	stored
)

type decisionKey struct{}

// Decide returns a context in which a decision is made. Row returns who makes which one and from where; the code that makes the change
// knows its target and details, if the surface does not.
func Decide(ctx context.Context, row func(target string, details map[string]string) tarsy.AuditEntry) (context.Context, *Decision) {
	d := &Decision{row: row}

	return context.WithValue(ctx, decisionKey{}, d), d
}

// By is Decide for a row whose target and details are added to those that are known.
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

// Each returns a context for one of several changes that a decision makes by themselves: each has a row, and the decision has none.
func Each(ctx context.Context, target string) context.Context {
	d := of(ctx)
	if d == nil {
		return ctx
	}

	d.become(unchanged)

	return context.WithValue(ctx, decisionKey{}, &Decision{row: d.row, target: target})
}

// Target tells which id the decision changes. It does nothing where no decision is made.
func Target(ctx context.Context, id string) {
	if d := of(ctx); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()

		d.target = id
	}
}

// Detail adds to the row of the decision. Values are chosen by the server, or masked. It does nothing where no decision is made.
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

// Deciding reports whether a decision is made whose row is not stored.
func Deciding(ctx context.Context) bool {
	d := of(ctx)

	return d != nil && !d.Stored()
}

// Unchanged tells that everything is as the decision would have it: it has no row.
func Unchanged(ctx context.Context) {
	if d := of(ctx); d != nil {
		d.become(unchanged)
	}
}

func of(ctx context.Context) *Decision {
	d, _ := ctx.Value(decisionKey{}).(*Decision)

	return d
}

// become notes what became of a decision. A row that is stored stays.
func (d *Decision) become(next state) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.state != stored {
		d.state = next
	}
}

// Settled reports whether the decision needs no row any more: it is stored with the change, or nothing was changed.
func (d *Decision) Settled() bool {
	if d == nil {
		return false
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	return d.state != undone
}

// Stored reports whether the row of the decision is stored, with the change.
func (d *Decision) Stored() bool {
	if d == nil {
		return false
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	return d.state == stored
}

// Row is the row of the decision as it is known now, without its place in the log.
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

// ErrUnchanged ends the transaction of a change that changes nothing.
var ErrUnchanged = errors.New("nothing is changed")

// Change makes a change in one transaction, with the row of the decision that it is part of, if it is part of one. An error of change rolls
// it back and is returned; ErrUnchanged is none to the caller.
func Change(ctx context.Context, on Beginner, change func(pgx.Tx) error) error {
	d := of(ctx)

	err := pgx.BeginFunc(ctx, on, func(tx pgx.Tx) error {
		if err := change(tx); err != nil {
			return err
		}

		// Last, for the log is locked until the commit: whoever holds it waits for nothing else.
		if d == nil || d.Stored() {
			return nil
		}

		return Append(ctx, tx, d.Row())
	})

	switch {
	case errors.Is(err, ErrUnchanged):
		if d != nil {
			d.become(unchanged)
		}

		return nil
	case err == nil && d != nil:
		d.become(stored)
	}

	return err
}

// lock makes appends exclusive across servers, so that each row continues from the last one.
const lock = 0x7461727379_03

const insertSQL = `INSERT INTO audit_log (id, at, actor, actor_kind, key_id, key_prefix, role, action, target_type, target_id, request_id, remote,
    outcome, details, prev_hash, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`

// Append adds a row at the end of a transaction. The log is locked until its commit.
func Append(ctx context.Context, tx pgx.Tx, entry tarsy.AuditEntry) error {
	var (
		batch    pgx.Batch
		lastID   int64
		lastHash = FirstHash()
	)

	batch.Queue(`SELECT pg_advisory_xact_lock($1)`, int64(lock))
	// A statement of its own: its snapshot is from after the lock.
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
