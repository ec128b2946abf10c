package api

import (
	"slices"
	"unicode/utf8"

	"tarsy.dev/tarsy"
)

// EntityFilter are the parameters that choose entities, of lists and exports. Its name begins with a capital because the document leaves
// others out when they are embedded.
type EntityFilter struct {
	Type      string `doc:"Types, separated by commas."                                      query:"type"`
	Status    string `doc:"Statuses, separated by commas."                                   query:"status"`
	State     string `doc:"States, separated by commas: proposed, accepted, rejected, merged." default:"accepted" query:"state"`
	ProjectID string `doc:"Filed under this project."                                        query:"project_id"`
	EpicID    string `doc:"Filed under this epic."                                           query:"epic_id"`
	Unfiled   string `doc:"The value true chooses entities without a project."               enum:"true,false" query:"unfiled"`
	NoteID    string `doc:"With this note as one of their sources."                          query:"note_id"`
	SessionID string `doc:"From notes about this session."                                   query:"session_id"`
	Owner     string `doc:"Exactly this owner, without case."                                query:"owner"`
	Tag       string `doc:"With this tag."                                                   query:"tag"`
	DueFrom   string `doc:"Due on this day or later, as YYYY-MM-DD."                         format:"date" query:"due_from"`
	DueTo     string `doc:"Due on this day or earlier, as YYYY-MM-DD."                       format:"date" query:"due_to"`
	Search    string `doc:"Words that title or content contain."                             query:"q"`
}

type entitiesInput struct {
	EntityFilter

	Order  string  `doc:"The newest first, or the order of the board: by status, then as people ordered them." enum:"newest,board" default:"newest" query:"order"`
	Limit  integer `doc:"How many entities a page has."                                              query:"limit"`
	Cursor string  `doc:"The next_cursor of the previous page, with the same order."                  query:"cursor"`
}

// entityOrder is what comes first in a list of entities.
type entityOrder string

const (
	orderNewest entityOrder = "newest"
	orderBoard  entityOrder = "board"
)

// query turns the parameters of a list into a query.
func (in *entitiesInput) query() (tarsy.EntityQuery, error) {
	q, err := in.filter()
	if err != nil {
		return q, err
	}

	order, err := oneOfParameter("order", in.Order, orderNewest, orderBoard)
	if err != nil {
		return q, err
	}

	q.Board = order == orderBoard

	if q.Limit, err = pageLimit(in.Limit); err != nil || in.Cursor == "" {
		return q, err
	}

	var cursor tarsy.EntityCursor

	if !decodeCursor(in.Cursor, &cursor) || !tarsy.ValidID(cursor.ID) || q.Board != cursor.CreatedAt.IsZero() ||
		q.Board != slices.Contains(tarsy.EntityStatuses(), cursor.Status) {
		return q, badCursor()
	}

	q.After = &cursor

	return q, nil
}

// filter turns the parameters that choose entities into a query without order and limit.
func (in *EntityFilter) filter() (tarsy.EntityQuery, error) {
	q := tarsy.EntityQuery{
		ProjectID: in.ProjectID, EpicID: in.EpicID, NoteID: in.NoteID, SessionID: in.SessionID, Owner: in.Owner, Tag: in.Tag, Search: in.Search,
		States: []tarsy.EntityState{tarsy.EntityAccepted},
	}

	for name, id := range map[string]string{"project_id": in.ProjectID, "epic_id": in.EpicID, "note_id": in.NoteID, "session_id": in.SessionID} {
		if err := parseIDParameter(name, id); err != nil {
			return q, err
		}
	}

	if err := checkSearch(in.Search); err != nil {
		return q, err
	}

	var err error

	if q.Types, err = parseValues("type", in.Type, tarsy.EntityTypes()); err != nil {
		return q, err
	}

	if q.Statuses, err = parseValues("status", in.Status, tarsy.EntityStatuses()); err != nil {
		return q, err
	}

	if in.State != "" {
		if q.States, err = parseValues("state", in.State, tarsy.EntityStates()); err != nil {
			return q, err
		}
	}

	if q.DueFrom, err = parseDay("due_from", in.DueFrom); err != nil {
		return q, err
	}

	if q.DueTo, err = parseDay("due_to", in.DueTo); err != nil {
		return q, err
	}

	if q.Unfiled, err = parseSwitch("unfiled", in.Unfiled); err != nil {
		return q, err
	}

	if q.Unfiled && (q.ProjectID != "" || q.EpicID != "") {
		return q, parameterErrorf("unfiled", "unfiled entities have neither project nor epic; send unfiled, or project_id and epic_id")
	}

	return q, nil
}

// checkSearch checks the words of a search.
func checkSearch(text string) error {
	if utf8.RuneCountInString(text) > maxSearch {
		return parameterErrorf("q", "q is longer than %d characters", maxSearch)
	}

	return nil
}

// parseDay reads a parameter that is a date.
func parseDay(name, text string) (*tarsy.Date, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // not being there is an answer
	}

	day, err := tarsy.ParseDate(text)
	if err != nil {
		return nil, parameterErrorf(name, "%s must be a date such as 2026-11-30", name)
	}

	return &day, nil
}

// parseSwitch reads a parameter that is true or false; left out it is false.
func parseSwitch(name, text string) (bool, error) {
	value, err := oneOfParameter(name, text, "false", "true")

	return value == "true", err
}
