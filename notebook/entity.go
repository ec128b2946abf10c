package notebook

import (
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
)

// EntityType is the kind of thing that was extracted from a note.
type EntityType string

// The types of entities.
const (
	EntityTask     EntityType = "task"
	EntityDecision EntityType = "decision"
	EntityQuestion EntityType = "question"
	EntityRisk     EntityType = "risk"
	EntityInsight  EntityType = "insight"
)

// EntityTypes lists every type.
func EntityTypes() []EntityType {
	return []EntityType{EntityTask, EntityDecision, EntityQuestion, EntityRisk, EntityInsight}
}

// EntityStatus is the progress of the work that an entity describes, which is its column of the board.
type EntityStatus string

// The statuses of entities. People can change them in any order.
const (
	EntityOpen       EntityStatus = "open"
	EntityInProgress EntityStatus = "in_progress"
	EntityDone       EntityStatus = "done"
	EntityDropped    EntityStatus = "dropped"
)

// EntityStatuses lists every status in the order of the board.
func EntityStatuses() []EntityStatus {
	return []EntityStatus{EntityOpen, EntityInProgress, EntityDone, EntityDropped}
}

// EntityState is whether an entity was accepted.
type EntityState string

// The states of entities; docs/states.md has the state machine.
const (
	// EntityProposed waits for a person to decide, because the model was not sure.
	EntityProposed EntityState = "proposed"
	// EntityAccepted is on the board.
	EntityAccepted EntityState = "accepted"
	// EntityRejected was refused by a person.
	EntityRejected EntityState = "rejected"
	// EntityMerged is a duplicate that a person merged into another entity.
	EntityMerged EntityState = "merged"
)

// EntityStates lists every state.
func EntityStates() []EntityState {
	return []EntityState{EntityProposed, EntityAccepted, EntityRejected, EntityMerged}
}

// Entity is a task, decision, question, risk or insight.
type Entity struct {
	// UUIDv7.
	ID string `json:"id"`
	// The note that it was extracted from, and that note's version; nil and zero if a person created it.
	NoteID      *string `json:"note_id"`
	NoteVersion int64   `json:"note_version"`
	// The session of the note.
	SessionID *string `json:"session_id"`
	// What kind of thing it is.
	Type EntityType `json:"type"`
	// One line, never empty.
	Title string `json:"title"`
	// More about it; may be empty.
	Content string `json:"content"`
	// Who is responsible, as written in the note; empty if no one is.
	Owner string `json:"owner"`
	// When it is due, as YYYY-MM-DD; nil if no date is known.
	DueOn *calendar.Date `json:"due_on"`
	// Progress of the work.
	Status EntityStatus `json:"status"`
	// Whether it was accepted.
	State EntityState `json:"state"`
	// How sure the model was, from 0 to 1; nil if a person created it.
	Confidence *float64 `json:"confidence"`
	// Where it is filed. An epic belongs to the project.
	ProjectID *string `json:"project_id"`
	EpicID    *string `json:"epic_id"`
	// Order within a column of the board, smallest first.
	Position float64 `json:"position"`
	// The entity that it was merged into; nil unless State is EntityMerged.
	MergedInto *string `json:"merged_into"`
	// "tarsy" if it was extracted.
	CreatedBy string `json:"created_by"`
	// The last person who created, accepted, edited or moved it; empty if no one has. Reprocessing keeps entities with an editor.
	EditedBy string `json:"edited_by"`
	// UTC.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Nil until the pipeline has looked for a project, an epic and duplicates.
	OrganizedAt *time.Time `json:"organized_at"`
	// Starts at one and grows with each change; the ETag.
	Version int64 `json:"version"`
}

// EntityDetail is an entity with its tags and sources.
type EntityDetail struct {
	Entity

	// In alphabetical order.
	Tags []string `json:"tags"`
	// The passages it came from.
	Sources []EntitySource `json:"sources"`
}

// EntitySource is a passage of a note that an entity came from.
type EntitySource struct {
	// The entity and the note.
	EntityID string `json:"entity_id"`
	NoteID   string `json:"note_id"`
	// The words, exactly as in the note.
	Quote string `json:"quote"`
	// Where they are in the note, in UTF-16 units.
	StartOffset int `json:"start_offset"`
	EndOffset   int `json:"end_offset"`
}

// EntityQuery selects entities, newest first, or in the order of the board.
type EntityQuery struct {
	// Empty fields, here and below, match every entity.
	Types    []EntityType
	Statuses []EntityStatus
	States   []EntityState
	// Where they are filed.
	ProjectID string
	EpicID    string
	// Where they come from: a note that is one of their sources, or a session.
	NoteID    string
	SessionID string
	// Compared ignoring case.
	Owner string
	Tag   string
	// Inclusive; nil for no limit.
	DueFrom *calendar.Date
	DueTo   *calendar.Date
	// Only entities without a project.
	Unfiled bool
	// Words that title or content must contain.
	Search string
	// Sessions that the reader may see; entities from other sessions are not found.
	Visible tarsy.Visibility
	// Order by status, position and ID instead of time.
	Board bool
	// The last entity of the previous page; nil starts with the first.
	After *EntityCursor
	// Maximum number of entities.
	Limit int
}

// EntityCursor is a position in a list of entities.
type EntityCursor struct {
	// Used in the order of time.
	CreatedAt time.Time `json:"t"`
	// Used in the order of the board.
	Status   EntityStatus `json:"s,omitempty"`
	Position float64      `json:"p,omitempty"`
	// Breaks ties.
	ID string `json:"i"`
}

// EntityPage is a page of entities.
type EntityPage struct {
	// In the order of the query.
	Entities []EntityDetail
	// Start of the next page; nil on the last one.
	Next *EntityCursor
	// How many entities match in all pages.
	Total int
}

// EntityInput is a person's input about an entity: creating one sets all fields, changing one sets those that are not nil.
type EntityInput struct {
	// Required to create an entity.
	Type  *EntityType
	Title *string
	// Optional.
	Content *string
	Owner   *string
	// An empty string removes the date.
	DueOn *string
	// Progress and tags. Tags replace all tags of the entity.
	Status *EntityStatus
	Tags   *[]string
	// Where it is filed; an empty string removes it. Changing the project removes an epic of another project.
	ProjectID *string
	EpicID    *string
}

// EntityMove is a new place of an entity on the board. It sets at least one field.
type EntityMove struct {
	// The column; nil keeps it. Without a neighbour the entity is moved to the end of the column.
	Status *EntityStatus
	// The epic, which also sets the project; nil keeps both, an empty string removes the epic only.
	EpicID *string
	// The neighbour, which must already be in the column. At most one of them is set.
	BeforeID string
	AfterID  string
}

// EntityExport is an entity with the names of its project and epic, for readers who cannot look them up.
type EntityExport struct {
	EntityDetail

	// Empty if it is not filed.
	Project string `json:"project"`
	Epic    string `json:"epic"`
}
