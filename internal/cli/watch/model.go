package watch

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

// actions are what the screen can request. Open and Leave return immediately; an opened session arrives as messages.
type actions struct {
	Open   func(id string)
	Leave  func()
	List   func() ([]tarsy.SessionItem, error)
	Cancel func(id string) error
	Ask    func(id, question string) (client.Asked, error)
	// Approve and Reject decide about the approval with this id.
	Approve func(id string) error
	Reject  func(id, reason string) error
}

// The messages that the runner sends to the screen.
type (
	openedMsg struct{ detail tarsy.SessionDetail }
	updateMsg struct {
		id     string
		update client.Update
	}
	verdictMsg struct {
		id      string
		verdict *tarsy.Verdict
	}
	failedMsg struct {
		id  string
		err error
	}
	listedMsg struct {
		items []tarsy.SessionItem
		err   error
	}
	cancelMsg  struct{ err error }
	decidedMsg struct {
		text string
		err  error
	}
	askedMsg struct {
		id    string
		asked client.Asked
		err   error
	}
	tickMsg time.Time
)

const (
	tickEvery = 150 * time.Millisecond
	listEvery = 2 * time.Second
	// chrome is how many lines the header and the footer take.
	chrome = 6
)

// model is the bubbletea model of the screen: a list of sessions, and one session that is followed.
type model struct {
	actions actions
	palette terminal.Palette
	server  string
	now     time.Time
	frame   int
	width   int
	height  int

	list     []tarsy.SessionItem
	listed   bool
	listedAt time.Time
	cursor   int
	browsing bool // the list is on the screen
	entered  bool // the session was chosen from the list; Esc returns to it

	id       string
	session  *live.Session
	body     *body
	expanded bool
	top      int  // the first visible line
	follow   bool // keep the end visible
	lost     error
	notice   string
	asking   bool // the question whether to cancel is shown
	question question
	decision decision

	failure error
}

// modelConfig is the initial state of a screen.
type modelConfig struct {
	Actions actions
	Palette terminal.Palette
	Server  string
	// SessionID is the session to open; if it is empty, the user chooses from a list.
	SessionID string
	Now       time.Time
	Width     int
	Height    int
}

// newModel returns a model.
func newModel(cfg modelConfig) *model {
	return &model{
		actions: cfg.Actions, palette: cfg.Palette, server: cfg.Server, now: cfg.Now, width: cfg.Width, height: cfg.Height,
		id: cfg.SessionID, browsing: cfg.SessionID == "", follow: true, question: newQuestion(),
	}
}

// Err returns why the screen ended, or nil if the user left.
func (m *model) Err() error { return m.failure }

// Session returns the session on the screen, or nil if there is none.
func (m *model) Session() *live.Session { return m.session }

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	if m.browsing {
		return tea.Batch(tick(), m.load())
	}

	m.actions.Open(m.id)

	return tick()
}

func tick() tea.Cmd {
	return tea.Tick(tickEvery, func(at time.Time) tea.Msg { return tickMsg(at) })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height, m.body = msg.Width, msg.Height, nil
	case tickMsg:
		return m, m.tick(time.Time(msg))
	case openedMsg:
		if msg.detail.ID == m.id {
			m.session, m.body = live.NewSession(msg.detail), nil
		}
	case updateMsg:
		m.take(msg)
	case verdictMsg:
		if msg.id == m.id && m.session != nil {
			m.session.Verdict = msg.verdict
		}
	case failedMsg:
		if msg.id == m.id {
			m.failure = msg.err

			return m, tea.Quit
		}
	case listedMsg:
		return m, m.receive(msg)
	case cancelMsg:
		m.notice = "cancellation requested"
		if msg.err != nil {
			m.notice = "not cancelled: " + terminal.Line(msg.err.Error())
		}
	case decidedMsg:
		m.decided(msg)
	case askedMsg:
		return m, m.accepted(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}

	return m, nil
}

// paste inserts text into the line that receives keys.
func (m *model) paste(text string) {
	switch {
	case m.decision.reason != nil:
		m.decision.reason.Insert(text)
	case m.decision.id == "" && m.typing():
		m.question.line.Insert(text)
	}
}

func (m *model) tick(at time.Time) tea.Cmd {
	m.now = at
	m.frame++

	if m.browsing && m.listed && at.Sub(m.listedAt) > listEvery {
		m.listedAt = at

		return tea.Batch(tick(), m.load())
	}

	return tick()
}

func (m *model) take(msg updateMsg) {
	if msg.id != m.id || m.session == nil {
		return
	}

	switch {
	case msg.update.Lost != nil:
		m.lost = msg.update.Lost
	case msg.update.Back:
		m.lost = nil
		m.notice = "connected again, caught up"
	}

	m.session.Apply(msg.update)
	m.checkRefusal()
}

// open shows a session from the list.
func (m *model) open(id string) {
	m.id, m.session, m.body, m.browsing, m.entered = id, nil, nil, false, true
	m.top, m.follow, m.lost, m.notice, m.asking, m.question = 0, true, nil, "", false, newQuestion()
	m.decision = decision{}
	m.actions.Open(id)
}

func (m *model) back() tea.Cmd {
	m.actions.Leave()
	m.id, m.session, m.browsing, m.notice, m.asking, m.decision = "", nil, true, "", false, decision{}

	return m.load()
}

func (m *model) cancel() tea.Cmd {
	id, cancel := m.id, m.actions.Cancel

	return func() tea.Msg { return cancelMsg{cancel(id)} }
}

// spin returns the progress indicator.
func (m *model) spin() string {
	signs := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

	return string(signs[m.frame%len(signs)])
}

func (m *model) lines() []string {
	if m.body == nil {
		m.body = newBody(m.palette, m.width-1, m.bodyHeight(), m.expanded)
	}

	return m.body.lines(m.session, m.now, m.spin())
}

func (m *model) bodyHeight() int { return max(1, m.height-chrome) }

func (m *model) below() string {
	return fmt.Sprintf("%d lines below", max(0, len(m.lines())-m.top-m.bodyHeight()))
}
