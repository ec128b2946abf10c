package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// Asked is the answer to a question: where the session's answer to it will be.
type Asked struct {
	ChatID    string `json:"chat_id"`
	MessageID string `json:"message_id"`
	StageID   string `json:"stage_id"`
}

// Ask asks about a session that is over. The answer comes in the session's journal.
func (c *Client) Ask(ctx context.Context, id, question string) (Asked, error) {
	var asked Asked

	body := struct {
		Content string `json:"content"`
	}{question}
	err := c.call(ctx, http.MethodPost, "/api/v1/sessions/"+url.PathEscape(id)+"/chat/messages", nil, body, &asked)

	return asked, err
}

// FollowOn follows a session as Follow does, but also when it is over, for what is asked then. It ends when ctx is done or
// the caller has seen enough.
func (c *Client) FollowOn(ctx context.Context, sessionID string, after int64) iter.Seq2[Update, error] {
	return c.follow(ctx, sessionID, after, url.Values{"follow": {"true"}})
}
