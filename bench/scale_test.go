//go:build bench

package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/postgres"
)

// scaleSizes are how many sessions the database has. A million takes some minutes to load:
// TARSY_BENCH_SESSIONS=1000,100000,1000000 make bench.
const scaleSizes = "1000,100000"

// scaleCalls is how often each thing is asked for, by one client and by sixteen together.
const scaleCalls = 160

// TestScale prints how long readers and intake wait for an answer with more and more sessions in the database.
func TestScale(t *testing.T) {
	sizes := os.Getenv("TARSY_BENCH_SESSIONS")
	if sizes == "" {
		sizes = scaleSizes
	}

	url := durableServer(t)

	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(size))
		require.NoError(t, err, "TARSY_BENCH_SESSIONS")

		t.Run(size, func(t *testing.T) {
			database := fresh(t, url, "scale"+size)
			began := time.Now()
			loadSessions(t, database, n)
			fmt.Printf("\nloaded %d sessions in %.0f s\n", n, time.Since(began).Seconds())
			measureScale(t, database, n)
		})
	}
}

// scaleCase is one thing that is asked for again and again. Each call gets another number.
type scaleCase struct {
	what string
	call func(t testing.TB, number int)
}

func measureScale(t *testing.T, url string, n int) {
	fmt.Printf("\n%-44s %21s   %21s\n%-44s %10s %10s   %10s %10s\n", fmt.Sprintf("with %d sessions", n), "1 client", "16 clients", "", "p50", "p95", "p50", "p95")

	claimer := openClaimer(t, url)
	show(scaleCase{"claim one session", claimer.claim}, scaleCalls)
	claimer.stop()

	a := start(t, url, workers, instant())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	t.Cleanup(client.CloseIdleConnections)

	for _, c := range readCases(client, a) {
		showIn(t, c, scaleCalls)
	}

	showIn(t, scaleCase{"submit an alert", func(t testing.TB, _ int) { submit(t, client, a) }}, scaleCalls)
}

// readCases are the questions of the dashboard.
func readCases(client *http.Client, a *app.App) []scaleCase {
	get := func(what, path string, args ...func(int) any) scaleCase {
		return scaleCase{what, func(t testing.TB, number int) {
			values := make([]any, len(args))
			for i, arg := range args {
				values[i] = arg(number)
			}

			resp, err := client.Get("http://" + a.Addr() + "/api/v1/" + fmt.Sprintf(path, values...))
			require.NoError(t, err)

			defer resp.Body.Close()

			raw, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, resp.StatusCode, "%s", raw)
		}}
	}
	day := func(number int) any { return time.Now().AddDate(0, 0, -number%90).UTC().Format(time.RFC3339) }

	return []scaleCase{
		get("list, newest first", "sessions"),
		get("list, attention first (the dashboard)", "sessions?order=attention"),
		get("status: failed or timed out", "sessions?order=attention&status=failed,timed_out"),
		get("status: cancelled", "sessions?status=cancelled"),
		get("alert type", "sessions?order=attention&alert_type=type-%d", func(n int) any { return n % 20 }),
		get("chain", "sessions?chain_id=chain-%d", func(n int) any { return n % 5 }),
		get("author", "sessions?author=user-%d", func(n int) any { return n % 50 }),
		get("alert type, author and status", "sessions?alert_type=type-%d&author=user-7&status=completed", func(n int) any { return n % 20 }),
		get("severity", "sessions?order=attention&severity=%s", func(n int) any { return tarsy.Severities()[n%4] }),
		get("service and team", "sessions?order=attention&service=checkout&team=team-%d", func(n int) any { return n % 12 }),
		get("fingerprint", "sessions?fingerprint=%s", func(n int) any { return hash(n)[:16] }),
		get("label: one that many have", "sessions?order=attention&label=env%%3Dprod"),
		get("label: one that few have", "sessions?order=attention&label=pod%%3D%s", func(n int) any { return hash(n)[:10] }),
		get("handling: open", "sessions?order=attention&handling=open"),
		get("handling: open or acknowledged, and service", "sessions?order=attention&handling=open,acknowledged&service=checkout"),
		get("handling: resolved", "sessions?handling=resolved"),
		get("assignee", "sessions?order=attention&assignee=person-%d", func(n int) any { return n % 50 }),
		get("tag: one that many have", "sessions?order=attention&tag=common"),
		get("tag: one that few have", "sessions?order=attention&tag=rare-%d", func(n int) any { return n % 5 }),
		get("status: in progress", "sessions?status=in_progress"),
		get("created before a day", "sessions?created_before=%s", day),
		get("active sessions", "sessions/active"),
		get("search: an identifier", "sessions?search=checkout-%s", func(n int) any { return hash(n * 8)[:8] }),
		get("search: a word that many contain", "sessions?search=memory"),
		get("search: nothing matches", "sessions?search=nowhere-%d", func(n int) any { return n }),
		get("usage of 30 days (the dashboard)", "usage/summary?from=%s", func(int) any {
			return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -29).Format(time.RFC3339)
		}),
		get("usage of the last 720 hours", "usage/summary"),
		get("filter options", "sessions/filter-options"),
	}
}

func showIn(t *testing.T, c scaleCase, calls int) {
	show(scaleCase{c.what, func(_ testing.TB, number int) { c.call(t, number) }}, calls)
}

// show calls with one client and with sixteen, and prints what they waited.
func show(c scaleCase, calls int) {
	var line strings.Builder

	fmt.Fprintf(&line, "%-44s", c.what)

	var number atomic.Int64

	for _, clients := range []int{1, workers} {
		waits := make([][]time.Duration, clients)

		var group sync.WaitGroup
		for i := range clients {
			group.Go(func() {
				for range max(1, calls/clients) {
					began := time.Now()
					c.call(nil, int(number.Add(1)))
					waits[i] = append(waits[i], time.Since(began))
				}
			})
		}

		group.Wait()

		all := slices.Sorted(slices.Values(slices.Concat(waits...)))
		fmt.Fprintf(&line, " %10s %10s  ", ms(all[len(all)/2]), ms(all[len(all)*95/100]))
	}

	fmt.Println(line.String())
}

// claimer claims sessions that it stored itself.
type claimer struct {
	t  *testing.T
	db *postgres.DB
}

func openClaimer(t *testing.T, url string) claimer {
	t.Helper()

	db, err := postgres.Open(t.Context(), postgres.Config{URL: url, Migrate: true})
	require.NoError(t, err)
	db.Start()

	c := claimer{t, db}

	for i := range 500 {
		require.NoError(t, db.CreateSession(t.Context(), tarsy.Session{
			AlertFacts: tarsy.AlertFacts{Labels: map[string]string{}, Links: []tarsy.AlertLink{}, Source: tarsy.SourceAPI},
			ID:         tarsy.NewID(), AlertType: "test", AlertData: "app-1 was killed", ChainID: "test", Status: tarsy.SessionPending,
			Author: "bench", StageCount: 1, CreatedAt: time.Now().Add(-time.Duration(i) * time.Second),
		}, postgres.Terms{}))
	}

	return c
}

func (c claimer) claim(_ testing.TB, _ int) {
	_, err := c.db.Claim(c.t.Context(), postgres.ClaimParams{ServerID: "bench", Slots: 1, MaxSessions: 1 << 20, Lease: time.Hour})
	require.NoError(c.t, err)
}

// stop leaves nothing that a server would take over.
func (c claimer) stop() {
	_, err := c.db.Jobs().Exec(c.t.Context(), `UPDATE sessions SET lease_until = NULL, runnable_at = NULL WHERE author = 'bench' AND completed_at IS NULL`)
	require.NoError(c.t, err)
	c.db.Stop()
}
