package api

import (
	"tarsy.dev/tarsy/notebook"
)

// entityRequest is the body that creates, changes or accepts an entity. Omitted fields keep their values.
type entityRequest struct {
	Type      *notebook.EntityType   `doc:"The type of the entity."                                              json:"type,omitempty"`
	Title     *string                `doc:"A single line."                                                       json:"title,omitempty"      maxLength:"300"`
	Content   *string                `doc:"Further details."                                                     json:"content,omitempty"    maxLength:"20000"`
	Owner     *string                `doc:"The person responsible; empty for none."                              json:"owner,omitempty"      maxLength:"100"`
	DueOn     *string                `doc:"Due date as YYYY-MM-DD; empty removes it."                            json:"due_on,omitempty"`
	Status    *notebook.EntityStatus `doc:"Progress of the work."                                                json:"status,omitempty"`
	Tags      *[]string              `doc:"All tags; they replace the existing ones."                            json:"tags,omitempty"       maxItems:"20"`
	ProjectID *string                `doc:"The project it is filed under; empty removes it and the epic."        json:"project_id,omitempty"`
	EpicID    *string                `doc:"The epic it is filed under, which also sets its project; empty removes it." json:"epic_id,omitempty"`
}

// input converts the request to the notebook's type.
func (r entityRequest) input() notebook.EntityInput { return notebook.EntityInput(r) }
