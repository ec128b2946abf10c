package notebook

import (
	"time"

	"tarsy.dev/tarsy"
)

// ProjectStatus is whether a project is in use.
type ProjectStatus string

// The statuses of projects. The pipeline files nothing under an archived one.
const (
	ProjectActive   ProjectStatus = "active"
	ProjectArchived ProjectStatus = "archived"
)

// Project is a collection that entities are filed under.
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

// ProjectStatuses lists every status.
func ProjectStatuses() []ProjectStatus { return []ProjectStatus{ProjectActive, ProjectArchived} }

// ProjectDetail is a project with its epics.
type ProjectDetail struct {
	Project

	// In their order.
	Epics []Epic `json:"epics"`
	// Number of accepted entities that are neither done nor dropped, and of all accepted entities.
	OpenCount  int `json:"open_count"`
	TotalCount int `json:"total_count"`
}

// EpicStatus is whether an epic is finished.
type EpicStatus string

// The statuses of epics. The pipeline files nothing under one that is done.
const (
	EpicOpen EpicStatus = "open"
	EpicDone EpicStatus = "done"
)

// EpicStatuses lists every status.
func EpicStatuses() []EpicStatus { return []EpicStatus{EpicOpen, EpicDone} }

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

// ProjectQuery selects projects in their order.
type ProjectQuery struct {
	// Empty fields match every project.
	Statuses []ProjectStatus
	// Part of the name or description of the project or of one of its epics, ignoring case.
	Search string
	// The last project of the previous page; nil starts with the first.
	After *PlaceCursor
	// Maximum number of projects.
	Limit int
}

// PlaceCursor is a position in a manually ordered list.
type PlaceCursor struct {
	// Identify the last row before the position. The ID breaks ties.
	Position float64 `json:"p"`
	ID       string  `json:"i"`
}

// ProjectPage is a page of projects.
type ProjectPage struct {
	// In their order.
	Projects []ProjectDetail
	// Start of the next page; nil on the last one.
	Next *PlaceCursor
	// How many projects match in all pages.
	Total int
}

// ProjectInput is a person's input about a project: creating one requires the name, changing one sets the fields that are not nil.
type ProjectInput struct {
	// Same as in Project.
	Name        *string
	Description *string
	Status      *ProjectStatus
	// A neighbour in the list; at most one of them is set. Without one, a project keeps its position and a new one is appended.
	BeforeID string
	AfterID  string
}

// EpicInput is a person's input about an epic: creating one requires the name, changing one sets the fields that are not nil.
type EpicInput struct {
	// Same as in Epic.
	Name        *string
	Description *string
	Status      *EpicStatus
	// A neighbour in the project; at most one of them is set. Without one, an epic keeps its position and a new one is appended.
	BeforeID string
	AfterID  string
}

// Tag is a label of entities.
type Tag struct {
	// Lower case, the identity of the tag.
	Name string `json:"name"`
	// How many accepted entities have it.
	EntityCount int `json:"entity_count"`
}

// TagQuery selects tags in alphabetical order.
type TagQuery struct {
	// Part of the name, ignoring case; empty matches every tag.
	Search string
	// The name of the last tag of the previous page; empty starts with the first.
	After string
	// Maximum number of tags.
	Limit int
	// Sessions that the reader may see. Entities from other sessions do not count, and a tag that only they have is not found.
	Visible tarsy.Visibility
}

// TagPage is a page of tags.
type TagPage struct {
	// In alphabetical order.
	Tags []Tag
	// The name that the next page starts after; empty on the last one.
	Next string
	// How many tags match in all pages.
	Total int
}
