package infer

import (
	"context"
	"errors"

	"tarsy.dev/tarsy"
)

// OrganizeInput is what the model chooses from.
type OrganizeInput struct {
	// Entities are numbered from one in this order.
	Entities []Unfiled
	// Projects are the active ones with their open epics.
	Projects []ProjectChoice
}

// Unfiled is an entity to organize.
type Unfiled struct {
	Entity tarsy.EntityDetail
	// Candidates are those that may be the same.
	Candidates []Candidate
}

// Candidate is an entity that is similar to another one.
type Candidate struct {
	Entity tarsy.Entity
	// Score is the similarity of their words, from 0 to 1.
	Score float64
}

// ProjectChoice is a project that entities can be filed under.
type ProjectChoice struct {
	Project tarsy.Project
	Epics   []tarsy.Epic
}

// Organization is where entities belong, in the order of OrganizeInput.Entities.
type Organization struct {
	Places []Place
}

// Place is where an entity belongs. Every id is one of the input's.
type Place struct {
	// Empty if it belongs to no project, or to none of its epics.
	ProjectID string
	EpicID    string
	// A new epic of the project; empty if none is suggested. Then EpicID is empty.
	NewEpicName        string
	NewEpicDescription string
	// How sure the model is of project and epic, from 0 to 1.
	Confidence float64
	// One of the candidates; empty if none is the same.
	DuplicateOf string
	// Why; may be empty.
	Reason string
}

// Organize chooses project, epic and duplicates for entities. The error is ErrSchema if the answer cannot be used, also if it names
// something that is not in the input, and otherwise that of the call.
func (m *Model) Organize(ctx context.Context, in OrganizeInput) (Organization, error) {
	return Organization{}, errors.ErrUnsupported
}
