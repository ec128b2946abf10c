package pgtest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// drops removes databases in the background, so that no test waits for it.
type drops struct {
	connection *pgx.Conn // used only by work

	mu       sync.Mutex
	waiting  []string
	finished bool
	failures []error
	wake     *sync.Cond
	worker   sync.WaitGroup
}

func startDrops(ctx context.Context, server string) (*drops, error) {
	connection, err := pgx.Connect(ctx, server)
	if err != nil {
		return nil, fmt.Errorf("connect to the test server: %w", err)
	}
	d := &drops{connection: connection}
	d.wake = sync.NewCond(&d.mu)
	d.worker.Go(d.work)
	return d, nil
}

func (d *drops) add(database string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, database)
	d.wake.Signal()
}

func (d *drops) next() (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.waiting) == 0 && !d.finished {
		d.wake.Wait()
	}
	if len(d.waiting) == 0 {
		return "", false
	}
	database := d.waiting[0]
	d.waiting = d.waiting[1:]
	return database, true
}

func (d *drops) work() {
	for {
		database, ok := d.next()
		if !ok {
			return
		}
		// FORCE, because a failed test may have left connections open.
		_, err := d.connection.Exec(context.Background(), "DROP DATABASE IF EXISTS "+quote(database)+" WITH (FORCE)")
		if err != nil {
			d.mu.Lock()
			d.failures = append(d.failures, fmt.Errorf("drop %s: %w", database, err))
			d.mu.Unlock()
		}
	}
}

// finish waits until all databases are dropped. Nothing may be added afterwards.
func (d *drops) finish() error {
	d.mu.Lock()
	d.finished = true
	d.wake.Signal()
	d.mu.Unlock()
	d.worker.Wait()
	_ = d.connection.Close(context.Background())
	return errors.Join(d.failures...)
}
