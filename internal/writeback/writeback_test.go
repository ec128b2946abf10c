package writeback_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
	"tarsy.dev/tarsy/internal/notify/pagerduty"
	"tarsy.dev/tarsy/internal/notify/webhook"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/internal/quiet"
	"tarsy.dev/tarsy/internal/writeback"
)

var patience = slowness.Scale(20 * time.Second)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Wrap(m), pgtest.IgnoreGoroutines()...) }

// hook returns a webhook delivery to a URL.
func hook(t *testing.T, url string) *webhook.Delivery {
	t.Helper()

	body, err := message.Parse(message.DefaultBody, true)
	require.NoError(t, err)

	return &webhook.Delivery{Client: client(t), URL: url, Body: body}
}

// client returns the client that deliveries use.
func client(t *testing.T) *http.Client {
	t.Helper()

	made := outgoing.NewClient()
	t.Cleanup(made.CloseIdleConnections)

	return made
}

// fixture is a server with one target.
type fixture struct {
	t          *testing.T
	db         *postgres.DB
	outbox     *outbox.Store
	sql        *pgxpool.Pool
	target     writeback.Target
	queue      *jobs.Queue
	dispatcher *writeback.Dispatcher
	// clock is the clock for sending messages.
	clock *clockwork.FakeClock
}

func newFixture(t *testing.T, target writeback.Target) *fixture {
	t.Helper()

	url := pgtest.New(t)
	sql, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(sql.Close)

	db, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 4})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	announcements := outbox.New(db)
	target.Name, target.Timeout = "chat", patience
	target.Events = []message.Event{message.Started, message.Finished, message.Failed}

	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	clock := clockwork.NewFakeClockAt(time.Now())
	workers := writeback.NewWorkers(writeback.WorkersConfig{
		DB: db, Outbox: announcements, Targets: []writeback.Target{target}, SessionURL: func(string) string { return "" },
		Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }, Clock: clock, Logger: logger,
	})
	queue, err := jobs.New(jobs.Config{Pool: db.Jobs(), Logger: logger, Hasty: true}, workers)
	require.NoError(t, err)

	f := &fixture{t: t, db: db, outbox: announcements, sql: sql, target: target, queue: queue, clock: clock}
	f.dispatcher = writeback.NewDispatcher(writeback.DispatcherConfig{
		Outbox: announcements, Jobs: queue.Client(), Targets: []writeback.Target{target}, Clock: clock, Logger: logger,
	})

	return f
}

func (f *fixture) start() {
	f.t.Cleanup(func() { require.NoError(f.t, f.queue.Stop(context.Background())) })
	f.t.Cleanup(f.dispatcher.Stop)
	f.queue.Start()
	f.dispatcher.Start()
}

// announce stores an ended session and the announcements for its target.
func (f *fixture) announce(facts tarsy.AlertFacts) []tarsy.Announcement {
	f.t.Helper()

	now := calendar.Time(time.Now())
	facts.Labels = map[string]string{"incident_id": facts.Labels["incident_id"]}
	facts.Links = []tarsy.AlertLink{}
	session := tarsy.Session{
		ID: ident.New(), AlertType: "test", AlertData: "disk full", ChainID: "chain", AgentType: "agent", Author: "somebody",
		Status: tarsy.SessionCompleted, CreatedAt: now, StartedAt: &now, CompletedAt: &now, FinalAnalysis: "It is full.", AlertFacts: facts,
	}
	require.NoError(f.t, f.db.CreateSession(f.t.Context(), session, postgres.Terms{}))

	rows := writeback.Announce([]writeback.Target{f.target}, clockwork.NewRealClock())(session, tarsy.SubjectEnd)
	for _, a := range rows {
		added, err := f.outbox.AddAnnouncement(f.t.Context(), a)
		require.NoError(f.t, err)
		require.True(f.t, added)
	}

	return rows
}

// awaitState returns an announcement once it is in a state.
func (f *fixture) awaitState(id string, state tarsy.AnnouncementState) tarsy.Announcement {
	f.t.Helper()

	var a *tarsy.Announcement

	wait.Until(f.t, "the announcement to be "+string(state), func() bool {
		var err error

		a, err = f.outbox.Announcement(f.t.Context(), id)
		require.NoError(f.t, err)

		return a.State == state
	})

	return *a
}

func (f *fixture) awaitJobs(want string) {
	f.t.Helper()

	got := ""

	wait.Until(f.t, "the jobs "+want, func() bool {
		rows, err := f.sql.Query(f.t.Context(), `SELECT state::text || ' ' || attempt FROM river_job ORDER BY id`)
		require.NoError(f.t, err)

		states, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(f.t, err)

		got = strings.Join(states, ", ")

		return got == want
	})
}

// serve starts a target; answer can be nil.
func serve(t *testing.T, answer http.HandlerFunc) (string, chan *http.Request) {
	t.Helper()

	got := make(chan *http.Request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))

		got <- r

		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(server.Close)

	return server.URL, got
}

func TestPagerDutyIncidentGetsNote(t *testing.T) {
	t.Parallel()

	url, got := serve(t, nil)
	body, err := message.Parse(message.DefaultNote, false)
	require.NoError(t, err)

	f := newFixture(t, writeback.Target{
		Delivery: &pagerduty.Delivery{Client: client(t), API: url + "/", Token: "key", From: "tarsy@example.org", Note: body},
	})
	require.Empty(t, f.announce(tarsy.AlertFacts{Source: tarsy.SourceGrafana, Labels: map[string]string{"incident_id": "P1"}}))
	require.Empty(t, f.announce(tarsy.AlertFacts{Source: tarsy.SourcePagerDuty}), "the incident is unknown")

	rows := f.announce(tarsy.AlertFacts{Source: tarsy.SourcePagerDuty, Title: "Disk full", Labels: map[string]string{"incident_id": "PGR0VU2"}})
	require.Len(t, rows, 1)
	f.start()

	r := <-got
	require.Equal(t, "POST /incidents/PGR0VU2/notes", r.Method+" "+r.URL.Path)
	require.Equal(t, "Token token=key", r.Header.Get("Authorization"))
	require.Equal(t, "tarsy@example.org", r.Header.Get("From"))
	require.Equal(t, "application/vnd.pagerduty+json;version=2", r.Header.Get("Accept"))
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))

	var sent struct {
		Note struct {
			Content string `json:"content"`
		} `json:"note"`
	}

	require.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
	require.Equal(t, "TARSy investigation completed: Disk full", sent.Note.Content)
	f.awaitState(rows[0].ID, tarsy.AnnouncementSent)
}

// PagerDuty has no idempotency keys: only its list of notes shows whether an attempt without a response wrote the note.
func TestPagerDutyNoteIsNotWrittenTwice(t *testing.T) {
	t.Parallel()

	var (
		written  atomic.Int32
		existing atomic.Pointer[string]
	)

	const empty = `{"notes": []}`

	url, got := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, *existing.Load())

			return
		}

		if written.Add(1) == 1 {
			panic(http.ErrAbortHandler) // no response
		}
	})
	body, err := message.Parse(message.DefaultNote, false)
	require.NoError(t, err)

	target := writeback.Target{
		Delivery: &pagerduty.Delivery{Client: client(t), API: url, Token: "key", From: "tarsy@example.org", Note: body},
	}

	for name, test := range map[string]struct {
		notes string
		want  int32
	}{
		"written":                        {`{"notes": [{"content": "other"}, {"content": "TARSy investigation completed: Disk full\n", "created_at": "%s"}]}`, 1},
		"written for an earlier session": {`{"notes": [{"content": "TARSy investigation completed: Disk full", "created_at": "2020-01-01T00:00:00Z"}]}`, 2},
		"not written":                    {empty, 2},
	} {
		t.Log(name)
		written.Store(0)

		notes := strings.ReplaceAll(test.notes, "%s", time.Now().UTC().Format(time.RFC3339))
		existing.Store(&notes)

		f := newFixture(t, target)
		a := f.announce(tarsy.AlertFacts{Source: tarsy.SourcePagerDuty, Title: "Disk full", Labels: map[string]string{"incident_id": "P1"}})[0]
		f.start()
		f.awaitState(a.ID, tarsy.AnnouncementSent)
		require.Equal(t, test.want, written.Load(), name)

		r := <-got
		require.Equal(t, http.MethodPost, r.Method, "the first attempt does not look")

		r = <-got
		require.Equal(t, "GET /incidents/P1/notes", r.Method+" "+r.URL.Path)
		require.Equal(t, "Token token=key", r.Header.Get("Authorization"))

		for len(got) > 0 {
			<-got
		}
	}
}

func TestRefusedMessageIsNotRetried(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"bad request": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no\nhunter2", http.StatusBadRequest) },
			"the target responded with 400 Bad Request: no ***",
		},
		"redirect": {
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			},
			"the target responded with 307 Temporary Redirect; redirects are not followed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			url, got := serve(t, test.answer)
			f := newFixture(t, writeback.Target{Delivery: hook(t, url+"/secret-path")})
			a := f.announce(tarsy.AlertFacts{})[0]
			f.start()

			failed := f.awaitState(a.ID, tarsy.AnnouncementFailed)
			require.Equal(t, test.want, failed.Error)
			require.Equal(t, 1, failed.Attempts)
			f.awaitJobs("cancelled 1")
			require.Len(t, got, 1)
		})
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()

	after := func(d time.Duration) func(time.Time) string {
		return func(now time.Time) string { return now.Add(d).UTC().Format(http.TimeFormat) }
	}

	for name, c := range map[string]struct {
		status int
		asked  func(now time.Time) string
		want   float64
	}{
		"seconds":         {http.StatusTooManyRequests, func(time.Time) string { return "1800" }, 1800},
		"a time":          {http.StatusTooManyRequests, after(30 * time.Minute), 1800},
		"many seconds":    {http.StatusTooManyRequests, func(time.Time) string { return "9223372036854775807" }, 3600}, // an hour is the most
		"a later time":    {http.StatusTooManyRequests, after(1000 * time.Hour), 3600},
		"request timeout": {http.StatusRequestTimeout, func(time.Time) string { return "1800" }, 1800},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var f *fixture

			url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", c.asked(f.clock.Now()))
				w.WriteHeader(c.status)
			})
			f = newFixture(t, writeback.Target{Delivery: hook(t, url)})
			a := f.announce(tarsy.AlertFacts{})[0]
			f.start()
			f.awaitJobs("scheduled 0")

			var wait float64

			require.NoError(t, f.sql.QueryRow(t.Context(), `SELECT extract(epoch FROM scheduled_at - attempted_at)::float8 FROM river_job`).Scan(&wait))
			require.InDelta(t, c.want, wait, 60)
			require.Contains(t, f.awaitState(a.ID, tarsy.AnnouncementPending).Error, strconv.Itoa(c.status))
		})
	}
}

func TestErrorsDoNotShowAddress(t *testing.T) {
	t.Parallel()

	f := newFixture(t, writeback.Target{Delivery: hook(t, "http://127.0.0.1:1/secret-path")})
	a := f.announce(tarsy.AlertFacts{})[0]
	f.start()

	wait.Until(t, "the error of the announcement", func() bool { return f.awaitState(a.ID, tarsy.AnnouncementPending).Error != "" })
	require.NotContains(t, f.awaitState(a.ID, tarsy.AnnouncementPending).Error, "secret-path")

	var shown int

	require.NoError(t, f.sql.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE errors::text LIKE '%secret-path%'`).Scan(&shown))
	require.Zero(t, shown)
}

func TestLastFailedAttemptFailsMessageAndRetrySendsIt(t *testing.T) {
	t.Parallel()

	var repaired atomic.Bool

	url, got := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if !repaired.Load() {
			w.Header().Set("Retry-After", "60") // there is no attempt after the last one
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	f := newFixture(t, writeback.Target{Delivery: hook(t, url)})
	a := f.announce(tarsy.AlertFacts{})[0]
	f.dispatcher.Start()
	f.awaitJobs("available 0")
	f.dispatcher.Stop()

	_, err := f.sql.Exec(t.Context(), `UPDATE river_job SET attempt = max_attempts - 1`)
	require.NoError(t, err)
	f.t.Cleanup(func() { require.NoError(f.t, f.queue.Stop(context.Background())) })
	f.queue.Start()

	require.Contains(t, f.awaitState(a.ID, tarsy.AnnouncementFailed).Error, "502")
	f.awaitJobs("discarded 14")
	<-got

	repaired.Store(true)
	f.clock.Advance(48 * time.Hour) // an operator looks at it after the weekend

	_, err = f.queue.Client().JobRetry(t.Context(), 1)
	require.NoError(t, err)
	f.awaitState(a.ID, tarsy.AnnouncementSent)
}

func TestMessageThatCouldNotBeSentForADayIsGivenUp(t *testing.T) {
	t.Parallel()

	url, got := serve(t, nil)
	f := newFixture(t, writeback.Target{Delivery: hook(t, url)})
	a := f.announce(tarsy.AlertFacts{})[0]
	f.clock.Advance(24*time.Hour + time.Minute)
	f.start()

	require.Equal(t, "it could not be sent within a day", f.awaitState(a.ID, tarsy.AnnouncementFailed).Error)
	require.Empty(t, got)
}

func TestDayToSendMessageBeginsAfterQuietHours(t *testing.T) {
	t.Parallel()

	now := time.Now().UTC()
	url, got := serve(t, nil)
	f := newFixture(t, writeback.Target{Delivery: hook(t, url), Quiet: &quiet.Hours{
		From: sinceMidnight(now.Add(-time.Hour)), To: sinceMidnight(now.Add(6 * time.Hour)), Location: time.UTC,
	}})
	a := f.announce(tarsy.AlertFacts{})[0]
	_, err := f.sql.Exec(t.Context(), `UPDATE announcements SET due_at = created_at`) // the database uses the real clock
	require.NoError(t, err)
	f.clock.Advance(24*time.Hour + time.Minute)
	f.start()

	f.awaitState(a.ID, tarsy.AnnouncementSent)
	require.Len(t, got, 1)
}

// sinceMidnight returns the time of day.
func sinceMidnight(t time.Time) time.Duration { return t.Sub(t.Truncate(24 * time.Hour)) }

// ask stores a session with a tool call that waits for an hour, and a message about it.
func (f *fixture) ask() tarsy.Announcement {
	f.t.Helper()

	now := calendar.Time(f.clock.Now())
	session := tarsy.Session{
		ID: ident.New(), AlertType: "test", AlertData: "disk full", ChainID: "chain", AgentType: "agent", Author: "somebody",
		Status: tarsy.SessionPending, CreatedAt: now, AlertFacts: tarsy.AlertFacts{Labels: map[string]string{}, Links: []tarsy.AlertLink{}},
	}
	require.NoError(f.t, f.db.CreateSession(f.t.Context(), session, postgres.Terms{}))

	claims, err := f.db.Claim(f.t.Context(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:chain"}, ServerID: "server", Slots: 1, MaxSessions: 1, Lease: time.Hour,
	})
	require.NoError(f.t, err)
	require.Len(f.t, claims, 1)

	stage := tarsy.Stage{
		ID: ident.New(), SessionID: session.ID, StageName: "stage", StageType: tarsy.StageInvestigation, StageIndex: 1, ExpectedAgentCount: 1,
		Status: tarsy.StatusActive, CreatedAt: now, StartedAt: &now,
	}
	execution := tarsy.Execution{
		ID: ident.New(), SessionID: session.ID, StageID: stage.ID, AgentName: "agent", AgentIndex: 1, IterationStrategy: "native-thinking",
		Status: tarsy.StatusActive, CreatedAt: now,
	}
	event := tarsy.TimelineEvent{
		ID: ident.New(), SessionID: session.ID, StageID: &stage.ID, ExecutionID: &execution.ID, SequenceNumber: 1, EventType: tarsy.EventToolCall,
		Status: tarsy.EventStreaming, CreatedAt: now, UpdatedAt: now,
	}
	call := tarsy.MCPInteraction{
		ID: ident.New(), SessionID: session.ID, StageID: stage.ID, ExecutionID: execution.ID, TimelineEventID: event.ID, ToolCallID: "1",
		ServerName: "box", ToolName: "change", ToolArguments: json.RawMessage(`{}`), Attempt: 1, Status: tarsy.CallWaiting, CreatedAt: now,
		Approval: &tarsy.Approval{Status: tarsy.ApprovalWaiting, Scope: tarsy.ScopeCall, Rule: "rule", ExpiresAt: now.Add(time.Hour)},
	}
	_, err = f.db.Hold(claims[0].Lease).Commit(f.t.Context(), progress.Step{
		Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, Timeline: []tarsy.TimelineEvent{event},
		MCPInteractions: []tarsy.MCPInteraction{call},
	})
	require.NoError(f.t, err)

	a := tarsy.Announcement{
		ID: ident.New(), SessionID: session.ID, Channel: tarsy.WebhookChannel(f.target.Name), Target: f.target.Name, Subject: tarsy.SubjectApproval,
		ApprovalID: &call.ID, State: tarsy.AnnouncementPending, MessageIDs: []string{}, CreatedAt: now, DueAt: now,
	}
	_, err = f.outbox.AddAnnouncement(f.t.Context(), a)
	require.NoError(f.t, err)

	return a
}

func TestExpiredApprovalIsNotAskedFor(t *testing.T) {
	t.Parallel()

	for waited, want := range map[time.Duration]tarsy.AnnouncementState{
		time.Minute: tarsy.AnnouncementSent, time.Hour: tarsy.AnnouncementSkipped,
	} {
		url, got := serve(t, nil)
		f := newFixture(t, writeback.Target{Delivery: hook(t, url)})
		a := f.ask()
		f.clock.Advance(waited)
		f.start()

		reason := f.awaitState(a.ID, want).Error
		require.Equal(t, want == tarsy.AnnouncementSent, len(got) == 1)
		require.Equal(t, want == tarsy.AnnouncementSkipped, strings.Contains(reason, "expired before the message was sent"), reason)
	}
}

// A job that is missing while its announcement is pending is replaced; an existing job is not duplicated.
func TestLostJobIsReplaced(t *testing.T) {
	t.Parallel()

	url, got := serve(t, nil)
	f := newFixture(t, writeback.Target{Delivery: hook(t, url)})
	a := f.announce(tarsy.AlertFacts{})[0]

	due := func() {
		_, err := f.sql.Exec(t.Context(), `UPDATE announcements SET due_at = created_at`)
		require.NoError(t, err)
	}
	queued := func() bool {
		var later bool

		require.NoError(t, f.sql.QueryRow(t.Context(), `SELECT due_at > created_at FROM announcements`).Scan(&later))

		return later
	}

	f.dispatcher.Start()
	wait.Until(t, "the message to be queued", queued)
	due()
	wait.Until(t, "the message to be queued again", queued)
	f.awaitJobs("available 0")

	_, err := f.sql.Exec(t.Context(), `UPDATE river_job SET state = 'discarded', finalized_at = now()`)
	require.NoError(t, err)
	due()
	f.awaitJobs("discarded 0, available 0")
	f.dispatcher.Stop()

	f.t.Cleanup(func() { require.NoError(f.t, f.queue.Stop(context.Background())) })
	f.queue.Start()
	f.awaitState(a.ID, tarsy.AnnouncementSent)
	require.Len(t, got, 1)
}

func TestMessageOfDeletedSessionIsNotSent(t *testing.T) {
	t.Parallel()

	url, got := serve(t, nil)
	f := newFixture(t, writeback.Target{Delivery: hook(t, url)})
	a := f.announce(tarsy.AlertFacts{})[0]

	_, err := f.sql.Exec(t.Context(), `UPDATE sessions SET deleted_at = now()`)
	require.NoError(t, err)
	f.start()
	require.Equal(t, "the session was deleted", f.awaitState(a.ID, tarsy.AnnouncementFailed).Error)
	require.Empty(t, got)
}

func TestTargetsGetMatchingEventsAndAlerts(t *testing.T) {
	t.Parallel()

	critical, err := match.ParseAll([]string{`severity="critical"`})
	require.NoError(t, err)

	announce := writeback.Announce([]writeback.Target{
		{Name: "all", Delivery: &webhook.Delivery{}, Events: []message.Event{message.Started, message.Finished, message.Failed}},
		{Name: "failures", Delivery: &webhook.Delivery{}, Events: []message.Event{message.Failed}},
		{Name: "critical", Delivery: &webhook.Delivery{}, Events: []message.Event{message.Started, message.Finished}, Match: critical},
	}, clockwork.NewFakeClock())

	told := func(severity tarsy.Severity, subject tarsy.AnnouncementSubject, status tarsy.SessionStatus) (names []string) {
		for _, a := range announce(tarsy.Session{ID: "s", Status: status, AlertFacts: tarsy.AlertFacts{Severity: severity}}, subject) {
			require.Equal(t, tarsy.WebhookChannel(a.Target), a.Channel)
			require.Equal(t, subject, a.Subject)
			names = append(names, a.Target)
		}

		return names
	}

	require.Equal(t, []string{"all", "critical"}, told(tarsy.SeverityCritical, tarsy.SubjectStart, tarsy.SessionInProgress))
	require.Equal(t, []string{"all"}, told(tarsy.SeverityInfo, tarsy.SubjectStart, tarsy.SessionInProgress))
	require.Equal(t, []string{"all", "failures"}, told(tarsy.SeverityCritical, tarsy.SubjectEnd, tarsy.SessionTimedOut))
	require.Equal(t, []string{"all", "critical"}, told(tarsy.SeverityCritical, tarsy.SubjectEnd, tarsy.SessionCancelled))
}
