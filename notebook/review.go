package notebook

import (
	"time"

	"tarsy.dev/tarsy"
)

// ReviewKind is the kind of decision that a person must make.
type ReviewKind string

// The kinds of review items.
const (
	// ReviewEntity is an entity that the model was not sure of.
	ReviewEntity ReviewKind = "entity"
	// ReviewAssignment is a project or epic for an entity that the model was not sure of.
	ReviewAssignment ReviewKind = "assignment"
	// ReviewDuplicate is an entity that is likely the same as another one.
	ReviewDuplicate ReviewKind = "duplicate"
	// ReviewEpic is a new epic for a project.
	ReviewEpic ReviewKind = "epic"
)

// ReviewKinds lists every kind.
func ReviewKinds() []ReviewKind {
	return []ReviewKind{ReviewEntity, ReviewAssignment, ReviewDuplicate, ReviewEpic}
}

// ReviewStatus is whether and how an item was decided.
type ReviewStatus string

// The statuses of review items; docs/states.md has the state machine.
const (
	ReviewOpen     ReviewStatus = "open"
	ReviewAccepted ReviewStatus = "accepted"
	ReviewEdited   ReviewStatus = "edited"
	ReviewRejected ReviewStatus = "rejected"
	ReviewMerged   ReviewStatus = "merged"
	// ReviewObsolete no longer needs a decision: its entity was rejected, merged or replaced by a new extraction.
	ReviewObsolete ReviewStatus = "obsolete"
)

// ReviewStatuses lists every status.
func ReviewStatuses() []ReviewStatus {
	return []ReviewStatus{ReviewOpen, ReviewAccepted, ReviewEdited, ReviewRejected, ReviewMerged, ReviewObsolete}
}

// Decision is a person's decision on a review item.
type Decision string

// The decisions. Merge is possible for duplicates only.
const (
	DecisionAccept Decision = "accept"
	// DecisionEdit accepts the proposal with changes.
	DecisionEdit   Decision = "edit"
	DecisionReject Decision = "reject"
	DecisionMerge  Decision = "merge"
)

// Decisions lists every decision.
func Decisions() []Decision {
	return []Decision{DecisionAccept, DecisionEdit, DecisionReject, DecisionMerge}
}

// UndoPeriod is how long after a decision it can be undone.
const UndoPeriod = time.Hour

// ReviewItem is something that a person must decide.
type ReviewItem struct {
	// UUIDv7.
	ID string `json:"id"`
	// What must be decided, and whether it was.
	Kind   ReviewKind   `json:"kind"`
	Status ReviewStatus `json:"status"`
	// The note that led to it.
	NoteID *string `json:"note_id"`
	// The entity that the proposal changes; nil for a new epic.
	EntityID *string `json:"entity_id"`
	// The project of a new epic; nil for the other kinds.
	ProjectID *string `json:"project_id"`
	// The change that is proposed.
	Proposal Proposal `json:"proposal"`
	// Why the model proposes it, in the model's words.
	Reason string `json:"reason"`
	// How sure the model is, from 0 to 1; nil if it does not report it.
	Confidence *float64 `json:"confidence"`
	// How similar a duplicate is, from 0 to 1; nil for the other kinds.
	Score *float64 `json:"score"`
	// UTC.
	CreatedAt time.Time `json:"created_at"`
	// Nil and empty while the item is open.
	ResolvedAt *time.Time `json:"resolved_at"`
	ResolvedBy string     `json:"resolved_by"`
	// Starts at one and grows with each change; the ETag.
	Version int64 `json:"version"`
}

// Proposal is the change that a review item proposes. Which fields are set depends on the item's kind.
type Proposal struct {
	// ReviewAssignment: where the entity would be filed.
	AssignProjectID string `json:"assign_project_id,omitempty"`
	AssignEpicID    string `json:"assign_epic_id,omitempty"`
	// ReviewDuplicate: the entity that is likely the same.
	DuplicateOf string `json:"duplicate_of,omitempty"`
	// ReviewEpic: the new epic, and the entities that would be filed under it.
	EpicName        string   `json:"epic_name,omitempty"`
	EpicDescription string   `json:"epic_description,omitempty"`
	EntityIDs       []string `json:"entity_ids,omitempty"`
}

// ReviewDetail is a review item with everything needed to decide it.
type ReviewDetail struct {
	ReviewItem

	// The entity of the item; nil for a new epic.
	Entity *EntityDetail `json:"entity"`
	// The likely duplicate, or what it was merged into; nil for the other kinds, and if it was deleted.
	Other *EntityDetail `json:"other"`
	// The entities that would be filed under a new epic, oldest first; empty for the other kinds.
	Entities []EntityDetail `json:"entities"`
	// The note that led to it; nil if there is none.
	Note *Note `json:"note"`
	// The projects and epics that the item and the entities refer to, for display.
	Projects []Project `json:"projects"`
	Epics    []Epic    `json:"epics"`
	// Decisions so far, oldest first.
	Decisions []ReviewDecision `json:"decisions"`
}

// ReviewDecision records what a person decided.
type ReviewDecision struct {
	// UUIDv7.
	ID string `json:"id"`
	// The item and the decision.
	ItemID   string   `json:"item_id"`
	Decision Decision `json:"decision"`
	// Who decided, why (may be empty) and when.
	Author    string    `json:"author"`
	Reason    string    `json:"reason"`
	DecidedAt time.Time `json:"decided_at"`
	// Nil and empty unless the decision was undone.
	UndoneAt *time.Time `json:"undone_at"`
	UndoneBy string     `json:"undone_by"`
}

// ReviewResolution is a decision to apply.
type ReviewResolution struct {
	// The item, and the version that the person saw.
	ItemID  string
	Version int64
	// What is decided.
	Decision Decision
	// With DecisionEdit on an entity or assignment: changes to the entity.
	Entity *EntityInput
	// With DecisionEdit on a new epic: its name and description.
	EpicName        *string
	EpicDescription *string
	// With DecisionMerge: the entity to keep; empty keeps the proposed duplicate.
	KeepID string
	// Why; may be empty.
	Reason string
	// Who decides.
	Author string
}

// ReviewQuery selects review items: oldest first if only open ones are selected, otherwise newest first.
type ReviewQuery struct {
	// Empty fields, here and below, match every item.
	Kinds    []ReviewKind
	Statuses []ReviewStatus
	// The project of a new epic, of the entity, or the one proposed for the entity.
	ProjectID string
	// What the items are about.
	NoteID   string
	EntityID string
	// The last item of the previous page; nil starts with the first.
	After *TimeCursor
	// Maximum number of items.
	Limit int
	// Sessions that the reader may see; items from other sessions are not found.
	Visible tarsy.Visibility
}

// ReviewPage is a page of review items.
type ReviewPage struct {
	// In the order of the query.
	Items []ReviewDetail
	// Start of the next page; nil on the last one.
	Next *TimeCursor
	// How many items match in all pages, and how many are open in total.
	Total     int
	OpenCount int
}

// ReviewResult is the outcome of one decision in a batch.
type ReviewResult struct {
	// The item.
	ItemID string `json:"item_id"`
	// The item after the decision; nil if it failed.
	Item *ReviewItem `json:"item"`
	// Why it failed; empty if it did not.
	Code    tarsy.Code `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
}
