package api

import (
	"slices"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

// EntityFilter is the parameters that select entities, in lists and exports. It is exported because huma omits embedded structs with
// unexported names from the document.
type EntityFilter struct {
	Types     string     `doc:"Types, separated by commas."                                      query:"type"`
	Statuses  string     `doc:"Statuses, separated by commas."                                   query:"status"`
	States    string     `doc:"States, separated by commas: proposed, accepted, rejected, merged." default:"accepted" query:"state"`
	ProjectID identifier `doc:"Filed under this project."                                        query:"project_id"`
	EpicID    identifier `doc:"Filed under this epic."                                           query:"epic_id"`
	Unfiled   string     `doc:"The value true selects entities without a project."               enum:"true,false" query:"unfiled"`
	NoteID    identifier `doc:"With this note as one of their sources."                          query:"note_id"`
	SessionID identifier `doc:"From notes about this session."                                   query:"session_id"`
	Owner     string     `doc:"Exactly this owner, ignoring case."                               query:"owner"`
	Tag       string     `doc:"With this tag."                                                   query:"tag"`
	DueFrom   string     `doc:"Due on this day or later, as YYYY-MM-DD."                         format:"date" query:"due_from"`
	DueTo     string     `doc:"Due on this day or earlier, as YYYY-MM-DD."                       format:"date" query:"due_to"`
	Search    search     `doc:"Words in the title or content."                                   query:"q"`
}

type entitiesInput struct {
	EntityFilter

	Order  string  `doc:"Newest first, or the order of the board: by status, then as users ordered them." enum:"newest,board" default:"newest" query:"order"`
	Limit  integer `doc:"Maximum number of entities per page."                                       query:"limit"`
	Cursor cursor  `doc:"The next_cursor of the previous page, with the same order."                  query:"cursor"`
}

// orderBoard selects the order of the board; otherwise the newest come first.
const orderBoard = "board"

// query converts the parameters of a list to a query.
func (in *entitiesInput) query() (notebook.EntityQuery, error) {
	q, err := readEntityQuery(in)
	if err != nil {
		return q, err
	}

	q.Board = in.Order == orderBoard
	q.After, err = readCursor(in.Cursor, func(place notebook.EntityCursor) bool {
		return ident.Valid(place.ID) && q.Board == place.CreatedAt.IsZero() && q.Board == slices.Contains(notebook.EntityStatuses(), place.Status)
	})

	return q, err
}

// readEntityQuery reads the parameters that select entities, and the list parameters if there are any.
func readEntityQuery(in any) (notebook.EntityQuery, error) {
	q := notebook.EntityQuery{States: []notebook.EntityState{notebook.EntityAccepted}}

	err := readParameters(in, &q)
	if err == nil && q.Unfiled && (q.ProjectID != "" || q.EpicID != "") {
		err = parameterErrorf("unfiled", "unfiled entities have neither project nor epic; send unfiled, or project_id and epic_id")
	}

	return q, err
}
