// Console-agent-streaming is a conversation with a model whose answers appear paragraph by paragraph, thoughts included.
package main

import (
	"context"

	"tarsy.dev/tarsy/examples/internal/example"
	"tarsy.dev/tarsy/examples/internal/model"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/program"
)

func main() {
	example.Main(configure, example.Options{Model: model.OrScript(
		"This answer arrives in pieces.\n\nEach paragraph is printed as soon as it is complete.\n\nThis is the last one.",
		"I have nothing more to say.",
	)})
}

// configure declares the flow. The window passes a paragraph on when it is complete, or 500 characters of a long one.
func configure(env *program.Env) (*flow.Flow, error) {
	window := env.Window(flow.WindowAny(flow.WindowParagraph, flow.WindowMaxLength(500)))

	chat := console.New(console.Config{In: env.In, Out: env.Out, Err: env.Err})
	bot := agent.New(agent.Config{
		Client: env.LLM, Model: env.Model, Clock: env.Clock, Window: window, ThoughtWindow: window,
		Instructions: "You are a helpful assistant. Write short paragraphs.",
	})

	return flow.Build([]*flow.Branch{chat.Branch, bot.Branch},
		flow.Route(chat.Lines, bot.Prompts, func(_ context.Context, line console.Line) (agent.Prompt, error) {
			return agent.Prompt{Text: line.Text}, nil
		}),
		flow.Route(bot.Responses, chat.Messages, func(_ context.Context, r agent.Response) (console.Message, error) {
			return console.Message{Sender: "assistant", Text: r.Text}, nil
		}),
		flow.Route(bot.Failures, chat.Messages, func(_ context.Context, f agent.Failure) (console.Message, error) {
			return console.Message{Sender: "error", Text: f.Error, Error: true}, nil
		}),
		flow.Route(bot.Thoughts, chat.Messages, func(_ context.Context, t agent.Thought) (console.Message, error) {
			return console.Message{Sender: "thinking", Text: t.Text}, nil
		}),
	)
}
