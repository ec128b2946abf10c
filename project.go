package tarsy

import "time"

// ProjectStatus tells whether a project is in use.
type ProjectStatus string

// The statuses of projects. The pipeline files nothing under an archived one.
const (
	ProjectActive   ProjectStatus = "active"
	ProjectArchived ProjectStatus = "archived"
)

// Project is what entities are filed under.
type Project struct {
	// UUIDv7.
	ID string `json:"id"`
	// Unique, ignoring case.
	Name string `json:"name"`
	// Read by the model that files entities; may be empty.
	Description string `json:"description"`
	// Whether it is in use.
	Status ProjectStatus `json:"status"`
	// Order in lists, smallest first.
	Position float64 `json:"position"`
	// Who created it.
	CreatedBy string `json:"created_by"`
	// UTC.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Starts at one and grows with each change; the ETag.
	Version int64 `json:"version"`
}

// ProjectDetail is a project with its epics.
type ProjectDetail struct {
	Project

	// In their order.
	Epics []Epic `json:"epics"`
	// How many accepted entities are not done or dropped, and how many there are.
	OpenCount  int `json:"open_count"`
	TotalCount int `json:"total_count"`
}

// EpicStatus tells whether an epic is finished.
type EpicStatus string

// The statuses of epics. The pipeline files nothing under one that is done.
const (
	EpicOpen EpicStatus = "open"
	EpicDone EpicStatus = "done"
)

// Epic is a part of a project.
type Epic struct {
	// UUIDv7.
	ID string `json:"id"`
	// The project it belongs to.
	ProjectID string `json:"project_id"`
	// Unique in its project, ignoring case.
	Name string `json:"name"`
	// Read by the model that files entities; may be empty.
	Description string `json:"description"`
	// Whether it is finished.
	Status EpicStatus `json:"status"`
	// Order in the project, smallest first.
	Position float64 `json:"position"`
	// Who created it.
	CreatedBy string `json:"created_by"`
	// UTC.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Starts at one and grows with each change; the ETag.
	Version int64 `json:"version"`
}

// Tag is a label of entities.
type Tag struct {
	// Lower case, the identity of the tag.
	Name string `json:"name"`
	// How many accepted entities have it.
	EntityCount int `json:"entity_count"`
}
