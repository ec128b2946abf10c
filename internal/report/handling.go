package report

import (
	"strings"

	"tarsy.dev/tarsy"
)

// handlingFacts writes how people handled the session.
func (r *writer) handlingFacts(fact func(name, value string)) {
	h := r.export.Session.Handling
	if h == nil {
		return
	}

	if h.AcknowledgedAt != nil {
		fact("Acknowledged", inline(h.AcknowledgedBy, maxCell)+", "+moment(h.AcknowledgedAt))
	}

	if h.ResolvedAt != nil {
		fact("Resolved", inline(h.ResolvedBy, maxCell)+", "+moment(h.ResolvedAt))
	}

	fact("Assigned to", inline(h.Assignee, maxCell))
	fact("Tags", inline(strings.Join(h.Tags, ", "), maxCell))
}

// handling writes the resolution of the session.
func (r *writer) handling() {
	h := r.export.Session.Handling
	if h == nil || h.Resolution == "" {
		return
	}

	r.section("Resolution")
	r.claim("", tarsy.Claim{Text: h.Resolution}, "\n")
}
