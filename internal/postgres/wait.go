package postgres

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// AnswerTime bounds what a start asks of the database, except migrations: a connection may stay open although nobody answers.
const AnswerTime = 10 * time.Second

const (
	// waitPause is the time between two attempts to reach an unavailable database.
	waitPause = 500 * time.Millisecond
	// waitReport is how often the wait is reported.
	waitReport = 10 * time.Second
)

// await prepares the database, and waits for one that is not available yet: after a reboot, or in a compose file, it starts
// together with its clients. It waits in real time.
func (c Config) await(ctx context.Context, pool *pgxpool.Pool) error {
	began := time.Now()

	var reported time.Time

	for {
		err := c.prepare(ctx, pool)
		if err == nil || c.Wait <= 0 || ctx.Err() != nil || !IsTransient(err) {
			return err
		}

		waited := time.Since(began)
		if waited >= c.Wait {
			return fmt.Errorf("the database at %s did not become available within %s: %w", hosts(pool), c.Wait, err)
		}

		if time.Since(reported) >= waitReport {
			reported = time.Now()

			c.Progress(fmt.Sprintf("Waiting for the database at %s (%s of %s): %s",
				hosts(pool), waited.Round(time.Second), c.Wait, strings.Join(strings.Fields(err.Error()), " ")))
		}

		select {
		case <-ctx.Done():
			return err
		case <-time.After(min(waitPause, c.Wait-waited)):
		}
	}
}

// hosts returns the hosts of the address, without its user and password.
func hosts(pool *pgxpool.Pool) string {
	config := pool.Config().ConnConfig
	all := []string{endpoint(config.Host, config.Port)}

	// Each host may appear several times, once for each way to encrypt.
	for _, fallback := range config.Fallbacks {
		if next := endpoint(fallback.Host, fallback.Port); next != all[len(all)-1] {
			all = append(all, next)
		}
	}

	return strings.Join(all, ", ")
}

func endpoint(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return host
	}

	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
