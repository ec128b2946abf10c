package mcpserver

import (
	"strings"

	"tarsy.dev/tarsy"
)

// handling writes how people handled a session. Names, resolution and tags are user-supplied text.
func (p *pieces) handling(h *tarsy.Handling) {
	if h == nil {
		return
	}

	p.field("Handling", h.Describe())
	p.field("  Resolution", h.Resolution)
	p.care(h)
}

// care writes a session's assignee and tags.
func (p *pieces) care(h *tarsy.Handling) {
	if h == nil {
		return
	}

	p.field("  Assigned to", h.Assignee)
	p.field("  Tags", strings.Join(h.Tags, ", "))
}
