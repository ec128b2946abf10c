package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
)

// auditLock makes appends to the audit log exclusive across servers, so that each row continues from the last one.
const auditLock = 0x7461727379_03

var (
	auditColumns = columnsOf[tarsy.AuditEntry]()

	insertAuditSQL = `INSERT INTO audit_log (` + auditColumns.list() + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`
)

// AppendAudit adds a row to the audit log. It sets the id and the hashes.
func (db *DB) AppendAudit(ctx context.Context, entry tarsy.AuditEntry) error {
	return db.audited(ctx, []tarsy.AuditEntry{entry}, func(pgx.Tx) error { return nil })
}

// audited makes a change and adds rows to the audit log in the same transaction. One append of this server waits for the lock at a time, so
// that they never take all connections of callers.
func (db *DB) audited(ctx context.Context, entries []tarsy.AuditEntry, change func(pgx.Tx) error) error {
	if len(entries) > 0 {
		select {
		case db.auditing <- struct{}{}:
			defer func() { <-db.auditing }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}

	return pgx.BeginFunc(ctx, db.front, func(tx pgx.Tx) error {
		if err := change(tx); err != nil || len(entries) == 0 {
			return err
		}

		return appendAudit(ctx, tx, entries)
	})
}

// auditedLast is audited for a change that waits for others: while it does, other rows are appended.
func (db *DB) auditedLast(ctx context.Context, entry tarsy.AuditEntry, change func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, db.front, func(tx pgx.Tx) error {
		if err := change(tx); err != nil {
			return err
		}

		select {
		case db.auditing <- struct{}{}:
			defer func() { <-db.auditing }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}

		return appendAudit(ctx, tx, []tarsy.AuditEntry{entry})
	})
}

// appendAudit adds rows at the end of a transaction. The lock is held until its commit.
func appendAudit(ctx context.Context, tx pgx.Tx, entries []tarsy.AuditEntry) error {
	var (
		batch    pgx.Batch
		lastID   int64
		lastHash = audit.FirstHash()
	)

	batch.Queue(`SELECT pg_advisory_xact_lock($1)`, int64(auditLock))
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

	for _, entry := range entries {
		e := audit.Link(entry, lastID, lastHash)
		lastID, lastHash = e.ID, e.Hash

		if _, err := tx.Exec(ctx, insertAuditSQL, e.ID, e.At, e.Actor, e.ActorKind, e.KeyID, e.KeyPrefix, e.Role, e.Action, e.TargetType, e.TargetID,
			e.RequestID, e.Remote, e.Outcome, e.Details, e.PrevHash, e.Hash); err != nil {
			return fmt.Errorf("append to the audit log: %w", err)
		}
	}

	return nil
}

// Audit returns a page of the audit log.
func (db *DB) Audit(ctx context.Context, filter tarsy.AuditFilter) ([]tarsy.AuditEntry, error) {
	var (
		conditions = []string{"true"}
		args       []any
	)

	add := func(condition string, value any) {
		args = append(args, value)
		conditions = append(conditions, fmt.Sprintf(condition, len(args)))
	}

	for _, equal := range []struct{ column, value string }{
		{"actor", filter.Actor}, {"action", filter.Action}, {"target_type", filter.TargetType}, {"target_id", filter.TargetID},
	} {
		if equal.value != "" {
			add(equal.column+" = $%d", equal.value)
		}
	}

	if filter.Since != nil {
		add("at >= $%d", *filter.Since)
	}

	if filter.Until != nil {
		add("at < $%d", *filter.Until)
	}

	order := "DESC"
	if filter.OldestFirst {
		order = "ASC"
	}

	switch {
	case filter.After > 0 && filter.OldestFirst:
		add("id > $%d", filter.After)
	case filter.After > 0:
		add("id < $%d", filter.After)
	}

	args = append(args, filter.Limit)

	rows, err := collect[tarsy.AuditEntry](ctx, db.readers, fmt.Sprintf(`SELECT %s FROM audit_log WHERE %s ORDER BY id %s LIMIT $%d`,
		auditColumns.list(), strings.Join(conditions, " AND "), order, len(args)), args...)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}

	for i := range rows {
		rows[i].At = rows[i].At.UTC()
	}

	return rows, nil
}
