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

// Stay follows a session as Follow does, but also when it is over, for what is asked then. It ends when ctx is done or
// the caller has seen enough.
func (c *Client) Stay(ctx context.Context, sessionID string, after int64) iter.Seq2[Update, error] {
	staying := *c
	staying.cfg.HTTP = &http.Client{
		Transport: openEnded{c.cfg.HTTP}, CheckRedirect: c.cfg.HTTP.CheckRedirect, Jar: c.cfg.HTTP.Jar,
	}

	return staying.Follow(ctx, sessionID, after)
}

// openEnded asks for event streams that do not end with the session.
type openEnded struct{ client *http.Client }

// RoundTrip implements http.RoundTripper.
func (o openEnded) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Header.Get("Accept") == eventStream {
		request = request.Clone(request.Context())
		query := request.URL.Query()
		query.Set("follow", "true")
		request.URL.RawQuery = query.Encode()
	}

	transport := o.client.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}

	return transport.RoundTrip(request) //nolint:wrapcheck // another transport's error, passed on
}

const eventStream = "text/event-stream"
