package slack

import (
	"encoding/json"
	"slices"
	"time"
)

// triggerTime is how long a trigger can be used.
const triggerTime = 3 * time.Second

// trigger lets an app open a modal for the person who clicked.
type trigger struct {
	user string
	at   time.Time
	used bool
}

// Modal is a form that a person sees.
type Modal struct {
	ID   string `json:"id"`
	User string `json:"user"`
	// View is what the app sent.
	View json.RawMessage `json:"view"`
	// Open is false after it was submitted successfully. Errors are what the app found wrong with what was submitted, by block.
	Open   bool              `json:"open"`
	Errors map[string]string `json:"errors,omitempty"`
}

// view is what is read of a view.
type view struct {
	Type            string          `json:"type"`
	CallbackID      string          `json:"callback_id"`
	PrivateMetadata string          `json:"private_metadata"`
	Title           map[string]any  `json:"title"`
	Blocks          json.RawMessage `json:"blocks"`
}

const maxTitle = 24

func (c *call) openView() (object, error) {
	t := c.server.triggers[c.args["trigger_id"]]

	switch {
	case t == nil:
		return nil, refusal("invalid_trigger_id")
	case t.used:
		return nil, refusal("exchanged_trigger_id")
	case c.server.clock.Since(t.at) > triggerTime:
		return nil, refusal("expired_trigger_id")
	}

	var v view
	if json.Unmarshal(c.raw("view"), &v) != nil || v.Type != "modal" || len(v.Blocks) == 0 {
		return nil, refusal("invalid_arguments")
	}

	if title, _ := v.Title["text"].(string); title == "" || len([]rune(title)) > maxTitle {
		return nil, &apiError{Code: "invalid_arguments", Messages: []string{"[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"}}
	}

	if err := checkBlocks(v.Blocks); err != nil {
		return nil, err
	}

	t.used = true
	m := &Modal{ID: c.server.makeID("V"), User: t.user, View: c.raw("view"), Open: true}
	c.server.modals = append(c.server.modals, m)

	return object{"view": object{"id": m.ID, "type": "modal", "callback_id": v.CallbackID, "private_metadata": v.PrivateMetadata}}, nil
}

// Modals are the modals that were opened, oldest first.
func (s *Server) Modals() []Modal {
	s.mu.Lock()
	defer s.mu.Unlock()

	all := make([]Modal, 0, len(s.modals))
	for _, m := range s.modals {
		all = append(all, *m)
	}

	return all
}

// modal is the newest open modal of a person; the lock is held.
func (s *Server) modal(userID string) *Modal {
	for _, m := range slices.Backward(s.modals) {
		if m.User == userID && m.Open {
			return m
		}
	}

	return nil
}
