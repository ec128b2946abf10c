package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
)

var auditColumns = columnsOf[tarsy.AuditEntry]()

// AppendAudit adds a row to the audit log for an action that changed nothing here or was refused. It sets the id and the hashes.
// Only one append of this server waits for the lock at a time, so that appends never use up the connections of callers.
func (db *DB) AppendAudit(ctx context.Context, entry tarsy.AuditEntry) error {
	select {
	case db.auditing <- struct{}{}:
		defer func() { <-db.auditing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	return pgx.BeginFunc(ctx, db.front, func(tx pgx.Tx) error { return audit.Append(ctx, tx, entry) })
}

// decided is collect for a statement that makes a decision: its row in the audit log is part of the transaction. If the statement
// returns no rows, nothing is changed.
func decided[T any](ctx context.Context, db *DB, sql string, args ...any) (rows []T, err error) {
	err = audit.Change(ctx, db.front, func(tx pgx.Tx) error {
		rows, err = collect[T](ctx, tx, sql, args...)
		if err == nil && len(rows) == 0 {
			return audit.ErrUnchanged
		}

		return err
	})

	return rows, err
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
