package api

import (
	"tarsy.dev/tarsy/notebook"
)

// entityRequest is the body that creates, changes or accepts an entity. Omitted fields keep their values.
type entityRequest struct {
	Type      *notebook.EntityType   `doc:"What kind of thing it is."                                            json:"type,omitempty"`
	Title     *string                `doc:"One line."                                                            json:"title,omitempty"      maxLength:"300"`
	Content   *string                `doc:"More about it."                                                       json:"content,omitempty"    maxLength:"20000"`
	Owner     *string                `doc:"Who is responsible; empty for nobody."                                json:"owner,omitempty"      maxLength:"100"`
	DueOn     *string                `doc:"When it is due, as YYYY-MM-DD; empty removes the date."               json:"due_on,omitempty"`
	Status    *notebook.EntityStatus `doc:"Progress of the work."                                                json:"status,omitempty"`
	Tags      *[]string              `doc:"All tags; they replace those that it has."                            json:"tags,omitempty"       maxItems:"20"`
	ProjectID *string                `doc:"The project it is filed under; empty removes it and the epic."        json:"project_id,omitempty"`
	EpicID    *string                `doc:"The epic it is filed under, which also sets its project; empty removes it." json:"epic_id,omitempty"`
}

// input converts the request to the notebook's type.
func (r entityRequest) input() notebook.EntityInput { return notebook.EntityInput(r) }
