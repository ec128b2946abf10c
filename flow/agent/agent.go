// Package agent provides a branch for a language model: it consumes prompts and produces responses and thoughts, whole or in
// pieces depending on its windows. It sends the model the conversation from its journal, so an agent whose journal is a file
// remembers the conversation after a restart. It works with any llm.Client.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
)

// Config is the configuration of an agent.
type Config struct {
	// Name is the name of the branch; "agent" by default.
	Name   string
	Client llm.Client
	// Provider and Model are passed to the client.
	Provider, Model string
	// Instructions is the system message; empty for none.
	Instructions string
	// History is how many earlier turns of a conversation, each a prompt and its response, are sent to the model with a prompt;
	// 10 by default, none if negative.
	History int
	// Window decides when pieces of a response are produced, and ThoughtWindow does so for thoughts; by default both are
	// produced whole at the end.
	Window, ThoughtWindow flow.Window
	// Tools are offered to the model, which can use them for MaxCalls rounds, 10 by default.
	Tools    []Tool
	MaxCalls int
	// Clock provides the timestamps of entries; nil is the real clock.
	Clock clockwork.Clock
}

// Tool is a function that the model can call. An error is passed to the model as the result.
type Tool struct {
	llm.Tool

	Call func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// Prompt is a question. Prompts of one conversation share a history; a prompt without text gets no response.
type Prompt struct {
	Conversation string `json:"conversation,omitempty"`
	Text         string `json:"text"`
}

// Meta identifies the response that an entry belongs to.
type Meta struct {
	Conversation string `json:"conversation,omitempty"`
	ResponseID   string `json:"response_id"`
	// Model is the model that the client reported with a [ModelChunk], or else the one requested.
	Model     string    `json:"model"`
	Timestamp time.Time `json:"timestamp"`
}

// ModelChunk reports which model answers. A client that knows the model sends it before the rest of the answer.
type ModelChunk struct {
	llm.Chunk // nil; embedding it makes this a chunk

	Model string
}

// Response is a response or, if the window passes on pieces, a part of one.
type Response struct {
	Meta

	Text string `json:"text"`
	// Index counts the parts from zero. The last one can be empty.
	Index int  `json:"index"`
	Last  bool `json:"last"`
}

// Thought is the model's thinking before it responded, or a part of it.
type Thought struct {
	Meta

	Text string `json:"text"`
}

// Failure reports a prompt that got no response, or only a part of one.
type Failure struct {
	Meta

	Error string `json:"error"`
}

// Chunk is a piece of a response as received from the model.
type Chunk struct {
	Meta

	Text string `json:"text"`
}

// ThoughtChunk is a piece of a thought as received from the model.
type ThoughtChunk struct {
	Meta

	Text string `json:"text"`
}

// StreamCompleted marks a complete response: a turn of the conversation that is sent with later prompts.
type StreamCompleted struct {
	Meta

	// Prompt is the text of the prompt and Text the whole response.
	Prompt string `json:"prompt"`
	Text   string `json:"text"`
}

// ToolUsed is a call of a tool and its result.
type ToolUsed struct {
	Meta

	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Result    string `json:"result"`
	Failed    bool   `json:"failed,omitempty"`
}

// Agent is a branch.
type Agent struct {
	*flow.Branch

	Prompts   flow.In[Prompt]
	Responses flow.Out[Response]
	Thoughts  flow.Out[Thought]
	Failures  flow.Out[Failure]

	config        Config
	chunks        flow.Log[Chunk]
	thoughtChunks flow.Log[ThoughtChunk]
	completed     flow.Log[StreamCompleted]
	toolsUsed     flow.Log[ToolUsed]
}

// New returns an agent.
func New(config Config) *Agent {
	config.Name = cmp.Or(config.Name, "agent")
	config.History = cmp.Or(config.History, 10)
	config.MaxCalls = cmp.Or(config.MaxCalls, 10)

	if config.Window == nil {
		config.Window = flow.WindowFinal
	}

	if config.ThoughtWindow == nil {
		config.ThoughtWindow = flow.WindowFinal
	}

	if config.Clock == nil {
		config.Clock = clockwork.NewRealClock()
	}

	a := &Agent{Branch: flow.NewBranch(config.Name), config: config}
	a.Prompts = flow.Consumes(a.Branch, a.respond)
	a.Responses = flow.Produces[Response](a.Branch)
	a.Thoughts = flow.Produces[Thought](a.Branch)
	a.Failures = flow.Produces[Failure](a.Branch)
	a.chunks = flow.Logs[Chunk](a.Branch)
	a.thoughtChunks = flow.Logs[ThoughtChunk](a.Branch)
	a.completed = flow.Logs[StreamCompleted](a.Branch)
	a.toolsUsed = flow.Logs[ToolUsed](a.Branch)

	return a
}

// respond answers one prompt. A failure of the model is reported on the Failures port; only journal errors fail the branch.
func (a *Agent) respond(ctx context.Context, prompt Prompt) error {
	if strings.TrimSpace(prompt.Text) == "" {
		return nil
	}

	conversation, err := a.conversation(ctx, prompt)
	if err != nil {
		return err
	}

	meta := Meta{
		Conversation: prompt.Conversation, ResponseID: ident.New(), Model: a.config.Model,
		Timestamp: a.config.Clock.Now().UTC(),
	}

	answer := newStream(a, meta, prompt.Text)

	failure, err := a.converse(ctx, conversation, answer)
	if err != nil {
		return err
	}

	err = answer.finish(ctx, failure == nil)
	if err != nil || failure == nil {
		return err
	}

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return a.Failures.Send(ctx, Failure{Meta: answer.meta, Error: failure.Error()})
}

// converse calls the model until it answers without calling tools. The first result is the model's error, the second one the
// journal's.
func (a *Agent) converse(ctx context.Context, messages []llm.Message, answer *stream) (failure, err error) {
	for round := 0; ; round++ {
		request := &llm.Request{
			Agent: a.config.Name, Provider: a.config.Provider, Model: a.config.Model, Messages: messages,
		}

		if round < a.config.MaxCalls { // after that the model can only answer
			for _, tool := range a.config.Tools {
				request.Tools = append(request.Tools, tool.Tool)
			}
		}

		message, failure, err := answer.read(ctx, a.config.Client.Generate(ctx, request))
		if failure != nil || err != nil || len(message.ToolCalls) == 0 || len(request.Tools) == 0 {
			return failure, err
		}

		messages = append(messages, message)

		for _, call := range message.ToolCalls {
			used := a.use(ctx, answer.meta, call)

			err := a.toolsUsed.Append(ctx, used)
			if err != nil {
				return nil, err
			}

			messages = append(messages, llm.Message{
				Role: llm.RoleTool, Content: used.Result, ToolCallID: call.ID, ToolName: call.Name,
			})
		}
	}
}

func (a *Agent) use(ctx context.Context, meta Meta, call llm.ToolCall) ToolUsed {
	used := ToolUsed{Meta: meta, Name: call.Name, Arguments: call.Arguments}

	for _, tool := range a.config.Tools {
		if tool.Name != call.Name {
			continue
		}

		result, err := tool.Call(ctx, json.RawMessage(call.Arguments))
		if err != nil {
			used.Result, used.Failed = "Error: "+err.Error(), true

			return used
		}

		used.Result = result

		return used
	}

	used.Result, used.Failed = fmt.Sprintf("Error: there is no tool %q", call.Name), true

	return used
}
