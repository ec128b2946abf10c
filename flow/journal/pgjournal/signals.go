package pgjournal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy/flow/journal"
)

// channel is the one PostgreSQL channel of all journals: listeners on further channels slow down every NOTIFY.
const channel = "pgjournal"

// reconnectAfter is the pause between attempts to listen.
const reconnectAfter = 500 * time.Millisecond

// news is what other processes are notified of: kinds, ids and positions, never entries.
type news struct {
	work bool             // there are entries to number
	head journal.Position // the new head if the journal has grown
}

// announce queues news for notify, which sends it outside of any writing transaction.
func (c *core) announce(n news) {
	c.mu.Lock()
	c.news.work = c.news.work || n.work
	c.news.head = max(c.news.head, n.head)
	c.mu.Unlock()

	kick(c.notifySignal)
}

// announceWork is called after a batch was committed here.
func (c *core) announceWork() {
	c.mu.Lock()
	c.asked = true
	c.mu.Unlock()

	kick(c.work)
}

func (c *core) takeAsked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	asked := c.asked
	c.asked = false

	return asked
}

// observe wakes the tails if the journal has grown.
func (c *core) observe(head journal.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if head <= c.head || c.closed {
		return
	}

	c.head = head
	close(c.grown)
	c.grown = make(chan struct{})
}

// kick signals a goroutine without blocking; signals that are pending coalesce.
func kick(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// notify sends news to the other processes. News that is queued during a send goes out together next.
func (c *core) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.notifySignal:
		}

		c.mu.Lock()
		n := c.news
		c.news = news{}
		c.mu.Unlock()

		// A lost notification only delays other processes until they poll.
		if err := c.send(ctx, n); err != nil && ctx.Err() == nil {
			c.config.Logger.Warn("could not notify other processes of a journal", "journal", c.config.Name, "error", err)
		}
	}
}

func (c *core) send(ctx context.Context, n news) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()

	var payloads []string
	if n.work {
		payloads = append(payloads, fmt.Sprintf("work %d", c.id))
	}

	if n.head > 0 {
		payloads = append(payloads, fmt.Sprintf("head %d %d", c.id, n.head))
	}

	// A notification need not survive a crash, so it does not wait for the disk.
	_, err := c.pool.Exec(ctx, `
		SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, p) FROM unnest($2::text[]) AS p`, channel, payloads)

	return err
}

// listen receives notifications from other processes on a separate connection, which it reopens when it breaks.
func (c *core) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}

		c.config.Logger.Warn("lost the connection that listens for a journal; trying again", "journal", c.config.Name, "error", err)

		timer := time.NewTimer(reconnectAfter)

		select {
		case <-ctx.Done():
		case <-timer.C:
		}

		timer.Stop()
	}
}

func (c *core) listenOnce(ctx context.Context) error {
	acquired, err := c.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}

	connection := acquired.Hijack()

	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()

		_ = connection.Close(ctx)
	}()

	if _, err := connection.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}

	kick(c.work) // check for notifications missed in the meantime

	for {
		notification, err := connection.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("wait for a notification: %w", err)
		}

		c.handleNotification(notification.Payload)
	}
}

func (c *core) handleNotification(payload string) {
	var (
		id   int64
		head journal.Position
	)

	kind, rest, _ := strings.Cut(payload, " ")
	if _, err := fmt.Sscan(rest, &id); err != nil || id != c.id {
		return
	}

	if kind == "head" {
		if _, err := fmt.Sscan(rest, &id, &head); err != nil {
			return
		}

		c.observe(head)

		if len(c.awaited()) == 0 {
			return
		}
	}

	kick(c.work)
}
