package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// maxReason is the maximum length of the reason for a decision, in characters.
const maxReason = 2000

// Resolve decides a review item. If several people decide concurrently, one wins and the others get review_resolved.
func (s *Service) Resolve(ctx context.Context, in notebook.ReviewResolution) (notebook.ReviewDetail, error) {
	if _, err := s.resolve(ctx, in); err != nil {
		return notebook.ReviewDetail{}, err
	}

	return s.Item(ctx, in.ItemID)
}

// ResolveAll decides many items independently: a failure does not prevent the others from being decided. log receives the errors that are
// not meant for people. Each decided item gets a row in the audit log. If a decision or a reason is invalid, nothing is decided.
func (s *Service) ResolveAll(ctx context.Context, each []notebook.ReviewResolution, log func(error)) ([]notebook.ReviewResult, error) {
	results := make([]notebook.ReviewResult, len(each))

	for _, in := range each {
		if _, err := s.checked(in); err != nil {
			return nil, err
		}
	}

	for i, in := range each {
		results[i].ItemID = in.ItemID

		item, err := s.resolve(audit.Each(ctx, in.ItemID), in)
		if err == nil {
			results[i].Item = &item

			continue
		}

		results[i].Code, results[i].Message = tarsy.CodeInternal, "Something went wrong in the server; its log has the cause."

		if e, ok := errors.AsType[*tarsy.Error](err); ok && e.Code != tarsy.CodeInternal {
			results[i].Code, results[i].Message = e.Code, e.Message
		} else {
			log(err)
		}
	}

	return results, nil
}

// checked checks what is right or wrong for any item, and masks the reason.
func (s *Service) checked(in notebook.ReviewResolution) (notebook.ReviewResolution, error) {
	if !slices.Contains(notebook.Decisions(), in.Decision) {
		return in, tarsy.FieldErrorf(tarsy.CodeInvalidField, "decision", "decision must be accept, edit, reject or merge")
	}

	var err error

	in.Reason, err = store.Body("reason", in.Reason, maxReason, s.mask)

	return in, err
}

func (s *Service) resolve(ctx context.Context, in notebook.ReviewResolution) (notebook.ReviewItem, error) {
	in, err := s.checked(in)
	if err != nil {
		return notebook.ReviewItem{}, err
	}

	audit.Detail(ctx, "decision", string(in.Decision))

	var resolved notebook.ReviewItem

	err = s.change(ctx, func(tx *store.Tx) error {
		item, err := readItem(ctx, tx, in.ItemID)
		if err != nil {
			return err
		}

		if err := checkInput(item, in); err != nil {
			return err
		}

		d := &decision{tx: tx, mask: s.mask, in: in}
		if err := d.lock(ctx, item); err != nil {
			return err
		}

		resolved, err = d.decide(ctx)

		return err
	})

	return resolved, err
}

// checkInput rejects decisions and fields that do not apply to the kind of the item and would be ignored.
func checkInput(item notebook.ReviewItem, in notebook.ReviewResolution) error { //nolint:cyclop // a flat table
	duplicate, edit := item.Kind == notebook.ReviewDuplicate, in.Decision == notebook.DecisionEdit
	wrong := func(field, format string, args ...any) error {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, field, format, args...)
	}

	switch {
	case in.Decision == notebook.DecisionMerge && !duplicate:
		return wrong("decision", "only duplicates can be merged; accept, edit or reject this item")
	case edit && duplicate:
		return wrong("decision", "a duplicate cannot be edited; accept, merge or reject it")
	case in.KeepID != "" && in.Decision != notebook.DecisionMerge:
		return wrong("keep_id", "keep_id is for the decision merge only")
	case in.Entity != nil && (!edit || item.Kind == notebook.ReviewEpic):
		return wrong("entity", "entity is for the decision edit of an entity or an assignment only")
	case (in.EpicName != nil || in.EpicDescription != nil) && (!edit || item.Kind != notebook.ReviewEpic):
		return wrong("epic_name", "epic_name and epic_description are for the decision edit of a new epic only")
	case edit && in.Entity == nil && item.Kind != notebook.ReviewEpic:
		return tarsy.FieldErrorf(tarsy.CodeMissingField, "entity", "entity is missing; it must be the fields to change")
	case edit && in.EpicName == nil && in.EpicDescription == nil && item.Kind == notebook.ReviewEpic:
		return tarsy.FieldErrorf(tarsy.CodeMissingField, "epic_name", "epic_name is missing; send epic_name or epic_description")
	default:
		return nil
	}
}

// checkOpen returns an error if an item cannot be decided.
func checkOpen(item notebook.ReviewItem, version int64) error {
	switch item.Status {
	case notebook.ReviewOpen:
		return store.CheckVersion(version, item.Version)
	case notebook.ReviewObsolete:
		return tarsy.Errorf(tarsy.CodeReviewResolved, "the review item needs no decision any more: its entity was rejected, merged or replaced")
	default:
		return tarsy.Errorf(tarsy.CodeReviewResolved, "the review item was %s by %s at %s; undo that to decide again",
			item.Status, item.ResolvedBy, item.ResolvedAt.UTC().Format(time.RFC3339))
	}
}

// decision is one decision in its transaction. It locks the rows and records their previous state.
type decision struct {
	tx   *store.Tx
	mask func(string) string
	in   notebook.ReviewResolution

	item     notebook.ReviewItem
	entities map[string]notebook.EntityDetail

	before before
	after  after
}

// lock locks the item's entities and then the item, the order of all decisions, and checks that it can be decided.
func (d *decision) lock(ctx context.Context, item notebook.ReviewItem) error {
	wanted := ids{}
	wanted.add(store.IDText(item.EntityID))
	wanted.add(item.Proposal.EntityIDs...)

	if item.Kind == notebook.ReviewDuplicate {
		more, err := mergeCandidates(ctx, d.tx, item)
		if err != nil {
			return err
		}

		wanted.add(more...)
	}

	locked, err := store.LockEntities(ctx, d.tx, wanted.sorted()...)
	if err != nil {
		return fmt.Errorf("lock entities: %w", err)
	}

	d.entities = make(map[string]notebook.EntityDetail, len(locked))
	for _, entity := range locked {
		d.entities[entity.ID] = entity
	}

	// An item is deleted with its entity, so one that was deleted in the meantime is not found here.
	if d.item, err = store.LockReviewItem(ctx, d.tx, item.ID); err != nil {
		return err
	}

	return checkOpen(d.item, d.in.Version)
}

// decide applies the decision and records it.
func (d *decision) decide(ctx context.Context) (notebook.ReviewItem, error) {
	status, err := d.apply(ctx)
	if err != nil {
		return d.item, err
	}

	item, err := store.ResolveReviewItem(ctx, d.tx, d.item, status, d.in.Author)
	if err != nil {
		return item, fmt.Errorf("resolve review item: %w", err)
	}

	d.tx.Emit(store.ReviewEvent(notebook.TypeReviewResolved, item, d.in.Author))

	return item, d.record(ctx)
}

func (d *decision) apply(ctx context.Context) (notebook.ReviewStatus, error) {
	switch d.item.Kind {
	case notebook.ReviewEntity:
		return d.resolveEntity(ctx)
	case notebook.ReviewAssignment:
		return d.assign(ctx)
	case notebook.ReviewDuplicate:
		if d.in.Decision == notebook.DecisionReject {
			return notebook.ReviewRejected, nil
		}

		return notebook.ReviewMerged, d.merge(ctx)
	case notebook.ReviewEpic:
		return d.createEpic(ctx)
	default:
		return "", fmt.Errorf("unknown kind of review item: %q", d.item.Kind)
	}
}
