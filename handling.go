package tarsy

import (
	"slices"
	"strings"
	"time"
)

// HandlingState is how far people have dealt with a session. It is independent of the session's status: a session can be resolved while its
// investigation runs.
type HandlingState string

// The states of handling; any of them can follow any other.
const (
	HandlingOpen         HandlingState = "open"
	HandlingAcknowledged HandlingState = "acknowledged"
	HandlingResolved     HandlingState = "resolved"
)

// HandlingStates lists every state, from open to resolved.
func HandlingStates() []HandlingState {
	return []HandlingState{HandlingOpen, HandlingAcknowledged, HandlingResolved}
}

// Limits on what people write when they handle sessions, in characters; MaxTags is a count.
const (
	MaxResolution = 2000
	MaxAssignee   = 200
	MaxTag        = 50
	MaxTags       = 20
	// MaxHandled is the maximum number of sessions in one request.
	MaxHandled = 500
)

// AssigneeMe is the assignee value that means the caller.
const AssigneeMe = "me"

// Handling is what people do with a session: who is assigned to it, whether it is acknowledged or resolved, and their tags. A session
// without one is open, and its version is zero.
type Handling struct {
	// The session; it has at most one handling.
	SessionID string `json:"session_id"`
	// How far people have dealt with it.
	State HandlingState `json:"state"`
	// Name of the person responsible; empty if unassigned. It need not be the name of a user.
	Assignee string `json:"assignee"`
	// Identity of the assignee, as in Person, if they assigned themselves; empty if someone entered a name, and if unassigned.
	AssigneeID string `json:"assignee_id"`
	// Who acknowledged the session, as in Session.Author, and when. Empty and nil while it is open, and if it was resolved without being
	// acknowledged.
	AcknowledgedBy string     `json:"acknowledged_by"`
	AcknowledgedAt *time.Time `json:"acknowledged_at"`
	// Who resolved the session and when. Empty and nil unless it is resolved.
	ResolvedBy string     `json:"resolved_by"`
	ResolvedAt *time.Time `json:"resolved_at"`
	// What resolved it, with secrets masked; may be empty. Always empty unless the session is resolved.
	Resolution string `json:"resolution"`
	// Set by people, unlike the labels of the alert. Sorted by TagKey, each at most once; empty, not nil.
	Tags []string `json:"tags"`
	// Counts the changes, for If-Match.
	Version int64 `json:"version"`
	// When it was last changed, and by whom; nil and empty if it never was.
	UpdatedAt *time.Time `json:"updated_at"`
	UpdatedBy string     `json:"updated_by"`
}

// HandlingChange is a change to the handling of a session. Nil fields are left unchanged.
type HandlingChange struct {
	// The new state. It has no effect on a session that is already in it: the first person who acknowledged or resolved it stays recorded.
	State *HandlingState
	// The new assignee; empty to unassign, AssigneeMe for the caller.
	Assignee *string
	// Identity of the new assignee; empty unless it is the caller.
	AssigneeID string
	// What resolved the session. Only allowed if the session is resolved.
	Resolution *string
	// Replaces all tags.
	SetTags *[]string
	// Added to and removed from the current tags, so that changes of several people merge. Tags that are in both are removed.
	AddTags    []string
	RemoveTags []string
}

// Empty reports whether the change sets nothing.
func (c HandlingChange) Empty() bool {
	return c.State == nil && c.Assignee == nil && c.Resolution == nil && c.SetTags == nil && len(c.AddTags) == 0 && len(c.RemoveTags) == 0
}

// NewHandling returns the handling of a session that no one has handled.
func NewHandling(sessionID string) Handling {
	return Handling{SessionID: sessionID, State: HandlingOpen, Tags: []string{}}
}

// HandlingResult is the outcome of one change in a batch.
type HandlingResult struct {
	// The session.
	SessionID string `json:"session_id"`
	// The handling after the change; nil if it failed.
	Handling *Handling `json:"handling"`
	// Whether anything changed. Repeating a change has no effect.
	Changed bool `json:"changed"`
	// Why it failed; empty if it did not.
	Code    Code   `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Describe summarizes the handling in a few words, such as "resolved by ana". The name is untrusted text.
func (h Handling) Describe() string {
	switch h.State {
	case HandlingResolved:
		return "resolved by " + h.ResolvedBy
	case HandlingAcknowledged:
		return "acknowledged by " + h.AcknowledgedBy
	case HandlingOpen:
	}

	return string(h.State)
}

// TagKey returns the key by which tags are compared and sorted, ignoring case.
func TagKey(tag string) string { return strings.ToLower(tag) }

// Change returns the handling after author makes a change at the given time. A change without effect returns it unmodified. The caller has
// validated the change; only what depends on the current handling is checked here.
func (h Handling) Change(c HandlingChange, author string, at time.Time) (Handling, error) {
	next := h.inState(c.State, author, at)

	if c.Assignee != nil {
		next.Assignee, next.AssigneeID = *c.Assignee, c.AssigneeID
	}

	if c.Resolution != nil {
		if next.State != HandlingResolved && *c.Resolution != "" {
			return h, FieldErrorf(CodeConflict, "resolution", "the session is %s: only a resolved session has a resolution", next.State)
		}

		next.Resolution = *c.Resolution
	}

	next.Tags = c.tags(h.Tags)
	if len(next.Tags) > MaxTags {
		return h, FieldErrorf(CodeConflict, "tags", "the session would have %d tags; it can have %d", len(next.Tags), MaxTags)
	}

	if next.same(h) {
		return h, nil
	}

	next.Version++
	next.UpdatedAt, next.UpdatedBy = &at, author

	return next, nil
}

// inState returns the handling in another state; nil and the current state change nothing.
func (h Handling) inState(state *HandlingState, author string, at time.Time) Handling {
	if state == nil || *state == h.State {
		return h
	}

	h.State = *state

	if h.State != HandlingResolved {
		h.ResolvedBy, h.ResolvedAt, h.Resolution = "", nil, ""
		h.AcknowledgedBy, h.AcknowledgedAt = "", nil
	}

	switch h.State {
	case HandlingAcknowledged:
		h.AcknowledgedBy, h.AcknowledgedAt = author, &at
	case HandlingResolved:
		h.ResolvedBy, h.ResolvedAt = author, &at
	case HandlingOpen:
	}

	return h
}

// tags returns the tags after the change. AddTags keeps the case of a tag that exists; SetTags takes the new case.
func (c HandlingChange) tags(had []string) []string {
	kept := map[string]string{}

	if c.SetTags == nil {
		for _, tag := range had {
			kept[TagKey(tag)] = tag
		}
	} else {
		for _, tag := range *c.SetTags {
			kept[TagKey(tag)] = tag
		}
	}

	for _, tag := range c.AddTags {
		if _, has := kept[TagKey(tag)]; !has {
			kept[TagKey(tag)] = tag
		}
	}

	for _, tag := range c.RemoveTags {
		delete(kept, TagKey(tag))
	}

	tags := make([]string, 0, len(kept))
	for _, tag := range kept {
		tags = append(tags, tag)
	}

	slices.SortFunc(tags, func(a, b string) int { return strings.Compare(TagKey(a), TagKey(b)) })

	return tags
}

// same reports whether two handlings of a session are equal. State, assignee, resolution and tags determine everything else.
func (h Handling) same(other Handling) bool {
	return h.State == other.State && h.Assignee == other.Assignee && h.AssigneeID == other.AssigneeID &&
		h.Resolution == other.Resolution && slices.Equal(h.Tags, other.Tags)
}
