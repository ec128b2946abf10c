package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/postgres"
)

var auditColumns = postgres.ColumnsOf[tarsy.AuditEntry]()

// AppendAudit adds a row to the audit log for an action that changed nothing here or was refused. It sets the id and the hashes.
// Only one append of this server waits for the lock at a time, so that appends never use up the connections of callers.
func (s *Store) AppendAudit(ctx context.Context, entry tarsy.AuditEntry) error {
	select {
	case s.auditing <- struct{}{}:
		defer func() { <-s.auditing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	return pgx.BeginFunc(ctx, s.db.Front(), func(tx pgx.Tx) error { return audit.Append(ctx, tx, entry) })
}

// Audit returns a page of the audit log.
func (s *Store) Audit(ctx context.Context, filter tarsy.AuditFilter) ([]tarsy.AuditEntry, error) {
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

	rows, err := postgres.Collect[tarsy.AuditEntry](ctx, s.db.Readers(), fmt.Sprintf(`SELECT %s FROM audit_log WHERE %s ORDER BY id %s LIMIT $%d`,
		auditColumns.List(), strings.Join(conditions, " AND "), order, len(args)), args...)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}

	for i := range rows {
		rows[i].At = rows[i].At.UTC()
	}

	return rows, nil
}
