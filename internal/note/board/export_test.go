package board

import (
	"context"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/notebook"
)

// Statement is a statement that listing entities runs.
type Statement struct {
	SQL  string
	Args []any
	// Count is whether the statement counts the matches.
	Count bool
}

// Statements returns the statements that listing entities runs on the entities table.
func Statements(q notebook.EntityQuery) []Statement {
	all := matching(q)
	anyOf(all, "e.status", q.Statuses)

	recorder := &recorder{}
	// The recorder records the statements and returns no rows.
	_, _ = entities(context.Background(), recorder, q)

	return append(recorder.statements, Statement{SQL: `SELECT count(*) FROM entities e ` + all.clause(), Args: all.args, Count: true})
}

// recorder is a database without rows.
type recorder struct{ statements []Statement }

func (r *recorder) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	r.statements = append(r.statements, Statement{SQL: sql, Args: args})

	return noRows{}, nil
}

func (*recorder) QueryRow(context.Context, string, ...any) pgx.Row { panic("not used") }

func (*recorder) SendBatch(context.Context, *pgx.Batch) pgx.BatchResults { panic("not used") }

type noRows struct{ pgx.Rows }

func (noRows) Next() bool { return false }
func (noRows) Close()     {}
func (noRows) Err() error { return nil }
