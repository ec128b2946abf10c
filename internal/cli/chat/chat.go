// Package chat is the branch of a session's chat: it consumes questions and produces answers as they are written, paragraph by
// paragraph, along with tool calls. It knows neither terminals nor flags. What it produces comes from models and tools and must be
// cleaned before it is printed.
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

// Tool is a tool call: one when it begins, and one when it has ended.
type Tool struct{ watch.ToolUse }

// Notice is information about the answer or the connection.
type Notice struct {
	Text string `json:"text"`
}

// Ended is the end of an answer, whether or not it completed.
type Ended struct{ client.Answer }

// Refused reports a question that gets no answer.
type Refused struct {
	Reason string `json:"reason"`
}

// Config is the configuration of a chat.
type Config struct {
	Client    *client.Client
	SessionID string
	// Window decides when parts of an answer are produced.
	Window flow.Window
	// Explain turns an error into advice for the user.
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
	number    int  // of the latest question, from 1
	asked     bool // the server has accepted it, and it is not yet answered
	cancelled int  // the question to cancel
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

// answer asks one question and follows its answer to the end. It reports refusals by the server on a port; only the end of the context and
// journal errors end the branch.
func (c *Chat) answer(ctx context.Context, question Question) error {
	c.mu.Lock()
	c.number++
	c.mu.Unlock()

	// Later events belong to the answer, or to an earlier question.
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

// await follows an answer, which can be cancelled in the meantime.
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

// Cancel cancels the answer to a question, given by its number from 1. If the question has not been asked yet, it is cancelled as soon as
// it is; if it has already been answered, nothing happens. The answer ends like any other, on the port Ends.
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
		return // if the answer has ended in the meantime, its result is reported
	}

	// If the journal cannot be written, the branch ends elsewhere.
	_ = c.Notices.Send(ctx, Notice{Text: "The answer was not cancelled: " + c.config.Explain(err)})
}
