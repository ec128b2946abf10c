package note

import (
	"context"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// suggestedEpic is a new epic for a project: one review item for all entities that would be filed under it.
type suggestedEpic struct {
	place infer.Place
	// open is the review item of an earlier note with the same suggestion; nil if there is none.
	open *notebook.ReviewItem
	// added lists the IDs of this note's entities.
	added []string
}

func (s *suggestedEpic) add(entityID string) { s.added = append(s.added, entityID) }

// suggestion returns the new epic of a place. Names are compared ignoring case, as in the database.
func (f *filing) suggestion(place infer.Place) *suggestedEpic {
	at := slices.IndexFunc(f.suggested, func(s *suggestedEpic) bool {
		return s.place.ProjectID == place.ProjectID && strings.EqualFold(s.place.NewEpicName, place.NewEpicName)
	})
	if at >= 0 {
		return f.suggested[at]
	}

	s := &suggestedEpic{place: place}
	f.suggested = append(f.suggested, s)

	return s
}

// resolveSuggestions looks for existing epics and open suggestions with the names of the new epics. It takes a lock per project, so that
// two notes that concurrently suggest the same epic share one item.
func (f *filing) resolveSuggestions(ctx context.Context) error {
	var projects []string

	for _, place := range f.places {
		if place.NewEpicName != "" && !slices.Contains(projects, place.ProjectID) {
			projects = append(projects, place.ProjectID)
		}
	}

	slices.Sort(projects)

	for _, id := range projects {
		if _, err := f.tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('epics of ' || $1, 0))`, id); err != nil {
			return err
		}
	}

	for i := range f.places {
		if f.places[i].NewEpicName == "" {
			continue
		}

		if err := f.resolveSuggestion(ctx, &f.places[i]); err != nil {
			return err
		}
	}

	return nil
}

func (f *filing) resolveSuggestion(ctx context.Context, place *infer.Place) error {
	existing, err := store.Epics(ctx, f.tx, `WHERE e.project_id = $1 AND lower(e.name) = lower($2) FOR SHARE`, place.ProjectID, place.NewEpicName)
	if err != nil {
		return err
	}

	if len(existing) > 0 {
		// The epic is not new. If it is done, nothing is filed under it, but a second one with its name cannot be created.
		if existing[0].Status == notebook.EpicOpen {
			place.EpicID = existing[0].ID
		}

		place.NewEpicName, place.NewEpicDescription = "", ""

		return nil
	}

	s := f.suggestion(*place)
	if s.open != nil {
		return nil
	}

	open, err := store.ReviewItems(ctx, f.tx, `WHERE r.status = 'open' AND r.kind = 'epic' AND r.project_id = $1
		AND lower(r.proposal->>'epic_name') = lower($2) ORDER BY r.id LIMIT 1 FOR UPDATE`, place.ProjectID, place.NewEpicName)
	if err == nil && len(open) > 0 {
		s.open = &open[0]
	}

	return err
}

// storeSuggestions stores the review items of the new epics that entities are waiting for.
func (f *filing) storeSuggestions(ctx context.Context) error {
	for _, s := range f.suggested {
		var err error

		switch {
		case len(s.added) == 0:
		case s.open != nil:
			s.open.Proposal.EntityIDs = append(s.open.Proposal.EntityIDs, s.added...)
			err = store.UpdateProposal(ctx, f.tx, *s.open)
		default:
			item := f.item(notebook.ReviewEpic, s.place)
			item.ProjectID = &s.place.ProjectID
			item.Proposal = notebook.Proposal{EpicName: s.place.NewEpicName, EpicDescription: s.place.NewEpicDescription, EntityIDs: s.added}
			store.InsertReviewItem(f.tx, item)
		}

		if err != nil {
			return err
		}
	}

	return nil
}
