package review

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// subject returns the entity of the item. It fails if the entity was rejected or merged, because then there is nothing left to decide.
func (d *decision) subject() (notebook.EntityDetail, error) {
	entity, ok := d.entities[store.IDText(d.item.EntityID)]
	if !ok {
		return entity, errStale
	}

	if entity.State == notebook.EntityRejected || entity.State == notebook.EntityMerged {
		return entity, tarsy.Errorf(tarsy.CodeConflict, "the entity %q has been %s since", entity.Title, entity.State)
	}

	return entity, nil
}

// resolveEntity accepts or rejects a proposed entity.
func (d *decision) resolveEntity(ctx context.Context) (notebook.ReviewStatus, error) {
	entity, err := d.subject()
	if err != nil {
		return "", err
	}

	switch d.in.Decision {
	case notebook.DecisionReject:
		entity.State = notebook.EntityRejected
		d.update(entity)

		// Where it would be filed and what duplicates it no longer matter.
		return notebook.ReviewRejected, d.closeOthers(ctx, `r.entity_id = $1 OR r.kind = 'duplicate' AND r.proposal->>'duplicate_of' = $1::uuid::text`, entity.ID)
	case notebook.DecisionEdit:
		if entity, err = d.edit(ctx, entity, *d.in.Entity); err != nil {
			return "", err
		}

		entity.State = notebook.EntityAccepted
		d.update(entity)

		return notebook.ReviewEdited, nil
	default:
		entity.State = notebook.EntityAccepted
		d.update(entity)

		return notebook.ReviewAccepted, nil
	}
}

// assign files the entity, or leaves it where it is if the proposal is rejected.
func (d *decision) assign(ctx context.Context) (notebook.ReviewStatus, error) {
	entity, err := d.subject()
	if err != nil {
		return "", err
	}

	proposed := notebook.EntityInput{ProjectID: &d.item.Proposal.AssignProjectID}
	if d.item.Proposal.AssignEpicID != "" {
		proposed.EpicID = &d.item.Proposal.AssignEpicID
	}

	switch d.in.Decision {
	case notebook.DecisionReject:
		return notebook.ReviewRejected, nil
	case notebook.DecisionEdit:
		changes := *d.in.Entity
		if changes.ProjectID == nil && changes.EpicID == nil {
			if err := d.checkProposed(ctx); err != nil {
				return "", err
			}

			changes.ProjectID, changes.EpicID = proposed.ProjectID, proposed.EpicID
		}

		if entity, err = d.edit(ctx, entity, changes); err != nil {
			return "", err
		}
		d.update(entity)

		return notebook.ReviewEdited, nil
	default:
		if err := d.checkProposed(ctx); err != nil {
			return "", err
		}

		if entity, err = d.edit(ctx, entity, proposed); err != nil {
			return "", err
		}
		d.update(entity)

		return notebook.ReviewAccepted, nil
	}
}

// checkProposed checks that the proposed project and epic are still in use.
func (d *decision) checkProposed(ctx context.Context) error {
	if err := d.checkProject(ctx, d.item.Proposal.AssignProjectID); err != nil {
		return err
	}

	if d.item.Proposal.AssignEpicID == "" {
		return nil
	}

	epics, err := store.Epics(ctx, d.tx, `WHERE e.id = $1 FOR SHARE`, d.item.Proposal.AssignEpicID)

	switch {
	case err != nil:
		return fmt.Errorf("read the proposed epic: %w", err)
	case len(epics) == 0 || epics[0].ProjectID != d.item.Proposal.AssignProjectID:
		return tarsy.Errorf(tarsy.CodeConflict, "the proposed epic has been deleted since; choose another one or reject the proposal")
	case epics[0].Status != notebook.EpicOpen:
		return tarsy.Errorf(tarsy.CodeConflict, "the proposed epic %q is already done; choose another one or reject the proposal", epics[0].Name)
	default:
		return nil
	}
}

// checkProject checks that a project is still in use, and locks it so that it remains so until the end of the transaction.
func (d *decision) checkProject(ctx context.Context, id string) error {
	projects, err := store.Projects(ctx, d.tx, `WHERE p.id = $1 FOR SHARE`, id)

	switch {
	case err != nil:
		return fmt.Errorf("read the proposed project: %w", err)
	case len(projects) == 0:
		return tarsy.Errorf(tarsy.CodeConflict, "the proposed project has been deleted since; choose another one or reject the proposal")
	case projects[0].Status != notebook.ProjectActive:
		return tarsy.Errorf(tarsy.CodeConflict, "the proposed project %q has been archived since; choose another one or reject the proposal", projects[0].Name)
	default:
		return nil
	}
}

// edit applies a person's changes. Errors name the fields as in the request.
func (d *decision) edit(ctx context.Context, entity notebook.EntityDetail, changes notebook.EntityInput) (notebook.EntityDetail, error) {
	edited, err := store.EditEntity(ctx, d.tx, entity, changes, d.mask)
	if e, ok := err.(*tarsy.Error); ok { //nolint:errorlint // the error of this call
		e.Field = "entity." + e.Field
	}

	return edited, err
}
