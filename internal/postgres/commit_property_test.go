package postgres_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// TestHoldersAndQueueAgreeWithModel lets two servers claim, commit, renew, release and lose sessions in any order, also with
// leases that they lost long ago, and compares every result and everything stored with the model.
func TestHoldersAndQueueAgreeWithModel(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := map[string]*postgres.DB{storetest.ServerA: f.Server(t), storetest.ServerB: f.Server(t)}

	rapid.Check(t, func(rt *rapid.T) {
		f.Exec(rt, `DELETE FROM sessions`)

		run := &propertyRun{
			fixture: f, servers: servers, model: newModel(rapid.IntRange(1, 4).Draw(rt, "limit")),
			working: map[string]map[string]bool{storetest.ServerA: {}, storetest.ServerB: {}},
		}
		run.model.now = f.Clock.Now()

		run.create(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"create":  run.create,
			"claim":   run.claim,
			"claim 2": run.claim,
			"time":    run.pass,
			"commit":  run.commit,
			"burst":   run.burst,
			"renew":   run.renew,
			"hand":    run.handOver,
			"request": run.request,
			"load":    run.load,
			"":        func(rt *rapid.T) { require.LessOrEqual(rt, run.model.leases(), run.model.limit) },
		})
		run.compare(rt)
	})
}

// propertyRun is one case. Its holders are all that ever existed, most of them stale in the end.
type propertyRun struct {
	*fixture

	servers map[string]*postgres.DB
	model   *model
	holders []*propertyHolder
	// working is the sessions that each server believes it holds.
	working map[string]map[string]bool
	rows    int
}

// propertyHolder is a lease as its server knows it.
type propertyHolder struct {
	*postgres.Holder

	server string
	failed bool
}

func (r *propertyRun) server(rt *rapid.T) string {
	return rapid.SampledFrom([]string{storetest.ServerA, storetest.ServerB}).Draw(rt, "server")
}

func (r *propertyRun) create(rt *rapid.T) {
	session := storetest.NewSession(r.Clock.Now())
	events := storetest.NewEvents("intake", rapid.IntRange(0, 2).Draw(rt, "events"))
	require.NoError(rt, r.servers[r.server(rt)].CreateSession(context.Background(), session, postgres.Terms{}, events...))
	r.model.create(session, events)
}

func (r *propertyRun) claim(rt *rapid.T) {
	server := r.server(rt)
	p := postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(),
		ServerID: server, MaxSessions: r.model.limit, Lease: storetest.Lease,
		Slots:   rapid.IntRange(0, 3).Draw(rt, "slots"),
		Cancels: rapid.IntRange(0, 1).Draw(rt, "cancels"),
		Chats:   rapid.IntRange(0, 2).Draw(rt, "chats"),
		Held:    slices.Sorted(maps.Keys(r.working[server])),
	}

	claims, err := r.servers[server].Claim(context.Background(), p)
	require.NoError(rt, err)

	want := r.model.claim(p)
	require.Len(rt, claims, len(want))

	for _, c := range claims {
		s := want[c.SessionID]
		require.NotNil(rt, s, "session %s is not to be claimed", c.SessionID)
		require.Equal(rt, s.fence, c.Fence)
		require.Equal(rt, !s.counted, c.Uncounted)
		storetest.RequireSame(rt, s.state(), c.State)

		r.working[server][c.SessionID] = true
		r.holders = append(r.holders, &propertyHolder{Holder: r.servers[server].Hold(c.Lease), server: server})
	}
}

func (r *propertyRun) pass(rt *rapid.T) {
	d := rapid.SampledFrom([]time.Duration{time.Second, storetest.Lease / 2, storetest.Lease, 2 * storetest.Lease}).Draw(rt, "d")
	r.Clock.Advance(d)
	r.model.now = r.Clock.Now()
}

// holder chooses a holder, stale or not; later ones are more likely.
func (r *propertyRun) holder(rt *rapid.T) *propertyHolder {
	if len(r.holders) == 0 {
		rt.Skip("nobody holds anything")
	}

	back := rapid.OneOf(rapid.IntRange(0, min(2, len(r.holders)-1)), rapid.IntRange(0, len(r.holders)-1)).Draw(rt, "back")

	return r.holders[len(r.holders)-1-back]
}

// step returns one of the many things that a holder may write, given what it knows.
func (r *propertyRun) step(rt *rapid.T, id string) progress.Step {
	s, now := r.model.sessions[id], r.Clock.Now()
	r.rows++

	step := progress.Step{Events: storetest.NewEvents(fmt.Sprintf("step%d", r.rows), rapid.IntRange(0, 3).Draw(rt, "events"))}

	if rapid.Bool().Draw(rt, "status") {
		session := s.session
		session.Status = rapid.SampledFrom(tarsy.SessionStatuses()).Draw(rt, "session status")
		session.FinalAnalysis, session.CompletedAt = fmt.Sprintf("analysis %d", r.rows), nil

		if session.Status.Terminal() {
			session.CompletedAt = &now
		}

		step.Session = &session
	}

	switch rapid.IntRange(0, 5).Draw(rt, "rows") {
	case 0:
		stage := storetest.NewStage(id, r.rows, now)
		execution := storetest.NewExecution(stage, 1, now)
		step.Stages, step.Executions = []tarsy.Stage{stage}, []tarsy.Execution{execution}
		step.Messages = []tarsy.Message{storetest.NewMessage(execution, 1, "first", now), storetest.NewMessage(execution, 2, "second", now)}
	case 1:
		step.Timeline = []tarsy.TimelineEvent{storetest.NewTimelineEvent(id, int64(r.rows), now)}
	case 2: // the existing rows change
		for _, key := range slices.Sorted(maps.Keys(s.timeline)) {
			event := s.timeline[key]
			event.Status, event.Content, event.UpdatedAt, event.CompletedAt = tarsy.EventCompleted, fmt.Sprintf("text %d", r.rows), now, &now
			step.Timeline = append(step.Timeline, event)
		}

		for _, key := range slices.Sorted(maps.Keys(s.executions)) {
			execution := s.executions[key]
			execution.Status, execution.ErrorMessage, execution.CompletedAt = tarsy.StatusFailed, fmt.Sprintf("error %d", r.rows), &now
			step.Executions = append(step.Executions, execution)
		}
	case 3:
		r.stepOfChat(&step, s, now)
	}

	if rapid.Bool().Draw(rt, "answer") {
		for _, key := range slices.Sorted(maps.Keys(s.requests)) {
			step.Answered = append(step.Answered, storetest.Closed(s.requests[key], now))
		}
	}

	step.Release = rapid.IntRange(0, 3).Draw(rt, "release") == 0

	return step
}

// stepOfChat starts to answer a question, or ends the answer in progress.
func (r *propertyRun) stepOfChat(step *progress.Step, s *modelSession, now time.Time) {
	if s.answering() {
		for _, key := range slices.Sorted(maps.Keys(s.stages)) {
			if stage := s.stages[key]; stage.StageType == tarsy.StageChat && !stage.Status.Terminal() {
				step.Stages = append(step.Stages, storetest.Ended(stage, now))
			}
		}

		return
	}

	question := storetest.NewQuestion()
	for id := range s.chats {
		question.ChatID = id
	}

	chat, message, stage := storetest.NewChat(s.session.ID, question, r.rows, now)
	if before, ok := s.chats[chat.ID]; ok {
		chat.CreatedAt = before.CreatedAt
	}

	step.Chats, step.ChatMessages, step.Stages = []tarsy.Chat{chat}, []tarsy.ChatUserMessage{message}, []tarsy.Stage{stage}
}

func (r *propertyRun) commit(rt *rapid.T) {
	h := r.holder(rt)
	step := r.step(rt, h.SessionID)
	committed, err := h.Commit(context.Background(), step)
	r.check(rt, h, step, committed, err)
}

// check compares the result of a commit with that of the model.
func (r *propertyRun) check(rt *rapid.T, h *propertyHolder, step progress.Step, committed postgres.Committed, err error) {
	if h.failed || !r.model.holds(h.Lease) {
		require.ErrorIs(rt, err, postgres.ErrFenceLost, "a stale holder never writes")

		h.failed = true

		return
	}

	require.NoError(rt, err)
	require.Equal(rt, r.model.commit(h.SessionID, step), committed.Released)
	require.Equal(rt, int64(len(r.model.sessions[h.SessionID].journal)), committed.LastSeq)

	if committed.Released {
		delete(r.working[h.server], h.SessionID)
	}
}

// burst lets many holders, of both servers and of different or the same sessions, commit concurrently.
func (r *propertyRun) burst(rt *rapid.T) {
	h := r.holder(rt)
	chosen := []*propertyHolder{h}

	for _, other := range r.holders {
		if other != h && rapid.Bool().Draw(rt, "joins") {
			chosen = append(chosen, other)
		}
	}

	steps, waits := make([]progress.Step, len(chosen)), make([]*postgres.Pending, len(chosen))
	for i, h := range chosen {
		steps[i] = r.step(rt, h.SessionID)
	}

	for i, h := range chosen {
		waits[i] = h.Submit(steps[i])
	}

	// At most one holder of a session holds it, so the order of the others does not matter.
	for i, h := range chosen {
		committed, err := waits[i].Wait(context.Background())
		r.check(rt, h, steps[i], committed, err)
	}
}

func (r *propertyRun) renew(rt *rapid.T) {
	server := r.server(rt)

	var leases []postgres.Lease

	for _, h := range r.holders {
		if h.server == server && rapid.Bool().Draw(rt, "renews") {
			leases = append(leases, h.Lease)
		}
	}

	until := r.Clock.Now().Add(storetest.Lease)
	renewed, err := r.servers[server].Renew(context.Background(), leases, until)
	require.NoError(rt, err)

	want := r.model.renew(leases, until)
	require.ElementsMatch(rt, want, renewed)

	for _, l := range leases {
		if !r.model.holds(l) && !r.holdsAnother(server, l.SessionID) {
			delete(r.working[server], l.SessionID)
		}
	}
}

// holdsAnother reports whether the server has a later lease of the session.
func (r *propertyRun) holdsAnother(server, id string) bool {
	s := r.model.sessions[id]

	return s.until != nil && s.session.PodID == server
}

func (r *propertyRun) handOver(rt *rapid.T) {
	h := r.holder(rt)
	require.NoError(rt, r.servers[h.server].HandOver(context.Background(), h.Lease))

	if r.model.holds(h.Lease) {
		delete(r.working[h.server], h.SessionID)
	}

	r.model.handOver(h.Lease)
}

func (r *propertyRun) request(rt *rapid.T) {
	id := rapid.SampledFrom(r.model.ids()).Draw(rt, "session")
	kind := rapid.SampledFrom([]tarsy.RequestKind{tarsy.RequestCancel, tarsy.RequestChat}).Draw(rt, "kind")
	request := storetest.NewRequest(id, kind, r.Clock.Now())

	db := r.servers[r.server(rt)]

	if kind == tarsy.RequestCancel {
		taken, err := db.AddCancel(context.Background(), request)
		require.NoError(rt, err)
		require.Equal(rt, r.model.request(request), taken)

		return
	}

	question, taken, err := db.AddQuestion(context.Background(), request, storetest.NewQuestion())
	require.NoError(rt, err)

	request.Payload, err = json.Marshal(question)
	require.NoError(rt, err)
	require.Equal(rt, r.model.request(request), taken)

	for chat := range r.model.sessions[id].chats {
		require.True(rt, !taken || question.ChatID == chat, "a session has one chat")
	}
}

// load is what a holder does after an error: it continues with a new Holder if it still holds the session.
func (r *propertyRun) load(rt *rapid.T) {
	h := r.holder(rt)

	state, err := r.servers[h.server].Load(context.Background(), h.Lease)
	if !r.model.holds(h.Lease) {
		require.ErrorIs(rt, err, postgres.ErrFenceLost)

		return
	}

	require.NoError(rt, err)
	storetest.RequireSame(rt, r.model.sessions[h.SessionID].state(), *state)

	h.Holder, h.failed = r.servers[h.server].Hold(h.Lease), false
}

// queueEntry is the part of a session's row that people do not see.
type queueEntry struct {
	ID           string
	Status       string
	RunnableAt   *time.Time
	LeaseUntil   *time.Time
	LeaseCounted bool
	Fence        int64
	OpenRequests int
}

// compare compares everything that is stored with the model.
func (r *propertyRun) compare(rt *rapid.T) {
	rows, err := r.Admin.Query(context.Background(),
		`SELECT id::text, status, runnable_at, lease_until, lease_counted, fence, open_requests FROM sessions ORDER BY id`)
	require.NoError(rt, err)

	entries, err := pgx.CollectRows(rows, pgx.RowToStructByName[queueEntry])
	require.NoError(rt, err)

	want := make([]queueEntry, 0, len(entries))
	for id, s := range r.model.sessions {
		want = append(want, queueEntry{
			ID: id, Status: string(s.session.Status), RunnableAt: s.runnable, LeaseUntil: s.until,
			LeaseCounted: s.counted, Fence: s.fence, OpenRequests: len(s.requests),
		})
	}

	slices.SortFunc(want, func(a, b queueEntry) int { return cmp.Compare(a.ID, b.ID) })
	storetest.RequireSame(rt, want, entries)

	for id, s := range r.model.sessions {
		storetest.RequireSame(rt, s.journal, r.Journal(rt, id))

		if s.until != nil {
			state, err := r.servers[storetest.ServerA].Load(context.Background(), postgres.Lease{SessionID: id, Fence: s.fence})
			require.NoError(rt, err)
			storetest.RequireSame(rt, s.state(), *state)
		}
	}
}
