// Console-echo echoes each line: the smallest flow.
package main

import (
	"context"

	"tarsy.dev/tarsy/examples/internal/example"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/program"
)

func main() { example.Main(configure, example.Options{}) }

// configure declares the flow: each line is printed.
func configure(env *program.Env) (*flow.Flow, error) {
	chat := console.New(console.Config{In: env.In, Out: env.Out, Err: env.Err, Sender: "user"})

	return flow.Build([]*flow.Branch{chat.Branch},
		flow.Route(chat.Lines, chat.Messages, func(_ context.Context, line console.Line) (console.Message, error) {
			return console.Message{Sender: "bot", Text: line.Text}, nil
		}),
	)
}
