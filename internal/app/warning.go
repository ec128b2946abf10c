package app

import (
	"slices"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

// The categories of warnings.
const (
	categoryMCP     = "mcp_health"
	categoryConfig  = "configuration"
	categoryMasking = "masking"
)

// warnings are what an operator should know. They are not kept over a restart. One category and server has one, but
// for those that belong to no server.
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
		ID: tarsy.NewID(), Category: category, ServerID: serverID, Message: message, Details: details, CreatedAt: tarsy.Time(at),
	})
}

func (w *warnings) clear(category, serverID string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.all = slices.DeleteFunc(w.all, func(o api.Warning) bool { return o.Category == category && o.ServerID == serverID })
}

func (w *warnings) list() []api.Warning {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.all)
}
