package mcpserver

import (
	"strings"

	"tarsy.dev/tarsy"
)

// handling writes what people did with a session. Names, resolution and tags are text of people.
func (p *pieces) handling(h *tarsy.Handling) {
	if h == nil {
		return
	}

	p.field("Handling", h.Describe())
	p.field("  Resolution", h.Resolution)
	p.care(h)
}

// care writes who takes care of a session, and its tags.
func (p *pieces) care(h *tarsy.Handling) {
	if h == nil {
		return
	}

	p.field("  Assigned to", h.Assignee)
	p.field("  Tags", strings.Join(h.Tags, ", "))
}
