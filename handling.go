package tarsy

import (
	"slices"
	"strings"
	"time"
)

// HandlingState is how far people are with a session. It has nothing to do with the session's status: a session may be resolved while its
// investigation runs.
type HandlingState string

// The states of handling; any of them can follow any other.
const (
	HandlingOpen         HandlingState = "open"
	HandlingAcknowledged HandlingState = "acknowledged"
	HandlingResolved     HandlingState = "resolved"
)

// HandlingStates lists every state, from the first to the last.
func HandlingStates() []HandlingState {
	return []HandlingState{HandlingOpen, HandlingAcknowledged, HandlingResolved}
}

// Limits on what people write when they handle sessions, in characters and pieces.
const (
	MaxResolution = 2000
	MaxAssignee   = 200
	MaxTag        = 50
	MaxTags       = 20
	// MaxHandled is how many sessions are handled with one request.
	MaxHandled = 500
)

// AssigneeMe stands for the caller where an assignee is given.
const AssigneeMe = "me"

// Handling is what people do with a session: who takes care of it, whether it is acknowledged or resolved, and their tags. A session without
// one is open, and its version is zero.
type Handling struct {
	// Session that is handled; it has one handling at most.
	SessionID string `json:"session_id"`
	// How far people are.
	State HandlingState `json:"state"`
	// Name of the person who takes care of it; empty for nobody. It need not be that of a user.
	Assignee string `json:"assignee"`
	// Identity of the assignee, as in Person, if they took the session themselves; empty if somebody wrote a name, and for nobody.
	AssigneeID string `json:"assignee_id"`
	// Who acknowledged the session, as in Session.Author, and when. Empty and nil while it is open, and if it was resolved at once.
	AcknowledgedBy string     `json:"acknowledged_by"`
	AcknowledgedAt *time.Time `json:"acknowledged_at"`
	// Who resolved the session and when. Empty and nil unless it is resolved.
	ResolvedBy string     `json:"resolved_by"`
	ResolvedAt *time.Time `json:"resolved_at"`
	// What resolved it, with secrets masked; may be empty, and always is unless the session is resolved.
	Resolution string `json:"resolution"`
	// People's labels, sorted by TagKey, each at most once; empty, not nil. Labels are those of the alert.
	Tags []string `json:"tags"`
	// Counts the changes, for If-Match.
	Version int64 `json:"version"`
	// When it was changed last, and by whom; nil and empty if nobody has changed anything.
	UpdatedAt *time.Time `json:"updated_at"`
	UpdatedBy string     `json:"updated_by"`
}

// HandlingChange is what somebody changes in the handling of a session. What is nil stays as it is.
type HandlingChange struct {
	// The new state. A session that is in it already stays as it is: the first who acknowledges or resolves it is recorded.
	State *HandlingState
	// The new assignee; empty for nobody, AssigneeMe for the caller.
	Assignee *string
	// Identity of the new assignee; empty unless it is the caller.
	AssigneeID string
	// What resolved the session. Only a resolved session has it.
	Resolution *string
	// Replaces all tags.
	SetTags *[]string
	// Added to and removed from the tags that the session has then, so that changes of several people merge. Tags that are in both are removed.
	AddTags    []string
	RemoveTags []string
}

// Empty reports whether nothing is to be changed.
func (c HandlingChange) Empty() bool {
	return c.State == nil && c.Assignee == nil && c.Resolution == nil && c.SetTags == nil && len(c.AddTags) == 0 && len(c.RemoveTags) == 0
}

// NewHandling is the handling of a session that nobody has handled.
func NewHandling(sessionID string) Handling {
	return Handling{SessionID: sessionID, State: HandlingOpen, Tags: []string{}}
}

// HandlingResult is the outcome of one change of many.
type HandlingResult struct {
	// The session.
	SessionID string `json:"session_id"`
	// The handling after the change; nil if it failed.
	Handling *Handling `json:"handling"`
	// Something was changed. The same change again changes nothing.
	Changed bool `json:"changed"`
	// Why it failed; empty if it did not.
	Code    Code   `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Describe says in a few words how far people are and by whom, such as "resolved by ana". The name is text from outside.
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

// TagKey is what tags are compared and sorted by: their case does not count.
func TagKey(tag string) string { return strings.ToLower(tag) }

// Change returns the handling after a change that author makes at a time. A change without effect returns it as it is. The change has been
// checked; what depends on the handling is checked here.
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

// inState is the handling in another state; nil and the state that it has change nothing.
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

// tags are the tags after the change. A tag that is set again keeps its case; one that is replaced takes the new one.
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

// same reports whether two handlings of a session say the same. State, assignee, resolution and tags decide all else.
func (h Handling) same(other Handling) bool {
	return h.State == other.State && h.Assignee == other.Assignee && h.AssigneeID == other.AssigneeID &&
		h.Resolution == other.Resolution && slices.Equal(h.Tags, other.Tags)
}
