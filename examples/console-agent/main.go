// Console-agent is a conversation with a model, one whole answer at a time.
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
		"I am a scripted assistant. Set OPENAI_API_KEY to talk to a real model.",
		"I have nothing more to say.",
	)})
}

// configure declares the flow: lines are prompts, responses and failures are printed, thoughts are kept in the journal.
func configure(env *program.Env) (*flow.Flow, error) {
	chat := console.New(console.Config{In: env.In, Out: env.Out, Err: env.Err})
	bot := agent.New(agent.Config{
		Client: env.LLM, Model: env.Model, Clock: env.Clock,
		Instructions: "You are a helpful assistant. Answer concisely.",
		Window:       env.Window(flow.WindowFinal),
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
		flow.Terminal(bot.Thoughts),
	)
}
