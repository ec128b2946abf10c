// Package chat is the branch of a session's chat: it consumes questions and produces the answers as they are written,
// paragraph by paragraph, with the tool calls on the way. It knows neither terminals nor flags; what it produces comes from
// models and tools and must be cleaned before it is printed.
package chat

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/cli/watch"
	"tarsy.dev/tarsy/internal/client"
)

// Question is a question about the session.
type Question struct {
	Text string `json:"text"`
}

// Text is a part of an answer, in Markdown. The parts of one answer, joined, are the whole text.
type Text struct {
	Text string `json:"text"`
	// Block numbers the texts of an answer: a model may write before it calls tools, and after.
	Block int `json:"block"`
}

// Tool is a tool call: once when it begins, and once when it has ended.
type Tool struct{ watch.ToolUse }

// Notice is something to know about the answer or the connection.
type Notice struct {
	Text string `json:"text"`
}

// Ended is the end of an answer, whether or not it completed.
type Ended struct{ client.Answer }

// Refused is a question that gets no answer.
type Refused struct {
	Reason string `json:"reason"`
}

// Config is the configuration of a chat.
type Config struct {
	Client    *client.Client
	SessionID string
	// Window says when parts of an answer are produced.
	Window flow.Window
	// Explain turns an error into what a person can do about it.
	Explain func(err error) string
}

// Chat is a branch.
type Chat struct {
	*flow.Branch

	Questions flow.In[Question]
	Texts     flow.Out[Text]
	Tools     flow.Out[Tool]
	Notices   flow.Out[Notice]
	Ends      flow.Out[Ended]
	Refusals  flow.Out[Refused]

	config Config

	mu        sync.Mutex
	number    int  // of the question that was taken last, from 1
	asked     bool // the server has accepted it, and it is not answered yet
	cancelled int  // the question that is to be cancelled
}

// New returns a chat.
func New(config Config) *Chat {
	c := &Chat{Branch: flow.NewBranch("chat"), config: config}
	c.Questions = flow.Consumes(c.Branch, c.answer)
	c.Texts = flow.Produces[Text](c.Branch)
	c.Tools = flow.Produces[Tool](c.Branch)
	c.Notices = flow.Produces[Notice](c.Branch)
	c.Ends = flow.Produces[Ended](c.Branch)
	c.Refusals = flow.Produces[Refused](c.Branch)

	return c
}

// answer asks one question and follows its answer to the end. What the server refuses is reported on a port; only the end of
// the context and the journal's errors end the branch.
func (c *Chat) answer(ctx context.Context, question Question) error {
	c.mu.Lock()
	c.number++
	c.mu.Unlock()

	// Events after this version belong to the answer, or to an earlier question.
	detail, err := c.config.Client.Session(ctx, c.config.SessionID)
	if err != nil {
		return c.refuse(ctx, err)
	}

	asked, err := client.Call(ctx, c.config.Client, client.Ask, client.Question{Content: question.Text}, c.config.SessionID)
	if err != nil {
		return c.refuse(ctx, err)
	}

	reason, err := c.await(ctx, detail, asked)

	switch {
	case err != nil:
		return c.refuse(ctx, err)
	case reason != "":
		return c.Refusals.Send(ctx, Refused{Reason: reason})
	}

	found, err := c.config.Client.Answer(ctx, c.config.SessionID, asked)
	if err != nil {
		return c.refuse(ctx, err)
	}

	return c.Ends.Send(ctx, Ended{found})
}

// await follows an answer while it can be cancelled.
func (c *Chat) await(ctx context.Context, detail tarsy.SessionDetail, asked client.Asked) (reason string, err error) {
	c.mu.Lock()
	c.asked = true
	cancel := c.cancelled == c.number
	c.mu.Unlock()

	defer func() {
		c.mu.Lock()
		c.asked = false
		c.mu.Unlock()
	}()

	if cancel {
		c.cancel(ctx)
	}

	return c.follow(ctx, detail, asked)
}

func (c *Chat) refuse(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return c.Refusals.Send(ctx, Refused{Reason: c.config.Explain(err)})
}

// Cancel cancels the answer to a question, given by its number from 1. If the question is not asked yet, it is cancelled as
// soon as it is; if it is answered already, nothing happens. The answer ends as any other does, on the port Ends.
func (c *Chat) Cancel(ctx context.Context, number int) {
	c.mu.Lock()
	c.cancelled = number
	now := c.asked && c.number == number
	c.mu.Unlock()

	if now {
		c.cancel(ctx)
	}
}

func (c *Chat) cancel(ctx context.Context) {
	_, err := client.Call(ctx, c.config.Client, client.CancelSession, nil, c.config.SessionID)

	problem, ok := errors.AsType[*client.Problem](err)
	if err == nil || ctx.Err() != nil || ok && problem.Status == http.StatusConflict {
		return // an answer that has ended in the meantime is reported as it ended
	}

	// A journal that cannot be written ends the branch elsewhere.
	_ = c.Notices.Send(ctx, Notice{Text: "The answer was not cancelled: " + c.config.Explain(err)})
}
