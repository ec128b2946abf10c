// Console-file-journal echoes each line and keeps the conversation in a file. When it starts again, it prints the last line
// of the previous conversation.
package main

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/examples/internal/example"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/program"
)

func main() { example.Main(configure, example.Options{}) }

// configure declares the flow. The console's journal is a file.
func configure(env *program.Env) (*flow.Flow, error) {
	kept, err := env.Journal("console-file-journal")
	if err != nil {
		return nil, err
	}

	err = recall(env, kept)
	if err != nil {
		return nil, err
	}

	chat := console.New(console.Config{In: env.In, Out: env.Out, Err: env.Err})
	chat.KeepIn(kept)

	return flow.Build([]*flow.Branch{chat.Branch},
		flow.Route(chat.Lines, chat.Messages, func(_ context.Context, line console.Line) (console.Message, error) {
			return console.Message{Sender: "bot", Text: line.Text}, nil
		}),
	)
}

// recall prints the last line that was typed before this start.
func recall(env *program.Env, kept journal.Reader[flow.Entry]) error {
	for record, err := range kept.Backward(context.Background(), 0) {
		if err != nil {
			return err
		}

		if flow.Is[console.Line](record.Entry) {
			line, err := flow.As[console.Line](record.Entry)
			fmt.Fprintf(env.Out, "Last time you wrote: %s\n", line.Text)

			return err
		}
	}

	return nil
}
