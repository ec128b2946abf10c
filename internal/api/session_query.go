package api

import (
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// filter converts the parameters of the session list to a filter. "Me" is the caller.
func (in *listInput) filter(caller tarsy.Person) (tarsy.SessionFilter, error) {
	f, err := readSessionFilter(in)
	if err != nil {
		return f, err
	}

	if len(f.Handling) == len(tarsy.HandlingStates()) {
		f.Handling = nil
	}

	if f.Assignee == tarsy.AssigneeMe {
		f.Assignee, f.AssigneeID = caller.Name, caller.ID
	}

	if in.Cursor != "" {
		f.After, err = parseCursor(string(in.Cursor), f.Order)
	}

	return f, err
}

// readSessionFilter reads the parameters of the session list, or those of them in a request's body.
func readSessionFilter(in any) (tarsy.SessionFilter, error) {
	f := tarsy.SessionFilter{Order: tarsy.OrderNewest, Limit: maxLimit}

	err := readParameters(in, &f)
	if f.Search != "" {
		f.Order = tarsy.OrderRelevance
	}

	return f, err
}

// formatCursor encodes the position after an item.
func formatCursor(last tarsy.SessionItem, order tarsy.SessionOrder) (string, error) {
	return encodeCursor(*cursorAfter(last, order))
}

func cursorAfter(last tarsy.SessionItem, order tarsy.SessionOrder) *tarsy.SessionCursor {
	cursor := &tarsy.SessionCursor{CreatedAt: last.CreatedAt, ID: last.ID}

	switch order {
	case tarsy.OrderAttention:
		cursor.Rank = new(last.Rank())
	case tarsy.OrderRelevance:
		cursor.Tier = &last.Match.Tier
	case tarsy.OrderNewest:
	}

	return cursor
}

// parseCursor decodes a position in a list. It is only valid for the order it was created with.
func parseCursor(text string, order tarsy.SessionOrder) (*tarsy.SessionCursor, error) {
	wrong := tarsy.FieldErrorf(tarsy.CodeInvalidCursor, "cursor",
		"cursor must be the next_cursor of the previous page, unchanged, and the order must be the same")

	var cursor tarsy.SessionCursor

	if !decodeCursor(text, &cursor) || cursor.CreatedAt.IsZero() || !ident.Valid(cursor.ID) ||
		(cursor.Rank != nil) != (order == tarsy.OrderAttention) || cursor.Rank != nil && !isRank(*cursor.Rank) ||
		(cursor.Tier != nil) != (order == tarsy.OrderRelevance) || cursor.Tier != nil && *cursor.Tier != 0 && *cursor.Tier != 1 {
		return nil, wrong
	}

	return &cursor, nil
}

func isRank(rank int) bool {
	return rank == tarsy.RankApproval || slices.ContainsFunc(tarsy.SessionStatuses(), func(status tarsy.SessionStatus) bool { return status.Rank() == rank })
}
