package e2e

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/figures"
	"tarsy.dev/tarsy/internal/kit/scale"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

const (
	// readFile has the committed figures.
	readFile = "testdata/reads.txt"
	// readSessions is the number of sessions in the database: with fewer, some plans read whole tables.
	readSessions = 100_000
	// readMajor is the PostgreSQL version of the figures: other versions plan differently.
	readMajor = 18
	// readNumber selects the values of filters. Any number works.
	readNumber = 7
)

// readsUntil returns when the last session was created, which is also the server's time.
func readsUntil() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// What a list reads determines how long it takes, and does not depend on the machine. A list that begins to read more is
// noticed with the change that caused it.
func TestReadsOfListsStayAtCommittedFigures(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)
	requireReadServer(t, database)
	require.NoError(t, scale.Load(t.Context(), database, scale.Size{Sessions: readSessions, Calls: 1, Until: readsUntil()}))

	through := newWire(t, database)
	address := serveReads(t, through.URL)
	measured := map[string]float64{}

	for _, request := range scale.Requests(readsUntil()) {
		through.forget()
		getOK(t, address+request.Path(readNumber))

		measured[request.Name] = through.readBuffers(t, database)
	}

	figures.Compare(t, readFile, measured, nil)
}

func TestEveryFilterHasRequest(t *testing.T) {
	t.Parallel()

	// A cursor changes where a list continues, not what it finds.
	used := map[string][]string{"cursor": nil}

	for _, request := range scale.Requests(readsUntil()) {
		path, query, _ := strings.Cut(request.Path(readNumber), "?")
		if path != "sessions" {
			continue
		}

		values, err := url.ParseQuery(query)
		require.NoError(t, err, request.Name)

		for name, given := range values {
			used[name] = append(used[name], given...)
		}
	}

	for _, parameter := range listParameters(t) {
		assert.Contains(t, used, parameter.Name, "no request of internal/kit/scale uses this parameter of the session list: add one, and its figure with make golden")

		for _, value := range parameter.Schema.Enum {
			if parameter.Name == "order" && value != parameter.Schema.Default {
				assert.Contains(t, used[parameter.Name], value, "no request of internal/kit/scale has this order")
			}
		}
	}
}

type listParameter struct {
	Name   string
	Schema struct {
		Enum    []string
		Default any
	}
}

// listParameters returns the parameters of the session list, as the API describes them.
func listParameters(t *testing.T) []listParameter {
	t.Helper()

	var document struct {
		Paths map[string]map[string]struct{ Parameters []listParameter }
	}

	require.NoError(t, json.Unmarshal(getOK(t, strings.TrimSuffix(serveReads(t, pgtest.New(t)), "api/v1/")+"openapi.json"), &document))

	parameters := document.Paths["/api/v1/sessions"]["get"].Parameters
	require.NotEmpty(t, parameters)

	return parameters
}

// requireReadServer skips the test where the figures do not apply: plans depend on the version and on the collation.
func requireReadServer(t *testing.T, database string) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)

	defer conn.Close(t.Context())

	var (
		major   int
		byBytes bool
	)

	require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int / 10000, 'B' < 'a'").Scan(&major, &byBytes))

	if major != readMajor || !byBytes {
		t.Skipf("the figures are those of PostgreSQL %d that sorts by bytes; this is %d, by bytes: %t", readMajor, major, byBytes)
	}
}

// serveReads starts a server without background work, and returns the address of its API.
func serveReads(t *testing.T, database string) string {
	t.Helper()

	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "reads.yaml", Text: []byte(costConfig)}}})
	require.NoError(t, err)

	a, err := app.New(t.Context(), app.Options{
		Config: cfg, DatabaseURL: database, Listen: "127.0.0.1:0", LLM: newCostModel().script, JobsOff: true, Clock: clockwork.NewFakeClockAt(readsUntil()),
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, a.Stop(context.Background())) })

	return "http://" + a.Addr() + "/api/v1/"
}

func getOK(t *testing.T, address string) []byte {
	t.Helper()

	resp, err := http.Get(address)
	require.NoError(t, err)

	defer resp.Body.Close()

	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s: %s", address, raw)

	return raw
}

// forget makes the wire keep the values of the next execution of each statement.
func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()

	for _, c := range w.recorded {
		for _, s := range c.statements {
			s.bound = false
		}
	}
}

// readBuffers executes again what readers have executed since the last call of forget, and returns how many pages PostgreSQL read for it.
func (w *wire) readBuffers(t *testing.T, database string) float64 {
	t.Helper()

	group := &statementGroup{}
	executed := map[string]*wireStatement{}

	w.mu.Lock()

	for _, c := range w.recorded {
		if c.settings["plan_cache_mode"] != "force_custom_plan" { // see readSettings in internal/postgres
			continue
		}

		group.settings = maps.Clone(c.settings)
		delete(group.settings, "database")

		for _, s := range c.statements {
			if kind := statementKind(s.sql); s.bound && (kind == "SELECT" || kind == "WITH") {
				executed[s.sql] = s
			}
		}
	}

	w.mu.Unlock()
	require.NotEmpty(t, executed)

	e := newExplainer(t, database, group)
	defer e.conn.Close(t.Context())

	buffers := 0.0
	for _, sql := range slices.Sorted(maps.Keys(executed)) {
		buffers += e.buffers(executed[sql])
	}

	return buffers
}
