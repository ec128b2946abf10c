package slack

import (
	"encoding/json"
	"slices"
	"time"
)

const (
	// triggerTime is how long a trigger can be used.
	triggerTime = 3 * time.Second
	// maxStack is how many modals can be stacked.
	maxStack = 3
	maxTitle = 24
)

// trigger allows an app to open a modal for the person who clicked.
type trigger struct {
	user string
	at   time.Time
	used bool
}

// makeTrigger returns a new trigger for a person; the lock is held.
func (s *Server) makeTrigger(userID string) string {
	id := s.makeID("trigger-")
	s.triggers[id] = &trigger{user: userID, at: s.clock.Now()}

	return id
}

// Modal is a form that a person sees, or the home tab that the app shows them.
type Modal struct {
	ID   string `json:"id"`
	User string `json:"user"`
	// Type is modal or home.
	Type string `json:"type"`
	// View is the view that the app sent, with IDs added to blocks without one. Hash changes with it.
	View json.RawMessage `json:"view"`
	Hash string          `json:"hash"`
	// Previous is the ID of the modal below it.
	Previous string `json:"previous,omitempty"`
	// Open is false once it has been submitted or cleared. Errors are the app's errors in the submission, by block.
	Open   bool              `json:"open"`
	Errors map[string]string `json:"errors,omitempty"`
}

// view has the supported fields of a view.
type view struct {
	Type            string          `json:"type"`
	CallbackID      string          `json:"callback_id"`
	ExternalID      string          `json:"external_id"`
	PrivateMetadata string          `json:"private_metadata"`
	Title           map[string]any  `json:"title"`
	Blocks          json.RawMessage `json:"blocks"`
}

// read decodes the view.
func (m *Modal) read() view {
	var v view

	_ = json.Unmarshal(m.View, &v) // it was checked when it was sent

	return v
}

// viewObject returns a view in Slack's format: as sent, with the fields that Slack adds.
func (s *Server) viewObject(m *Modal) object {
	o := object{"callback_id": "", "private_metadata": "", "external_id": "", "clear_on_close": false, "notify_on_close": false, "close": nil, "submit": nil}
	_ = json.Unmarshal(m.View, &o) // as in read

	o["id"], o["team_id"], o["app_id"], o["bot_id"], o["app_installed_team_id"] = m.ID, teamID, appID, botID, teamID
	o["hash"], o["root_view_id"], o["state"] = m.Hash, s.root(m), object{"values": object{}}
	o["previous_view_id"] = nil

	if m.Previous != "" {
		o["previous_view_id"] = m.Previous
	}

	return o
}

// root returns the ID of the bottom modal of a stack.
func (s *Server) root(m *Modal) string {
	for m.Previous != "" {
		m = s.modalByID(m.Previous)
	}

	return m.ID
}

func (s *Server) modalByID(id string) *Modal {
	if i := slices.IndexFunc(s.modals, func(m *Modal) bool { return m.ID == id }); i >= 0 {
		return s.modals[i]
	}

	return nil
}

// checkView checks a view of the given type and returns it with IDs; the lock is held.
func (s *Server) checkView(raw json.RawMessage, kind string) (json.RawMessage, error) {
	var (
		v view
		o object
	)

	if json.Unmarshal(raw, &v) != nil || json.Unmarshal(raw, &o) != nil || v.Type != kind || len(v.Blocks) == 0 {
		return nil, &apiError{Code: "invalid_arguments", Messages: []string{"a view of the type " + kind + " with blocks is required [json-pointer:/view]"}}
	}

	blocks, problems := checkBlocks(v.Blocks, "/view/blocks", maxViewBlocks)

	switch title, _ := v.Title["text"].(string); {
	case kind == "modal" && title == "":
		problems = append(problems, "missing required field: title [json-pointer:/view]")
	case len([]rune(title)) > maxTitle:
		problems = append(problems, "must be less than 25 characters [json-pointer:/view/title/text]")
	}

	if len(problems) > 0 {
		return nil, &apiError{Code: "invalid_arguments", Messages: problems}
	}

	o["blocks"] = s.nameBlocks(v.Blocks, blocks)

	named, err := json.Marshal(o)

	return named, err
}

// takeTrigger uses up the trigger in the arguments.
func (c *call) takeTrigger() (*trigger, error) {
	t := c.server.triggers[c.args["trigger_id"]]

	switch {
	case t == nil:
		return nil, refusal("invalid_trigger_id")
	case t.used:
		return nil, refusal("exchanged_trigger_id")
	case c.server.clock.Since(t.at) > triggerTime:
		return nil, refusal("expired_trigger_id")
	}

	return t, nil
}

func (c *call) openView() (object, error) { return c.showView(false) }

// pushView puts a modal on top of the one that the person sees.
func (c *call) pushView() (object, error) { return c.showView(true) }

// showView opens a modal; push puts it on top of another one.
func (c *call) showView(push bool) (object, error) {
	t, err := c.takeTrigger()
	if err != nil {
		return nil, err
	}

	var below *Modal
	if push {
		if below = c.server.modal(t.user); below == nil {
			return nil, refusal("not_found")
		}

		if c.server.depth(below) == maxStack {
			return nil, refusal("push_limit_reached")
		}
	}

	checked, err := c.server.checkView(c.raw("view"), "modal")
	if err != nil {
		return nil, err
	}

	t.used = true

	return object{"view": c.server.viewObject(c.server.show(t.user, "modal", checked, below))}, nil
}

// depth returns the number of modals from the bottom of the stack to this one.
func (s *Server) depth(m *Modal) int {
	n := 1
	for ; m.Previous != ""; n++ {
		m = s.modalByID(m.Previous)
	}

	return n
}

// show shows a checked view to a person; the lock is held.
func (s *Server) show(userID, kind string, checked json.RawMessage, below *Modal) *Modal {
	m := &Modal{ID: s.makeID("V"), User: userID, Type: kind, View: checked, Hash: s.makeID("hash-"), Open: true}
	if below != nil {
		m.Previous = below.ID
	}

	s.modals = append(s.modals, m)

	return m
}

// change replaces the view of a modal; the lock is held.
func (s *Server) change(m *Modal, checked json.RawMessage) {
	m.View, m.Hash, m.Errors = checked, s.makeID("hash-"), nil
}

// updateView changes the view with the given ID, or with the ID that the app assigned to it.
func (c *call) updateView() (object, error) {
	m := c.server.modalByID(c.args["view_id"])

	if external := c.args["external_id"]; external != "" {
		for _, other := range c.server.modals {
			if other.read().ExternalID == external {
				m = other
			}
		}
	}

	switch {
	case m == nil || !m.Open:
		return nil, refusal("not_found")
	case c.args["hash"] != "" && c.args["hash"] != m.Hash:
		return nil, refusal("hash_conflict")
	}

	checked, err := c.server.checkView(c.raw("view"), m.Type)
	if err != nil {
		return nil, err
	}

	c.server.change(m, checked)

	return object{"view": c.server.viewObject(m)}, nil
}

// publishView shows the app's home tab to a person.
func (c *call) publishView() (object, error) {
	u, err := c.server.user(c.args["user_id"])
	if err != nil || u.ID != c.args["user_id"] {
		return nil, refusal("user_not_found")
	}

	checked, err := c.server.checkView(c.raw("view"), "home")
	if err != nil {
		return nil, err
	}

	home := c.server.newest(u.ID, "home")

	switch {
	case home == nil:
		home = c.server.show(u.ID, "home", checked, nil)
	case c.args["hash"] != "" && c.args["hash"] != home.Hash:
		return nil, refusal("hash_conflict")
	default:
		c.server.change(home, checked)
	}

	return object{"view": c.server.viewObject(home)}, nil
}

// Modals returns the modals and home tabs that were opened, oldest first.
func (s *Server) Modals() []Modal {
	s.mu.Lock()
	defer s.mu.Unlock()

	all := make([]Modal, 0, len(s.modals))
	for _, m := range s.modals {
		all = append(all, *m)
	}

	return all
}

// modal returns the newest open modal of a person; the lock is held.
func (s *Server) modal(userID string) *Modal { return s.newest(userID, "modal") }

// newest returns the newest open view of a type that a person sees; the lock is held.
func (s *Server) newest(userID, kind string) *Modal {
	for _, m := range slices.Backward(s.modals) {
		if m.User == userID && m.Open && m.Type == kind {
			return m
		}
	}

	return nil
}

// submission is an app's reply to a submitted modal.
type submission struct {
	ResponseAction string            `json:"response_action"`
	Errors         map[string]string `json:"errors"`
	View           json.RawMessage   `json:"view"`
}

// applyReply applies the app's reply to a submitted modal. A view that Slack rejects leaves the modal open; the lock is held.
func (s *Server) applyReply(m *Modal, reply submission) {
	m.Errors, m.Open = nil, false

	switch reply.ResponseAction {
	case "errors":
		m.Errors, m.Open = reply.Errors, true
	case "update", "push":
		m.Open = true

		checked, err := s.checkView(reply.View, "modal")

		switch {
		case err != nil:
			m.Errors = map[string]string{"": err.Error()}
		case reply.ResponseAction == "push":
			s.show(m.User, "modal", checked, m)
		default:
			s.change(m, checked)
		}
	case "clear":
		for _, other := range s.modals {
			other.Open = other.Open && (other.User != m.User || other.Type != "modal")
		}
	}
}
