package postgres_test

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// model is what the database should be: sessions, one at a time, without transactions or SQL.
type model struct {
	now      time.Time
	limit    int
	sessions map[string]*modelSession
}

// modelSession is one session: its queue entry, its rows by id and its journal.
type modelSession struct {
	session    tarsy.Session
	runnable   *time.Time
	until      *time.Time
	counted    bool
	fence      int64
	stages     map[string]tarsy.Stage
	executions map[string]tarsy.Execution
	timeline   map[string]tarsy.TimelineEvent
	messages   map[string]tarsy.Message
	chats      map[string]tarsy.Chat
	asked      map[string]tarsy.ChatUserMessage
	requests   map[string]tarsy.Request
	journal    []string
}

func newModel(limit int) *model {
	return &model{now: storetest.Epoch(), limit: limit, sessions: map[string]*modelSession{}}
}

// ids returns the sessions in a fixed order.
func (m *model) ids() []string { return slices.Sorted(maps.Keys(m.sessions)) }

func (m *model) create(session tarsy.Session, events []tarsy.Event) {
	at := session.CreatedAt
	m.sessions[session.ID] = &modelSession{
		session: session, runnable: &at, counted: true,
		stages: map[string]tarsy.Stage{}, executions: map[string]tarsy.Execution{},
		timeline: map[string]tarsy.TimelineEvent{}, messages: map[string]tarsy.Message{}, requests: map[string]tarsy.Request{},
		chats: map[string]tarsy.Chat{}, asked: map[string]tarsy.ChatUserMessage{},
		journal: types(events),
	}
}

func types(events []tarsy.Event) []string {
	all := make([]string, len(events))
	for i, e := range events {
		all[i] = e.Type
	}

	return all
}

// leases returns the number of leases that count against the limit.
func (m *model) leases() int {
	n := 0

	for _, s := range m.sessions {
		if s.until != nil && s.counted {
			n++
		}
	}

	return n
}

// choose returns up to limit sessions that are due and fit, oldest first.
func (m *model) choose(limit int, at func(*modelSession) *time.Time, fits func(*modelSession) bool) []*modelSession {
	var chosen []*modelSession

	for _, s := range m.sessions {
		if when := at(s); when != nil && !when.After(m.now) && fits(s) {
			chosen = append(chosen, s)
		}
	}

	slices.SortFunc(chosen, func(a, b *modelSession) int {
		return cmp.Or(at(a).Compare(*at(b)), cmp.Compare(a.session.ID, b.session.ID))
	})

	return chosen[:max(0, min(limit, len(chosen)))]
}

// claim returns the sessions that p gets.
func (m *model) claim(p postgres.ClaimParams) map[string]*modelSession {
	leased := func(s *modelSession) *time.Time { return s.until }
	runnable := func(s *modelSession) *time.Time { return s.runnable }

	others := func(s *modelSession) bool { return !slices.Contains(p.Held, s.session.ID) }
	finished := func(s *modelSession) bool { return s.session.Status.Terminal() }

	cancels := m.choose(p.Cancels, runnable, func(s *modelSession) bool { return s.until == nil && s.wants(tarsy.RequestCancel) })
	chats := m.choose(p.Chats, runnable, func(s *modelSession) bool { return s.until == nil && finished(s) && !slices.Contains(cancels, s) })
	orphanedCancels := m.choose(p.Cancels-len(cancels), leased, func(s *modelSession) bool { return others(s) && s.wants(tarsy.RequestCancel) })
	orphanedChats := m.choose(p.Chats-len(chats), leased,
		func(s *modelSession) bool { return others(s) && finished(s) && !slices.Contains(orphanedCancels, s) })
	expired := m.choose(p.Slots, leased,
		func(s *modelSession) bool { return others(s) && !finished(s) && !slices.Contains(orphanedCancels, s) })
	waiting := m.choose(min(p.Slots-len(expired), p.MaxSessions-m.leases()), runnable,
		func(s *modelSession) bool { return s.until == nil && !finished(s) && !slices.Contains(cancels, s) })

	uncounted := slices.Concat(cancels, chats, orphanedCancels, orphanedChats)
	for _, s := range uncounted {
		s.counted = false
	}

	for _, s := range waiting {
		s.counted = true
	}

	claimed := map[string]*modelSession{}

	for _, s := range slices.Concat(uncounted, expired, waiting) {
		until := m.now.Add(p.Lease)
		s.until, s.session.PodID = &until, p.ServerID
		s.fence++
		claimed[s.session.ID] = s
	}

	return claimed
}

func (s *modelSession) wants(kind tarsy.RequestKind) bool {
	for _, r := range s.requests {
		if r.Kind == kind {
			return true
		}
	}

	return false
}

// holds reports whether the lease is the session's current one.
func (m *model) holds(l postgres.Lease) bool {
	s := m.sessions[l.SessionID]

	return s.until != nil && s.fence == l.Fence
}

// commit applies a step of the session's holder and reports whether it released the lease.
func (m *model) commit(id string, step progress.Step) bool {
	s := m.sessions[id]

	if step.Session != nil {
		pod := s.session.PodID
		s.session = *step.Session
		s.session.PodID = pod
	}

	for _, r := range step.Stages {
		s.stages[r.ID] = r
	}

	for _, r := range step.Executions {
		s.executions[r.ID] = r
	}

	for _, r := range step.Timeline {
		s.timeline[r.ID] = r
	}

	for _, r := range step.Messages {
		s.messages[r.ID] = r
	}

	for _, r := range step.Chats {
		s.chats[r.ID] = r
	}

	for _, r := range step.ChatMessages {
		s.asked[r.ID] = r
	}

	for _, r := range step.Answered {
		delete(s.requests, r.ID)
	}

	s.journal = append(s.journal, types(step.Events)...)

	if !step.Release || len(s.requests) > 0 {
		return false
	}

	s.until, s.runnable, s.counted = nil, nil, true

	return true
}

// request makes a request to a session and reports whether it is accepted.
func (m *model) request(r tarsy.Request) bool {
	s := m.sessions[r.SessionID]

	switch status := s.session.Status; r.Kind {
	case tarsy.RequestCancel:
		if status.Terminal() && !s.wants(tarsy.RequestChat) && !s.answering() {
			return false
		}

		if s.wants(tarsy.RequestCancel) {
			return true
		}
	case tarsy.RequestChat:
		if !status.Terminal() || status == tarsy.SessionCancelled || len(s.requests) > 0 || s.answering() {
			return false
		}
	case tarsy.RequestApproval:
		// The model has no waiting calls.
		return false
	}

	s.requests[r.ID] = r

	if s.runnable == nil {
		s.runnable = &r.CreatedAt
	}

	return true
}

// answering reports whether a stage answers a question.
func (s *modelSession) answering() bool {
	for _, stage := range s.stages {
		if stage.StageType == tarsy.StageChat && !stage.Status.Terminal() {
			return true
		}
	}

	return false
}

func (m *model) handOver(l postgres.Lease) {
	if m.holds(l) {
		s := m.sessions[l.SessionID]
		s.until, s.counted = nil, true
	}
}

func (m *model) renew(leases []postgres.Lease, until time.Time) []postgres.Renewal {
	var renewed []postgres.Renewal

	for _, l := range leases {
		if m.holds(l) {
			s := m.sessions[l.SessionID]
			s.until = &until
			renewed = append(renewed, postgres.Renewal{SessionID: l.SessionID, Requested: len(s.requests) > 0})
		}
	}

	return renewed
}

// state is the expected result of loading the session.
func (s *modelSession) state() progress.State {
	return progress.State{
		Session: s.session, Stages: slices.Collect(maps.Values(s.stages)), Executions: slices.Collect(maps.Values(s.executions)),
		Timeline: slices.Collect(maps.Values(s.timeline)), Messages: slices.Collect(maps.Values(s.messages)),
		Chats: slices.Collect(maps.Values(s.chats)), ChatMessages: slices.Collect(maps.Values(s.asked)),
		Requests: slices.Collect(maps.Values(s.requests)), LastSeq: int64(len(s.journal)),
	}
}
