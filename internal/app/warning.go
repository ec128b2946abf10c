package app

import (
	"slices"
	"sync"
	"time"

	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
)

// The categories of warnings.
const (
	categoryMCP      = "mcp_health"
	categoryConfig   = "configuration"
	categoryDatabase = "database"
	categoryMasking  = "masking"
	categorySession  = "session"
)

// warnings are problems that an operator should know about. They are lost at a restart. There is one per category and server; without a
// server, one per category and message.
type warnings struct {
	mu  sync.Mutex
	all []api.Warning
}

func (w *warnings) set(category, serverID, message, details string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.all = slices.DeleteFunc(w.all, func(o api.Warning) bool {
		return o.Category == category && o.ServerID == serverID && (serverID != "" || o.Message == message)
	})
	w.all = append(w.all, api.Warning{
		ID: ident.New(), Category: category, ServerID: serverID, Message: message, Details: details, CreatedAt: calendar.Time(at),
	})
}

func (w *warnings) clear(category, serverID string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.all = slices.DeleteFunc(w.all, func(o api.Warning) bool { return o.Category == category && o.ServerID == serverID })
}

// remove removes one warning without a server.
func (w *warnings) remove(category, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.all = slices.DeleteFunc(w.all, func(o api.Warning) bool {
		return o.Category == category && o.ServerID == "" && o.Message == message
	})
}

func (w *warnings) list() []api.Warning {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.all)
}

// sessionSetAside warns about a session that cannot be loaded, until it can be loaded again.
func (a *App) sessionSetAside(sessionID string, aside bool) {
	message := "Session " + sessionID + " cannot be loaded and is set aside."
	if !aside {
		a.warnings.remove(categorySession, message)

		return
	}

	a.warnings.set(categorySession, "", message,
		"It is tried again after 30 seconds, then less and less often, up to every 10 minutes. The server's log has the cause.", a.clock.Now())
}
