package review

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/notebook"
)

// ids is a set of IDs without the empty one.
type ids map[string]bool

func (s ids) add(each ...string) {
	for _, id := range each {
		if id != "" {
			s[id] = true
		}
	}
}

func (s ids) sorted() []string { return slices.Sorted(maps.Keys(s)) }

// details reads everything that belongs to review items, with a few queries for all of them.
func details(ctx context.Context, q store.Querier, items []notebook.ReviewItem) ([]notebook.ReviewDetail, error) {
	var (
		itemIDs, entityIDs, noteIDs = ids{}, ids{}, ids{}
		found                       = make([]notebook.ReviewDetail, 0, len(items))
	)

	for _, item := range items {
		itemIDs.add(item.ID)
		noteIDs.add(store.IDText(item.NoteID))
		entityIDs.add(store.IDText(item.EntityID), item.Proposal.DuplicateOf)
		entityIDs.add(item.Proposal.EntityIDs...)
	}

	entities, err := survivors(ctx, q, entityIDs.sorted())
	if err != nil {
		return nil, err
	}

	notes, err := notesByID(ctx, q, noteIDs.sorted())
	if err != nil {
		return nil, err
	}

	decisions, err := decisionsOf(ctx, q, itemIDs.sorted())
	if err != nil {
		return nil, err
	}

	for _, item := range items {
		detail := notebook.ReviewDetail{ReviewItem: item, Entities: []notebook.EntityDetail{}, Decisions: []notebook.ReviewDecision{}}
		detail.Decisions = append(detail.Decisions, decisions[item.ID]...)

		if entity, ok := entities.byID[store.IDText(item.EntityID)]; ok {
			detail.Entity = &entity
		}

		if item.Kind == notebook.ReviewDuplicate {
			if other, ok := entities.survivor(item.Proposal.DuplicateOf); ok {
				detail.Other = &other
			}
		}

		for _, id := range item.Proposal.EntityIDs {
			if entity, ok := entities.byID[id]; ok {
				detail.Entities = append(detail.Entities, entity)
			}
		}

		if note, ok := notes[store.IDText(item.NoteID)]; ok {
			detail.Note = &note
		}

		found = append(found, detail)
	}

	return found, addPlaces(ctx, q, found)
}

// addPlaces adds the projects and epics that items and their entities refer to.
func addPlaces(ctx context.Context, q store.Querier, found []notebook.ReviewDetail) error {
	projectIDs, epicIDs := ids{}, ids{}
	named := make([][2]ids, len(found))

	for i, detail := range found {
		projects, epics := ids{}, ids{}
		projects.add(store.IDText(detail.ProjectID), detail.Proposal.AssignProjectID)
		epics.add(detail.Proposal.AssignEpicID)

		for _, entity := range concerned(detail) {
			projects.add(store.IDText(entity.ProjectID))
			epics.add(store.IDText(entity.EpicID))
		}

		maps.Copy(projectIDs, projects)
		maps.Copy(epicIDs, epics)

		named[i] = [2]ids{projects, epics}
	}

	projects, err := store.Projects(ctx, q, `WHERE p.id = ANY($1) ORDER BY p.position, p.id`, projectIDs.sorted())
	if err != nil {
		return fmt.Errorf("read projects of review items: %w", err)
	}

	epics, err := store.Epics(ctx, q, `WHERE e.id = ANY($1) ORDER BY e.position, e.id`, epicIDs.sorted())
	if err != nil {
		return fmt.Errorf("read epics of review items: %w", err)
	}

	for i := range found {
		found[i].Projects, found[i].Epics = []notebook.Project{}, []notebook.Epic{}

		for _, project := range projects {
			if named[i][0][project.ID] {
				found[i].Projects = append(found[i].Projects, project)
			}
		}

		for _, epic := range epics {
			if named[i][1][epic.ID] {
				found[i].Epics = append(found[i].Epics, epic)
			}
		}
	}

	return nil
}

// concerned returns the entities of an item.
func concerned(detail notebook.ReviewDetail) []notebook.EntityDetail {
	entities := slices.Clone(detail.Entities)
	if detail.Entity != nil {
		entities = append(entities, *detail.Entity)
	}

	if detail.Other != nil {
		entities = append(entities, *detail.Other)
	}

	return entities
}

func notesByID(ctx context.Context, q store.Querier, noteIDs []string) (map[string]notebook.Note, error) {
	rows, err := q.Query(ctx, `SELECT `+postgres.ColumnsOf[notebook.Note]().List()+` FROM notes WHERE id = ANY($1)`, noteIDs)
	if err != nil {
		return nil, fmt.Errorf("read notes of review items: %w", err)
	}

	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[notebook.Note])
	if err != nil {
		return nil, fmt.Errorf("read notes of review items: %w", err)
	}

	notes := make(map[string]notebook.Note, len(found))
	for _, note := range found {
		notes[note.ID] = note
	}

	return notes, nil
}

// decisionsOf returns the decisions on items, oldest first, by item ID.
func decisionsOf(ctx context.Context, q store.Querier, itemIDs []string) (map[string][]notebook.ReviewDecision, error) {
	rows, err := q.Query(ctx, `
		SELECT `+postgres.ColumnsOf[notebook.ReviewDecision]().List()+` FROM review_decisions WHERE item_id = ANY($1) ORDER BY decided_at, id`, itemIDs)
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}

	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[notebook.ReviewDecision])
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}

	decisions := map[string][]notebook.ReviewDecision{}
	for _, decision := range found {
		decisions[decision.ItemID] = append(decisions[decision.ItemID], decision)
	}

	return decisions, nil
}
