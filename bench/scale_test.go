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
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/scale"
	"tarsy.dev/tarsy/internal/postgres"
)

// scaleSizes are the numbers of sessions in the database. A million takes some minutes to load:
// TARSY_BENCH_SESSIONS=1000,100000,1000000 make bench.
const scaleSizes = "1000,100000"

// callsPerSession is the number of LLM calls of a session.
const callsPerSession = 4

// scaleCalls is how often each case is called, by one client and by sixteen together.
const scaleCalls = 160

// TestScale prints how long readers and intake wait for a response as the number of sessions in the database grows.
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
			require.NoError(t, postgres.Migrate(t.Context(), database))
			require.NoError(t, scale.Load(t.Context(), database, scale.Size{Sessions: n, Calls: callsPerSession, Until: began}))
			fmt.Printf("\nloaded %d sessions in %.0f s\n", n, time.Since(began).Seconds())
			measureScale(t, database, n, began)
		})
	}
}

// scaleCase is one call to repeat. Each repetition gets a different number.
type scaleCase struct {
	what string
	call func(t testing.TB, number int)
}

func measureScale(t *testing.T, url string, n int, loaded time.Time) {
	fmt.Printf("\n%-44s %21s   %21s\n%-44s %10s %10s   %10s %10s\n", fmt.Sprintf("with %d sessions", n), "1 client", "16 clients", "", "p50", "p95", "p50", "p95")

	claimer := openClaimer(t, url)
	show(scaleCase{"claim one session", claimer.claim}, scaleCalls)
	claimer.stop()

	a := start(t, url, workers, instant())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	t.Cleanup(client.CloseIdleConnections)

	for _, c := range readCases(client, a, loaded) {
		showIn(t, c, scaleCalls)
	}

	showIn(t, scaleCase{"submit an alert", func(t testing.TB, _ int) { submit(t, client, a) }}, scaleCalls)
}

// readCases returns the dashboard's requests.
func readCases(client *http.Client, a *app.App, now time.Time) []scaleCase {
	var cases []scaleCase

	for _, request := range scale.Requests(now) {
		cases = append(cases, scaleCase{request.Name, func(t testing.TB, number int) {
			resp, err := client.Get("http://" + a.Addr() + "/api/v1/" + request.Path(number))
			require.NoError(t, err)

			defer resp.Body.Close()

			raw, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, resp.StatusCode, "%s", raw)
		}})
	}

	return cases
}

func showIn(t *testing.T, c scaleCase, calls int) {
	show(scaleCase{c.what, func(_ testing.TB, number int) { c.call(t, number) }}, calls)
}

// show runs the calls with one client and with sixteen, and prints the response times.
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
			ID:         ident.New(), AlertType: "test", AlertData: "app-1 was killed", ChainID: "test", Status: tarsy.SessionPending,
			Author: "bench", StageCount: 1, CreatedAt: time.Now().Add(-time.Duration(i) * time.Second),
		}, postgres.Terms{}))
	}

	return c
}

func (c claimer) claim(_ testing.TB, _ int) {
	_, err := c.db.Claim(c.t.Context(), postgres.ClaimParams{ServerID: "bench", Slots: 1, MaxSessions: 1 << 20, Lease: time.Hour})
	require.NoError(c.t, err)
}

// stop leaves nothing for a server to take over.
func (c claimer) stop() {
	_, err := c.db.Jobs().Exec(c.t.Context(), `UPDATE sessions SET lease_until = NULL, runnable_at = NULL WHERE author = 'bench' AND completed_at IS NULL`)
	require.NoError(c.t, err)
	c.db.Stop()
}
