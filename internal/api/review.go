package api

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/notebook"
)

// maxBulk is how many items one request can decide.
const maxBulk = 100

type reviewListInput struct {
	Kinds     string     `doc:"Kinds, separated by commas."                                                           query:"kind"`
	Statuses  string     `doc:"Statuses, separated by commas. If only open is selected, the oldest items come first." query:"status"`
	ProjectID identifier `doc:"Items of this project: the project of the entity, the one proposed for it, or that of the new epic." query:"project_id"`
	NoteID    identifier `doc:"Items of this note."                                                                   query:"note_id"`
	EntityID  identifier `doc:"Items about this entity."                                                              query:"entity_id"`
	Limit     integer    `doc:"Maximum number of items per page."                                                     query:"limit"`
	Cursor    cursor     `doc:"The next_cursor of the previous page."                                                 query:"cursor"`
}

type reviewListOutput struct{ Body reviewList }

type reviewList struct {
	Items      []notebook.ReviewDetail `json:"items"`
	NextCursor string                  `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
	Total      int                     `doc:"Number of items that match, over all pages." json:"total"`
	OpenCount  int                     `doc:"Number of open items, including those that do not match." json:"open_count"`
}

type reviewInput struct {
	ID string `doc:"The id of a review item." path:"id"`
}

type resolveInput struct {
	ID      string  `doc:"The id of a review item." path:"id"`
	IfMatch ifMatch `doc:"The ETag of the version that you decide. Without it the response is 428; if the item has changed since, 412." header:"If-Match" required:"true"`
}

type reviewOutput struct {
	ETag string `doc:"The version, for If-Match." header:"ETag"`
	Body notebook.ReviewDetail
}

// resolveRequest is the body of a decision.
type resolveRequest struct {
	Decision        notebook.Decision `doc:"The decision. Only duplicates can be merged; they cannot be edited, and accepting one merges it too." json:"decision"`
	Entity          *entityRequest    `doc:"With edit of an entity or an assignment: the fields of the entity to change."           json:"entity,omitempty"`
	EpicName        *string           `doc:"With edit of a new epic: its name."                                                     json:"epic_name,omitempty"        maxLength:"200"`
	EpicDescription *string           `doc:"With edit of a new epic: its description."                                              json:"epic_description,omitempty" maxLength:"20000"`
	KeepID          string            `doc:"With merge: the entity to keep; the default is the one that existed before."            json:"keep_id,omitempty"`
	Reason          string            `doc:"The reason; stored with the decision."                                                  json:"reason,omitempty"           maxLength:"2000"`
}

// bulkRequest is the body of one decision on many items.
type bulkRequest struct {
	Decision notebook.Decision `doc:"The decision about each item. Items cannot be edited here."    json:"decision"`
	Reason   string            `doc:"The reason; stored with each decision."                       json:"reason,omitempty" maxLength:"2000"`
	Items    []bulkItem        `doc:"The items. Each item is decided independently of the others." json:"items"        maxItems:"100" minItems:"1"`
}

type bulkItem struct {
	ID      string `doc:"The id of a review item."         json:"id"`
	Version int64  `doc:"The version that the user saw." json:"version"`
}

type bulkOutput struct{ Body bulkResults }

type bulkResults struct {
	Results []notebook.ReviewResult `doc:"One for each item, in the same order." json:"results"`
}

func (n *notes) listReviewItems(ctx context.Context, in *reviewListInput) (*reviewListOutput, error) {
	query := notebook.ReviewQuery{Visible: callerOf(ctx).visible}

	err := readParameters(in, &query)
	if err != nil {
		return nil, err
	}

	query.After, err = readCursor(in.Cursor, validTimeCursor)
	if err != nil {
		return nil, err
	}

	page, err := n.reviews.Items(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("list review items: %w", err)
	}

	out := &reviewListOutput{Body: reviewList{Items: page.Items, Total: page.Total, OpenCount: page.OpenCount}}

	if page.Next != nil {
		out.Body.NextCursor, err = encodeCursor(*page.Next)
	}

	return out, err
}

func (n *notes) getReviewItem(ctx context.Context, in *reviewInput) (*reviewOutput, error) {
	item, err := n.reviews.Item(ctx, in.ID)

	return reviewAnswer(item, "show review item", err)
}

func (n *notes) resolveReviewItem(ctx context.Context, in *resolveInput) (*reviewOutput, error) {
	who := callerOf(ctx)

	version, err := in.IfMatch.version()
	if err != nil {
		return nil, err
	}

	request, err := readRequest[resolveRequest](who.body)
	if err != nil {
		return nil, err
	}

	if request.Decision == "" {
		return nil, missing("decision", "one of "+listed(names(notebook.Decisions())))
	}

	decided := notebook.ReviewResolution{
		ItemID: in.ID, Version: version, Decision: request.Decision, EpicName: request.EpicName, EpicDescription: request.EpicDescription,
		KeepID: request.KeepID, Reason: request.Reason, Author: who.author,
	}
	if request.Entity != nil {
		decided.Entity = new(request.Entity.input())
	}

	item, err := n.reviews.Resolve(ctx, decided)

	return reviewAnswer(item, "decide review item", err)
}

func (n *notes) undoReviewItem(ctx context.Context, in *reviewInput) (*reviewOutput, error) {
	who := callerOf(ctx)

	if who.body != nil {
		if _, err := readRequest[nothing](who.body); err != nil {
			return nil, err
		}
	}

	item, err := n.reviews.Undo(ctx, in.ID, who.author)

	return reviewAnswer(item, "undo decision", err)
}

func (n *notes) resolveReviewItems(ctx context.Context, _ *struct{}) (*bulkOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[bulkRequest](who.body)
	if err != nil {
		return nil, err
	}

	switch {
	case request.Decision == "":
		return nil, missing("decision", "one of "+listed(names(notebook.Decisions())))
	case request.Decision == notebook.DecisionEdit:
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "decision", "items are edited one by one; accept, reject or merge many")
	case len(request.Items) == 0:
		return nil, missing("items", "a list of at least one item")
	case len(request.Items) > maxBulk:
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "items", "items has %d items; at most %d are decided at once", len(request.Items), maxBulk)
	}

	each := make([]notebook.ReviewResolution, len(request.Items))
	for i, item := range request.Items {
		switch {
		case item.ID == "":
			return nil, missing(fmt.Sprintf("items[%d].id", i), "the id of a review item")
		case item.Version == 0:
			return nil, missing(fmt.Sprintf("items[%d].version", i), "the version that the user saw")
		}

		each[i] = notebook.ReviewResolution{
			ItemID: item.ID, Version: item.Version, Decision: request.Decision, Reason: request.Reason, Author: who.author,
		}
	}

	results, err := n.resolveVisible(ctx, who, each)
	if err != nil {
		return nil, err
	}

	return &bulkOutput{Body: bulkResults{Results: results}}, nil
}

// resolveVisible decides items. Items that the caller cannot see are reported as not found.
func (n *notes) resolveVisible(ctx context.Context, who *caller, each []notebook.ReviewResolution) ([]notebook.ReviewResult, error) {
	hidden := make([]error, len(each))
	visible := make([]notebook.ReviewResolution, 0, len(each))

	for i, item := range each {
		switch err := n.teams.checkReview(ctx, who, item.ItemID); {
		case err == nil:
			visible = append(visible, item)
		case tarsy.CodeOf(err) == tarsy.CodeReviewNotFound:
			hidden[i] = err
		default:
			return nil, err
		}
	}

	decided, err := n.reviews.ResolveAll(ctx, visible, func(err error) { n.logger.ErrorContext(ctx, "review item not decided", "error", err) })
	if err != nil {
		return nil, fmt.Errorf("decide review items: %w", err)
	}

	results := make([]notebook.ReviewResult, len(each))

	for i := range each {
		if err := hidden[i]; err != nil {
			results[i] = notebook.ReviewResult{ItemID: each[i].ItemID, Code: tarsy.CodeReviewNotFound, Message: err.Error()}
		} else {
			results[i], decided = decided[0], decided[1:]
		}
	}

	return results, nil
}

func reviewAnswer(item notebook.ReviewDetail, doing string, err error) (*reviewOutput, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}

	return &reviewOutput{ETag: etag(item.Version), Body: item}, nil
}
