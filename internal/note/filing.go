package note

import (
	"context"
	"slices"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// filing stores the result of organizing a note. It is used once, within a transaction.
type filing struct {
	tx         *store.Tx
	note       notebook.Note
	confidence float64
	in         infer.OrganizeInput
	// places has the same order as the input's entities.
	places []infer.Place
	// suggested lists the new epics, ordered by their first entity.
	suggested []*suggestedEpic
}

// run returns how many entities were organized. It locks projects and epics, then review items, then entities. People's decisions lock in
// another order; store.DB.Change retries deadlocks.
func (f *filing) run(ctx context.Context) (int, error) {
	if err := f.lockPlaces(ctx); err != nil {
		return 0, err
	}

	if err := f.resolveSuggestions(ctx); err != nil {
		return 0, err
	}

	var ids []string

	for i, u := range f.in.Entities {
		ids = append(ids, u.Entity.ID)
		if f.places[i].DuplicateOf != "" {
			ids = append(ids, f.places[i].DuplicateOf)
		}
	}

	// Lock the likely duplicates too, so that of two organizations that find each other's entity the second one sees the first.
	locked, err := store.LockEntityRows(ctx, f.tx, ids...)
	if err != nil {
		return 0, err
	}

	byID := make(map[string]notebook.Entity, len(locked))
	for _, e := range locked {
		byID[e.ID] = e
	}

	organized := 0

	for i, u := range f.in.Entities {
		entity, exists := byID[u.Entity.ID]
		if !exists || !counts(entity) || entity.OrganizedAt != nil {
			continue
		}

		other, exists := byID[f.places[i].DuplicateOf]
		if !exists || !counts(other) {
			f.places[i].DuplicateOf = ""
		}

		if err := f.organize(ctx, i, entity); err != nil {
			return 0, err
		}

		organized++
	}

	return organized, f.storeSuggestions(ctx)
}

// lockPlaces checks that projects and epics are still open, and locks them so that they remain open.
func (f *filing) lockPlaces(ctx context.Context) error {
	var projects, epics []string

	for _, place := range f.places {
		if place.ProjectID != "" {
			projects = append(projects, place.ProjectID)
		}

		if place.EpicID != "" {
			epics = append(epics, place.EpicID)
		}
	}

	slices.Sort(projects)
	projects = slices.Compact(projects)

	slices.Sort(epics)
	epics = slices.Compact(epics)

	if len(projects) > 0 {
		open, err := store.Projects(ctx, f.tx, `WHERE p.id = ANY($1) AND p.status = 'active' ORDER BY p.id FOR SHARE`, projects)
		if err != nil {
			return err
		}

		if len(open) < len(projects) {
			return errPlaceClosed
		}
	}

	if len(epics) > 0 {
		open, err := store.Epics(ctx, f.tx, `WHERE e.id = ANY($1) AND e.status = 'open' ORDER BY e.id FOR SHARE`, epics)
		if err != nil {
			return err
		}

		if len(open) < len(epics) {
			return errPlaceClosed
		}
	}

	return nil
}

// organize files one entity, or leaves the decision to a person.
func (f *filing) organize(ctx context.Context, i int, entity notebook.Entity) error {
	place := f.places[i]
	// Keep the project if a person filed the entity in the meantime.
	proposes := place.ProjectID != "" && entity.ProjectID == nil
	sure := place.Confidence >= f.confidence

	if proposes && sure {
		entity.ProjectID = &place.ProjectID
		if place.EpicID != "" {
			entity.EpicID = &place.EpicID
		}
	}

	entity.OrganizedAt = &f.tx.Now

	entity = store.UpdateEntity(f.tx, entity)
	f.tx.Emit(store.EntityEvent(notebook.TypeEntityOrganized, entity, ""))

	if proposes && !sure {
		item := f.item(notebook.ReviewAssignment, place)
		item.EntityID = &entity.ID
		item.Proposal = notebook.Proposal{AssignProjectID: place.ProjectID, AssignEpicID: place.EpicID}
		store.InsertReviewItem(f.tx, item)
	}

	if proposes && place.NewEpicName != "" {
		f.suggestion(place).add(entity.ID)
	}

	return f.proposeDuplicate(ctx, i, entity)
}

// proposeDuplicate creates a review item for a likely duplicate, unless one for the same pair is already open.
func (f *filing) proposeDuplicate(ctx context.Context, i int, entity notebook.Entity) error {
	place := f.places[i]
	if place.DuplicateOf == "" {
		return nil
	}

	open, err := store.ReviewItems(ctx, f.tx, `WHERE r.status = 'open' AND r.kind = 'duplicate'
		AND (r.entity_id = $1 AND r.proposal->>'duplicate_of' = $2::text OR r.entity_id = $2::uuid AND r.proposal->>'duplicate_of' = $1::text)`,
		entity.ID, place.DuplicateOf)
	if err != nil || len(open) > 0 {
		return err
	}

	candidates := f.in.Entities[i].Candidates
	at := slices.IndexFunc(candidates, func(c infer.Candidate) bool { return c.Entity.ID == place.DuplicateOf })

	item := f.item(notebook.ReviewDuplicate, place)
	item.EntityID = &entity.ID
	item.Proposal = notebook.Proposal{DuplicateOf: place.DuplicateOf}
	item.Score = &candidates[at].Score
	// The confidence in the answer applies to the place.
	item.Confidence = nil

	store.InsertReviewItem(f.tx, item)

	return nil
}

// item returns a new review item about a place.
func (f *filing) item(kind notebook.ReviewKind, place infer.Place) notebook.ReviewItem {
	return notebook.ReviewItem{
		ID: ident.New(), Kind: kind, Status: notebook.ReviewOpen, NoteID: &f.note.ID, Reason: place.Reason, Confidence: &place.Confidence,
		CreatedAt: f.tx.Now, Version: 1,
	}
}
