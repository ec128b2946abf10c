package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/people"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/problem"
)

// fixture is a server on its own database.
type fixture struct {
	// slow, if set, delays an alert before it is stored.
	slow     func(ctx context.Context)
	url      string
	db       *postgres.DB
	accounts *accountstore.Store
	clock    *clockwork.FakeClock
	api      *api.Server
	http     *httptest.Server
	log      *logbook
}

func newFixture(t *testing.T, options ...func(*api.Config)) *fixture {
	t.Helper()

	return newFixtureOn(t, postgres.Config{MaxConns: 4}, options...)
}

// newFixtureOn is newFixture with settings of the database.
func newFixtureOn(t *testing.T, on postgres.Config, options ...func(*api.Config)) *fixture {
	t.Helper()

	f := &fixture{slow: func(context.Context) {}, clock: clockwork.NewFakeClockAt(time.Date(2026, 11, 15, 10, 0, 0, 123456000, time.UTC)), log: &logbook{}}

	f.url = pgtest.New(t)

	on.URL, on.Clock = f.url, f.clock

	db, err := postgres.Open(t.Context(), on)
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)
	f.db, f.accounts = db, accountstore.New(db)

	cfg := api.Config{
		Store:    db,
		Accounts: f.accounts,
		AlertTypes: func() []api.AlertType {
			return []api.AlertType{{Name: "kubernetes", ChainID: "k8s", Description: "Anything of a cluster"}}
		},
		Board:      newBoard(t, db, f.clock),
		WebSocket:  plain("websocket"),
		Events:     plain("events"),
		NoteEvents: plain("note events"),
		MCP:        plain("mcp"),
		Ready:      func() error { return nil },
		Warnings:   func() []api.Warning { return nil },
		Info:       api.Info{Version: "1.2.3", ServerID: "server-1"},
		Clock:      f.clock,
		Logger:     slog.New(slog.NewTextHandler(f.log, nil)),
	}
	whole, inbox, triage := newInbox(t, db, f.clock)
	cfg.Intake, cfg.Inbox, cfg.Triage = &intake{Intake: whole, slow: func(ctx context.Context) { f.slow(ctx) }}, inbox, triage
	cfg.People = people.New(people.Config{
		DB: db, Accounts: f.accounts, Clock: f.clock, Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[MASKED]") },
	})

	for _, option := range options {
		option(&cfg)
	}

	f.api = api.New(cfg)
	f.http = httptest.NewServer(f.api.Handler())
	t.Cleanup(f.http.Close)

	return f
}

// locked configures a server that requires keys.
func locked(cfg *api.Config) { cfg.Auth.Required = true }

// plain responds with its name and the requested id.
func plain(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s %s", name, r.PathValue("id"))
	})
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   string
}

// request sends a request; headers are pairs of name and value. A non-empty body is JSON unless they set another type.
func (f *fixture) request(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), method, f.http.URL+path, strings.NewReader(body))
	require.NoError(t, err)

	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}

	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}

		request.Header.Set(headers[i], headers[i+1])
	}

	response, err := f.http.Client().Do(request)
	require.NoError(t, err)

	defer func() { require.NoError(t, response.Body.Close()) }()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	f.requireDocumented(t, request, response, text)

	return answer{status: response.StatusCode, header: response.Header, body: string(text)}
}

// requireDocumented checks that the document lists the code of a problem for its operation.
func (f *fixture) requireDocumented(t *testing.T, request *http.Request, response *http.Response, body []byte) {
	t.Helper()

	if response.Header.Get("Content-Type") != problem.MediaType || request.Method == http.MethodHead {
		return
	}

	pattern, documented := f.api.ErrorsOf(request)
	if pattern == "" {
		return
	}

	var got problem.Problem
	require.NoError(t, json.Unmarshal(body, &got))
	require.Contains(t, documented, got.Code, "%s %s does not list it: add it to ownErrors", request.Method, pattern)
}

// get decodes the response to a GET, which must succeed.
func get[T any](t *testing.T, f *fixture, path string, headers ...string) T {
	t.Helper()

	got := f.request(t, http.MethodGet, path, "", headers...)
	require.Equal(t, http.StatusOK, got.status, got.body)

	return decode[T](t, got)
}

func decode[T any](t *testing.T, got answer) T {
	t.Helper()

	var value T

	decoder := json.NewDecoder(strings.NewReader(got.body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&value), got.body)

	return value
}

// requireProblem checks that a response is a well-formed problem, and returns it.
func (f *fixture) requireProblem(t *testing.T, got answer, status int, code tarsy.Code) problem.Problem {
	t.Helper()

	require.Equal(t, status, got.status, got.body)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
	require.Empty(t, f.api.CheckProblem([]byte(got.body)), got.body)

	problem := decode[problem.Problem](t, got)
	require.Equal(t, code, problem.Code, got.body)
	require.Equal(t, status, problem.Status)
	require.Equal(t, "urn:tarsy:problem:"+string(code), problem.Type)
	require.NotEmpty(t, problem.Title)
	require.NotEmpty(t, problem.Detail)

	return problem
}

// key creates a key and returns the header that uses it.
func (f *fixture) key(t *testing.T, name string, scopes ...tarsy.Scope) (tarsy.APIKey, []string) {
	t.Helper()

	issued, err := auth.Issue(name, scopes, f.clock.Now())
	require.NoError(t, err)
	require.NoError(t, f.accounts.CreateKey(t.Context(), issued.Key, issued.Hash))

	return issued.Key, []string{"Authorization", "Bearer " + issued.Secret}
}

// session stores a session without the API.
func (f *fixture) session(t *testing.T, change func(*tarsy.Session)) string {
	t.Helper()

	session := newSession(tarsy.Alert{AlertType: "kubernetes", Data: "pod down", Author: "someone"}, f.clock.Now())
	change(&session)

	if session.Status.Terminal() {
		session.CompletedAt = new(f.clock.Now())
	}

	require.NoError(t, f.db.CreateSession(t.Context(), session, postgres.Terms{}))

	return session.ID
}

func newSession(alert tarsy.Alert, now time.Time) tarsy.Session {
	return tarsy.Session{
		ID: ident.New(), AlertType: alert.AlertType, AlertData: alert.Data, ChainID: "k8s", Status: tarsy.SessionPending,
		Author: alert.Author, Runbook: alert.Runbook, RunbookURL: alert.RunbookURL, MCPSelection: alert.MCPSelection,
		SlackMessageFingerprint: plaintext.Clean(alert.SlackMessageFingerprint), RerunOf: alert.RerunOf, CreatedAt: now.UTC(),
		AlertFacts: noFacts(),
	}
}

// noFacts returns the facts of an alert without any.
func noFacts() tarsy.AlertFacts {
	return tarsy.AlertFacts{Labels: map[string]string{}, Links: []tarsy.AlertLink{}, Source: tarsy.SourceAPI}
}

// intake is the server's intake. It can delay an alert before it is stored.
type intake struct {
	*engine.Intake

	slow func(ctx context.Context)
}

func (i *intake) Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error) {
	i.slow(ctx)

	return i.Intake.Submit(ctx, alert)
}

// logbook records the log.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.text.Write(text)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.text.String()
}
