package review

import (
	"context"
	"fmt"
	"strings"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// createEpic creates the proposed epic and files its entities under it. If the project already has an epic with that name, it is used.
func (d *decision) createEpic(ctx context.Context) (notebook.ReviewStatus, error) {
	if d.in.Decision == notebook.DecisionReject {
		return notebook.ReviewRejected, nil
	}

	if err := d.checkProject(ctx, store.IDText(d.item.ProjectID)); err != nil {
		return "", err
	}

	status := notebook.ReviewAccepted
	name, description := d.item.Proposal.EpicName, d.item.Proposal.EpicDescription

	if d.in.Decision == notebook.DecisionEdit {
		status = notebook.ReviewEdited

		var err error

		if d.in.EpicName != nil {
			if name, err = store.Name("epic_name", *d.in.EpicName, store.MaxName, d.mask); err != nil {
				return "", err
			}
		}

		if d.in.EpicDescription != nil {
			if description, err = store.Body("epic_description", *d.in.EpicDescription, store.MaxContent, d.mask); err != nil {
				return "", err
			}
		}
	}

	epicID, err := d.epicNamed(ctx, name, description)
	if err != nil {
		return "", err
	}

	for _, id := range d.item.Proposal.EntityIDs {
		entity, ok := d.entities[id]
		if !ok || !d.belongs(entity) {
			continue
		}

		entity.ProjectID, entity.EpicID = d.item.ProjectID, &epicID
		d.update(entity)
	}

	return status, nil
}

// epicNamed returns the epic with a name in the item's project, creating it if there is none.
func (d *decision) epicNamed(ctx context.Context, name, description string) (string, error) {
	existing, err := store.Epics(ctx, d.tx, `WHERE e.project_id = $1 AND lower(e.name) = lower($2) FOR KEY SHARE`, *d.item.ProjectID, name)
	if err != nil {
		return "", fmt.Errorf("look for an epic of the same name: %w", err)
	}

	if len(existing) > 0 {
		return existing[0].ID, nil
	}

	epic := notebook.Epic{
		ID: ident.New(), ProjectID: *d.item.ProjectID, Name: name, Description: strings.TrimSpace(description), Status: notebook.EpicOpen,
		Position: store.PositionAt(d.tx.Now), CreatedBy: d.in.Author, CreatedAt: d.tx.Now, UpdatedAt: d.tx.Now, Version: 1,
	}

	// If another transaction creates it concurrently, the change is retried and finds that one.
	if err := store.InsertEpic(ctx, d.tx, epic); err != nil {
		return "", err
	}

	d.after.EpicID, d.after.EpicVersion = epic.ID, epic.Version

	return epic.ID, nil
}

// belongs reports whether an entity can be filed under the new epic: it was not filed elsewhere in the meantime, nor rejected or merged.
func (d *decision) belongs(entity notebook.EntityDetail) bool {
	counts := entity.State == notebook.EntityProposed || entity.State == notebook.EntityAccepted
	inProject := entity.ProjectID == nil || *entity.ProjectID == *d.item.ProjectID

	return counts && inProject && entity.EpicID == nil
}
