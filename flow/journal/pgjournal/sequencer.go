package pgjournal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/flow/journal"
)

const (
	// numberAtOnce is roughly how many entries are numbered in one transaction; the last batch is always numbered whole.
	numberAtOnce = 1000
	// statementTime bounds the time for statements, so that a connection to a dead host does not stop the numbering.
	statementTime = 10 * time.Second
	// closeTimeout bounds the time for statements when the journal is closed.
	closeTimeout = 5 * time.Second
)

// run numbers entries, or finds out what others have numbered, whenever there may be something to do, and polls.
func (c *core) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer c.handOver(ctx)

	for {
		polling := false

		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			polling = true
		case <-c.work:
		}

		wait, err := c.step(ctx, polling)
		if err != nil {
			c.fence = 0 // it is unknown whether the last statement took effect; the lease is requested again

			if ctx.Err() == nil {
				c.config.Logger.Warn("could not number a journal's entries; trying again", "journal", c.config.Name, "error", err)
			}
		}

		timer.Reset(min(wait, c.config.PollEvery))
	}
}

// step does what is due and returns how long nothing will be due unless signalled.
func (c *core) step(ctx context.Context, polling bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()

	awaited, asked := c.awaited(), c.takeAsked()
	wait := c.config.PollEvery

	if polling || c.fence == 0 {
		state, err := c.look(ctx)
		if err != nil {
			return wait, err
		}

		c.observe(state.head)

		if state.waiting {
			taken, err := c.takeLease(ctx)
			if err != nil {
				return wait, err
			}

			if !taken {
				wait = state.lease

				if asked || polling {
					c.announce(news{work: true})
				}
			}
		}
	}

	for more := c.fence != 0; more; {
		var err error
		if more, err = c.number(ctx); err != nil {
			return wait, err
		}
	}

	return wait, c.lookUp(ctx, awaited)
}

// state is the state of the journal in the database.
type state struct {
	head    journal.Position
	waiting bool          // there are entries without numbers
	lease   time.Duration // how long the lease is still valid
}

func (c *core) look(ctx context.Context) (state, error) {
	var found state

	err := c.pool.QueryRow(ctx, `
		SELECT head, EXISTS (SELECT FROM pgjournal_entries WHERE journal_id = $1 AND seq IS NULL),
			greatest(lease_until, clock_timestamp()) - clock_timestamp()
		FROM pgjournal_journals WHERE id = $1`, c.id).Scan(&found.head, &found.waiting, &found.lease)
	if err != nil {
		return found, fmt.Errorf("look at the journal: %w", err)
	}

	return found, nil
}

// takeLease takes the lease if it is free, has expired, or is held by this journal, which forgot it after an error.
func (c *core) takeLease(ctx context.Context) (bool, error) {
	err := c.pool.QueryRow(ctx, `
		UPDATE pgjournal_journals SET holder = $2, fence = fence + 1, lease_until = clock_timestamp() + $3::interval
		WHERE id = $1 AND (holder = $2 OR lease_until <= clock_timestamp()) RETURNING fence`,
		c.id, c.holder, c.config.Lease).Scan(&c.fence)
	if errors.Is(err, pgx.ErrNoRows) {
		c.fence = 0

		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("take the journal's lease: %w", err)
	}

	return true, nil
}

// number numbers the committed entries, batch by batch, and reports whether there may be more. Both statements are sent in one
// message and one transaction. The first locks the journal's row, so the second, whose snapshot is newer, sees what the
// previous sequencer did: the numbers are correct whoever assigns them. The fence makes a sequencer that lost its lease step
// down, so that there is only one; with an outdated fence, neither statement finds the row.
func (c *core) number(ctx context.Context) (bool, error) {
	batch := &pgx.Batch{}
	batch.Queue(`SELECT head FROM pgjournal_journals WHERE id = $1 AND fence = $2 FOR UPDATE`, c.id, c.fence)
	batch.Queue(`
		WITH base AS MATERIALIZED (SELECT head FROM pgjournal_journals WHERE id = $1 AND fence = $2),
		cut AS MATERIALIZED (
			SELECT max(batch) AS batch FROM (
				SELECT batch FROM pgjournal_entries WHERE journal_id = $1 AND seq IS NULL ORDER BY batch, idx LIMIT $3
			) AS oldest
		),
		waiting AS MATERIALIZED (
			SELECT e.batch, e.idx, row_number() OVER (ORDER BY e.batch, e.idx) AS n
			FROM pgjournal_entries e, cut WHERE e.journal_id = $1 AND e.seq IS NULL AND e.batch <= cut.batch
		),
		numbered AS (
			UPDATE pgjournal_entries e SET seq = base.head + w.n FROM base, waiting w
			WHERE e.journal_id = $1 AND e.seq IS NULL AND e.batch = w.batch AND e.idx = w.idx
			RETURNING e.batch, e.seq
		),
		moved AS (
			UPDATE pgjournal_journals SET head = head + (SELECT count(*) FROM numbered), lease_until = clock_timestamp() + $4::interval
			WHERE id = $1 AND EXISTS (SELECT FROM numbered)
		)
		SELECT batch, max(seq), count(*) FROM numbered GROUP BY batch ORDER BY batch`, c.id, c.fence, numberAtOnce, c.config.Lease)

	results := c.pool.SendBatch(ctx, batch)
	head, positions, count, err := readNumbers(results)
	err = errors.Join(err, results.Close())

	if errors.Is(err, pgx.ErrNoRows) {
		c.fence = 0 // another process has the lease

		c.announce(news{work: true})
		kick(c.work)

		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("number the journal's entries: %w", err)
	}

	for _, p := range positions {
		head = max(head, p.last)
		c.resolve(p.batch, p.last, nil)
	}

	if count > 0 {
		c.observe(head)
		c.announce(news{head: head})
	}

	return count >= numberAtOnce, nil
}

// batchPosition is the position of the last entry of a batch.
type batchPosition struct {
	batch int64
	last  journal.Position
}

func readNumbers(results pgx.BatchResults) (journal.Position, []batchPosition, int, error) {
	var head journal.Position
	if err := results.QueryRow().Scan(&head); err != nil {
		return 0, nil, 0, err
	}

	rows, err := results.Query()
	if err != nil {
		return 0, nil, 0, err
	}

	total := 0

	positions, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (batchPosition, error) {
		var (
			p     batchPosition
			count int
		)

		err := row.Scan(&p.batch, &p.last, &count)
		total += count

		return p, err
	})

	return head, positions, total, err
}

// lookUp finds the positions of batches that others numbered, or that were numbered before a call waited for them.
func (c *core) lookUp(ctx context.Context, awaited []int64) error {
	batches := awaited[:0]

	c.mu.Lock()
	for _, batch := range awaited {
		if len(c.waiting[batch]) > 0 {
			batches = append(batches, batch)
		}
	}
	c.mu.Unlock()

	if len(batches) == 0 {
		return nil
	}

	rows, err := c.pool.Query(ctx, `
		SELECT wanted.batch, coalesce(max(e.seq), 0), count(e.batch)
		FROM unnest($1::bigint[]) AS wanted (batch) LEFT JOIN pgjournal_entries e ON e.batch = wanted.batch
		GROUP BY wanted.batch`, batches)
	if err != nil {
		return fmt.Errorf("look positions up: %w", err)
	}

	var (
		batch, count int64
		last         journal.Position
	)

	_, err = pgx.ForEachRow(rows, []any{&batch, &last, &count}, func() error {
		switch {
		case count == 0:
			c.resolve(batch, 0, errors.New("the batch is not in the journal: its transaction was rolled back, or it was trimmed already"))
		case last > 0:
			c.resolve(batch, last, nil)
		}

		return nil
	})
	if err != nil {
		return fmt.Errorf("look positions up: %w", err)
	}

	return nil
}

// handOver ends the lease, so that another process need not wait for its expiry. The lease is identified by its holder: a step
// that was interrupted by Close has forgotten the fence.
func (c *core) handOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()

	ended, err := c.pool.Exec(ctx, `UPDATE pgjournal_journals SET lease_until = '-infinity' WHERE id = $1 AND holder = $2`, c.id, c.holder)
	if err == nil && ended.RowsAffected() > 0 {
		err = c.send(ctx, news{work: true})
	}

	if err != nil {
		c.config.Logger.Warn("could not release a journal's lease; it will expire", "journal", c.config.Name, "error", err)
	}
}
