package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

const (
	responsePath = Path + "/actions/"
	// maxResponses is how often a response URL can be used within responseTime.
	maxResponses = 5
	responseTime = 30 * time.Minute
)

// responseURL lets an app respond to a click without a token.
type responseURL struct {
	server  *Server
	message *Message
	user    string
	at      time.Time
	used    int
}

// makeResponseURL returns a new response URL for a click on a message; the lock is held.
func (s *Server) makeResponseURL(m *Message, userID string) string {
	id := s.makeID("r")
	s.responses[id] = &responseURL{server: s, message: m, user: userID, at: s.clock.Now()}

	return s.address() + responsePath + teamID + "/" + id
}

// response is what an app posts to a response URL. Slack accepts both true and "true".
type response struct {
	Text            string          `json:"text"`
	Blocks          json.RawMessage `json:"blocks"`
	ResponseType    string          `json:"response_type"`
	ReplaceOriginal any             `json:"replace_original"`
	DeleteOriginal  any             `json:"delete_original"`
	ThreadTS        string          `json:"thread_ts"`
}

func isTrue(value any) bool { return value == true || value == "true" }

// replaces reports whether the original is replaced: if the app requests it, or specifies neither that nor who sees a new
// message.
func (r response) replaces() bool {
	return isTrue(r.ReplaceOriginal) || r.ReplaceOriginal == nil && r.ResponseType == ""
}

// serveResponse answers a request to a response URL.
func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request) {
	var sent response

	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil || json.Unmarshal(body, &sent) != nil {
		http.Error(w, "invalid_payload", http.StatusBadRequest)

		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	u, err := s.responses[r.PathValue("response")], refusal("invalid_url")
	if u != nil {
		err = u.use(sent)
	}

	s.changes.Notify()

	if err != nil {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
	}

	respond(w, object{}, err)
}

// use does what the app requests; the lock is held.
func (u *responseURL) use(sent response) error {
	switch {
	case u.server.clock.Since(u.at) > responseTime:
		return refusal("expired_url")
	case u.used == maxResponses:
		return refusal("used_url")
	}

	if isTrue(sent.DeleteOriginal) {
		u.used++
		u.server.remove(u.message)

		return nil
	}

	text, _ := cutText(sent.Text)

	blocks, err := messageBlocks(u.server, sent.Blocks)
	if err != nil {
		return err
	}

	if text == "" && len(blocks) == 0 {
		return refusal("no_text")
	}

	u.used++
	u.write(sent, text, blocks)

	return nil
}

// write replaces the original or posts a message, which only the person who clicked sees unless it is for the channel; the
// lock is held.
func (u *responseURL) write(sent response, text string, blocks json.RawMessage) {
	if sent.replaces() {
		changed := *u.message
		changed.Text, changed.Blocks, changed.Mentions = text, blocks, mentions(text, blocks)
		u.server.replace(u.message, changed)

		return
	}

	m := &Message{
		Channel: u.message.Channel, ThreadTS: sent.ThreadTS, User: u.server.self.ID, Bot: true, Text: text, Blocks: blocks, Mentions: mentions(text, blocks),
	}
	if sent.ResponseType != "in_channel" {
		m.Ephemeral = u.user
	}

	u.server.add(m)
}
