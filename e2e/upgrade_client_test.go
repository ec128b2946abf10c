package e2e

import (
	"fmt"
	"regexp"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// upgradeSession is one alert that a server has acknowledged.
type upgradeSession struct {
	id     string
	marker string
	// cancelled reports whether the client cancels it; otherwise the client asks a question.
	cancelled bool
	readers   []*upgradeReader
}

// hangs is in the text of alerts whose sessions wait for their model until they are cancelled.
const hangs = "never-answered"

// upgradeVerdict is the model's answer to requests with a schema: only this version requests a verdict.
const upgradeVerdict = `{"outcome":"cause_found","cause":"%s leaks memory","confidence":"high","confidence_reason":"","impact":"","next_steps":[],"not_checked":[]}`

var upgradeMarker = regexp.MustCompile(`marker-\d+`)

// upgradeReply returns the model's reply: each agent with tools calls its tool once, and everybody then answers. It depends
// only on the alert and on the agents' instructions, because the versions may word the rest of a prompt differently.
func upgradeReply(req *llm.Request, _ int) script.Reply {
	var whole strings.Builder
	for _, m := range req.Messages {
		whole.WriteString(m.Content)
	}

	text := whole.String()
	if strings.Contains(text, hangs) {
		return script.Reply{Hang: true}
	}

	marker := upgradeMarker.FindString(text)
	if len(req.ResponseSchema) > 0 {
		return script.Reply{Text: fmt.Sprintf(upgradeVerdict, marker)}
	}

	if len(req.Tools) == 0 || req.Messages[len(req.Messages)-1].Role == llm.RoleTool {
		return says("This is what was found out about " + marker + ", in a few words.")
	}

	by := "chat"

	switch {
	case strings.Contains(text, "Read the logs."):
		by = "logs"
	case strings.Contains(text, "Read the metrics."):
		by = "metrics"
	}

	return script.Reply{ToolCalls: []llm.ToolCall{{Name: "desk__" + toolLook, Arguments: fmt.Sprintf(`{"by":%q}`, marker+" "+by)}}}
}

// RunClients starts clients that submit alerts until Finish, each one after another.
func (u *upgrade) RunClients() {
	const clients, cancelEvery = 6, 5

	next := make(chan int)

	u.clients.Go(func() {
		defer close(next)

		for n := 0; ; n++ {
			select {
			case next <- n:
			case <-u.quit.Done():
				return
			}
		}
	})

	for range clients {
		u.clients.Go(func() {
			for n := range next {
				u.runClient(fmt.Sprintf("marker-%d", n), n%cancelEvery == 0)
			}
		})
	}
}

// Finish lets the clients finish what they began, and start nothing more.
func (u *upgrade) Finish() {
	u.finish()
	u.clients.Wait()
}

func (u *upgrade) runClient(marker string, cancelled bool) {
	s := &upgradeSession{marker: marker, cancelled: cancelled}
	text := "what is wrong with " + marker + "?"

	if cancelled {
		text += " " + hangs
	}

	u.Ask(func(app *tarsytest.App) { s.id = app.Submit("test", text) })

	u.mu.Lock()
	u.sessions = append(u.sessions, s)
	u.mu.Unlock()

	s.readers = []*upgradeReader{{u: u, id: s.id, connect: overSocket}, {u: u, id: s.id, connect: overSSE}}

	if cancelled {
		u.cancel(s)
	} else {
		u.ask(s)
	}

	u.Ask(func(app *tarsytest.App) {
		server := app.Session(s.id).PodID

		u.mu.Lock()
		defer u.mu.Unlock()

		u.finished[server]++
		close(u.moved)
		u.moved = make(chan struct{})
	})
}

// cancel cancels a session once an agent works on it.
func (u *upgrade) cancel(s *upgradeSession) {
	s.Wait("an agent to begin", func(e tarsytest.Event) bool { return e.Type == tarsy.TypeExecutionStatus })
	u.Ask(func(app *tarsytest.App) { app.Cancel(s.id) })
	s.WaitStatus(tarsy.SessionCancelled)
}

// ask waits for the analysis and asks a question about it.
func (u *upgrade) ask(s *upgradeSession) {
	s.WaitStatus(tarsy.SessionCompleted)

	var stage string

	u.Ask(func(app *tarsytest.App) { stage = app.Ask(s.id, "what else about "+s.marker+"?").StageID })
	s.Wait("the answer", func(e tarsytest.Event) bool {
		return e.Type == tarsy.TypeStageStatus && e.Fields["stage_id"] == stage && e.Fields["status"] != tarsy.StageStarted
	})
}

// Wait waits until all readers of the session have seen an event.
func (s *upgradeSession) Wait(what string, fits func(tarsytest.Event) bool) {
	for _, r := range s.readers {
		r.wait(what+" of "+s.marker, fits)
	}
}

// WaitStatus waits until all readers of the session have seen the status.
func (s *upgradeSession) WaitStatus(status tarsy.SessionStatus) {
	s.Wait(string(status), func(e tarsytest.Event) bool {
		return e.Type == tarsy.TypeSessionStatus && e.Fields["status"] == string(status)
	})
}

// upgradeReader reads a session's journal from one server after another.
type upgradeReader struct {
	u       *upgrade
	id      string
	connect func(app *tarsytest.App, sessionID string, after int64) connection

	conn connection
	// seen has the events of connections that have ended.
	seen []tarsytest.Event
}

// connection is a WebSocket or an event stream.
type connection interface {
	Events() []tarsytest.Event
	WaitOrEnd(what string, fits func(tarsytest.Event) bool) (tarsytest.Event, error)
	Close()
}

func overSocket(app *tarsytest.App, sessionID string, after int64) connection {
	socket := app.Socket()

	if after == 0 {
		socket.Subscribe(tarsy.SessionChannel(sessionID))
	} else {
		socket.SubscribeAfter(tarsy.SessionChannel(sessionID), after)
	}

	return socket
}

func overSSE(app *tarsytest.App, sessionID string, after int64) connection {
	return app.Follow(sessionID, after)
}

// wait reads until an event matches. When a server ends the connection, the reader continues at another one.
func (r *upgradeReader) wait(what string, fits func(tarsytest.Event) bool) {
	for {
		if r.conn == nil {
			r.u.Ask(func(app *tarsytest.App) { r.conn = r.connect(app, r.id, r.last()) })
		}

		if _, err := r.conn.WaitOrEnd(what, fits); err == nil {
			return
		}

		r.Close()
	}
}

// Close ends the connection, and keeps the events received over it.
func (r *upgradeReader) Close() {
	if r.conn != nil {
		r.conn.Close()
		r.seen = append(r.seen, r.conn.Events()...)
		r.conn = nil
	}
}

// Events returns all events received.
func (r *upgradeReader) Events() []tarsytest.Event { return r.seen }

// last returns the number of the last entry received.
func (r *upgradeReader) last() int64 {
	var last int64

	for _, e := range r.seen {
		last = max(last, e.Seq())
	}

	return last
}
