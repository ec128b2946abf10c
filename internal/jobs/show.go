package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/notebook"
)

// state is the SQL expression that maps a River job to a notebook.JobState. River makes a failed job available immediately if
// it is to be retried within seconds, so a job with errors counts as retrying.
const state = `CASE
    WHEN j.state = 'running' THEN 'running'
    WHEN j.state = 'completed' THEN 'completed'
    WHEN j.state IN ('cancelled', 'discarded') THEN 'failed'
    WHEN j.state = 'retryable' OR cardinality(j.errors) > 0 THEN 'retrying'
    ELSE 'waiting'
END`

// Overview returns the queues of this server with their job counts.
func (q *Queue) Overview(ctx context.Context) ([]notebook.JobQueue, error) {
	rows, err := q.cfg.Readers.Query(ctx, `
SELECT n.name, coalesce(p.paused_at IS NOT NULL, false) AS paused, c.waiting, c.running, c.retrying, c.failed
FROM unnest($1::text[]) AS n (name) LEFT JOIN river_queue p ON p.name = n.name
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE s.state = 'waiting') AS waiting, count(*) FILTER (WHERE s.state = 'running') AS running,
        count(*) FILTER (WHERE s.state = 'retrying') AS retrying, count(*) FILTER (WHERE s.state = 'failed') AS failed
    FROM (SELECT `+state+` AS state FROM river_job j WHERE j.queue = n.name AND j.state <> 'completed') AS s
) AS c
ORDER BY n.name`, q.names)
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}

	queues, err := pgx.CollectRows(rows, pgx.RowToStructByName[notebook.JobQueue])
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}

	return queues, nil
}

// columns are those of notebook.Job.
const columns = `j.id, j.kind, j.queue, ` + state + ` AS state, j.attempt, j.max_attempts, j.args->>'note_id' AS note_id,
    coalesce((j.args->>'version')::bigint, 0) AS note_version, coalesce(j.errors[cardinality(j.errors)]->>'error', '') AS error,
    j.created_at, j.scheduled_at, j.attempted_at, j.finalized_at`

// Jobs returns a page of jobs.
func (q *Queue) Jobs(ctx context.Context, query notebook.JobQuery) (notebook.JobPage, error) {
	names := q.names

	if query.Queue != "" {
		if err := q.check(query.Queue); err != nil {
			return notebook.JobPage{}, err
		}

		names = []string{query.Queue}
	}

	// Filtering by River's states lets the query use its index, which starts with them.
	const matching = `FROM river_job j WHERE j.queue = ANY($1) AND j.state = ANY($3::text[]::river_job_state[]) AND ($2 = '' OR ` + state + ` = $2)`

	states := statesOf(query.State)

	var page notebook.JobPage

	err := pgx.BeginTxFunc(ctx, q.cfg.Readers, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT count(*) `+matching, names, query.State, states).Scan(&page.Total); err != nil {
			return err
		}

		// One extra row shows whether there is a next page.
		rows, err := tx.Query(ctx, `SELECT `+columns+` `+matching+` AND ($4 = 0 OR j.id < $4) ORDER BY j.id DESC LIMIT $5`,
			names, query.State, states, query.Before, query.Limit+1)
		if err != nil {
			return err
		}

		page.Jobs, err = pgx.CollectRows(rows, readJob)

		return err
	})
	if err != nil {
		return notebook.JobPage{}, fmt.Errorf("list jobs: %w", err)
	}

	if len(page.Jobs) > query.Limit {
		page.Jobs = page.Jobs[:query.Limit]
		page.Next = page.Jobs[query.Limit-1].ID
	}

	return page, nil
}

// statesOf returns the River states that correspond to a state; empty means any.
func statesOf(state notebook.JobState) []rivertype.JobState {
	switch state {
	case notebook.JobWaiting, notebook.JobRetrying:
		return []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateScheduled}
	case notebook.JobRunning:
		return []rivertype.JobState{rivertype.JobStateRunning}
	case notebook.JobFailed:
		return []rivertype.JobState{rivertype.JobStateCancelled, rivertype.JobStateDiscarded}
	case notebook.JobCompleted:
		return []rivertype.JobState{rivertype.JobStateCompleted}
	default:
		return rivertype.JobStates()
	}
}

// Job returns a job.
func (q *Queue) Job(ctx context.Context, id int64) (notebook.Job, error) {
	rows, err := q.cfg.Readers.Query(ctx, `SELECT `+columns+` FROM river_job j WHERE j.id = $1`, id)
	if err != nil {
		return notebook.Job{}, fmt.Errorf("read job: %w", err)
	}

	job, err := pgx.CollectExactlyOneRow(rows, readJob)
	if errors.Is(err, pgx.ErrNoRows) {
		return job, NoJob(id)
	}

	return job, err
}

// readJob scans a row of columns. River prefixes the error of a job that it must not retry; the prefix means nothing to people.
func readJob(row pgx.CollectableRow) (notebook.Job, error) {
	job, err := pgx.RowToStructByName[notebook.Job](row)
	job.Error = strings.TrimPrefix(job.Error, "JobCancelError: ")

	return job, err
}

// NoJob returns the error for a job that does not exist.
func NoJob(id int64) error { return tarsy.Errorf(tarsy.CodeJobNotFound, "there is no job %d", id) }

// Pause stops all servers from starting jobs of a queue until Resume. Jobs are still accepted, and running jobs continue.
func (q *Queue) Pause(ctx context.Context, name string) error {
	return q.control(ctx, name, func(tx pgx.Tx) error { return q.client.QueuePauseTx(ctx, tx, name, nil) })
}

// Resume allows servers to start the jobs of a queue again.
func (q *Queue) Resume(ctx context.Context, name string) error {
	return q.control(ctx, name, func(tx pgx.Tx) error { return q.client.QueueResumeTx(ctx, tx, name, nil) })
}

func (q *Queue) control(ctx context.Context, name string, change func(pgx.Tx) error) error {
	if err := q.check(name); err != nil {
		return err
	}

	err := audit.Change(ctx, q.cfg.Pool, func(tx pgx.Tx) error {
		// A queue has no row until a server that works on it has started.
		if _, err := tx.Exec(ctx, `
INSERT INTO river_queue (name, created_at, metadata, updated_at) VALUES ($1, now(), '{}', now()) ON CONFLICT DO NOTHING`, name); err != nil {
			return err
		}

		return change(tx)
	})
	if err != nil {
		return fmt.Errorf("change queue: %w", err)
	}

	return nil
}

func (q *Queue) check(name string) error {
	if slices.Contains(q.names, name) {
		return nil
	}

	return tarsy.Errorf(tarsy.CodeQueueNotFound, "there is no queue %q", name)
}
