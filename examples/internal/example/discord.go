package example

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"tarsy.dev/tarsy/flow/program"
	"tarsy.dev/tarsy/internal/cli/terminal"
	virtual "tarsy.dev/tarsy/internal/kit/mock/discord"
)

// channel is the only channel of the virtual Discord, person the user at this terminal.
const (
	channel = "general"
	person  = "you"
)

// runDiscord runs a program that talks in Discord.
func runDiscord(ctx context.Context, env *program.Env, configure program.Configure) int {
	if token := os.Getenv("DISCORD_TOKEN"); token != "" {
		env.Discord = program.DiscordAccess{Token: token, Channel: os.Getenv("DISCORD_CHANNEL")}
		if env.Discord.Channel == "" {
			return report(errors.New("set DISCORD_CHANNEL to the name or id of the channel in which the bot answers"))
		}

		return report(program.Run(ctx, env, configure))
	}

	window, err := openWindow(env)
	if err != nil {
		return report(err)
	}
	defer window.server.Stop()

	return report(window.run(ctx, env, configure))
}

// window is a terminal's view of a virtual Discord: what is typed becomes a message, what the bot does is printed.
type window struct {
	server  *virtual.Server
	in      io.Reader
	out     io.Writer
	ended   chan struct{} // closed at the end of the input
	printed int           // number of the last action printed
}

func openWindow(env *program.Env) (*window, error) {
	server, err := virtual.New(virtual.Config{Setup: virtual.Setup{
		Bot: "bot", Users: []virtual.User{{Name: person}},
		// The ids are the same at every start, so that a file journal continues the conversation.
		Guilds: []virtual.Guild{{
			Name: "guild", ID: "100000000000000001", Channels: []virtual.Channel{{Name: channel, ID: "100000000000000002"}},
		}},
	}})
	if err != nil {
		return nil, err
	}

	err = server.Start()
	if err != nil {
		return nil, err
	}

	fmt.Fprintf(env.Err, "DISCORD_TOKEN is not set: this is a virtual Discord. Type a message to #%s; Ctrl-D ends.\n", channel)

	ended := make(chan struct{})
	env.Discord = program.DiscordAccess{
		Token: server.Token(), API: server.API(), Gateway: server.Gateway(), Channel: channel, End: ended,
	}

	return &window{server: server, in: env.In, out: env.Out, ended: ended}, nil
}

// run runs the program until the context ends, or the input has ended and the program has answered.
func (w *window) run(ctx context.Context, env *program.Env, configure program.Configure) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var watching sync.WaitGroup

	watching.Go(func() { w.print(ctx) })

	go func() { // a read from a terminal cannot be cancelled, so this ends with the process
		err := w.talk(ctx)
		if err != nil {
			cancel(err)
		}
	}()

	err := program.Run(ctx, env, configure)

	cancel(nil)
	watching.Wait()
	w.printNew()

	return err
}

// talk posts what is typed to the channel, and ends the program's input at the end of its own.
func (w *window) talk(ctx context.Context) error {
	err := w.server.WaitReady(ctx)
	if err != nil {
		return err
	}

	for lines := bufio.NewScanner(w.in); lines.Scan(); {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}

		_, err := w.server.Say(channel, person, text, virtual.Options{})
		if err != nil {
			return err
		}
	}

	err = w.server.WaitReceived(ctx)
	if err != nil {
		return err
	}

	close(w.ended)

	return nil
}

// print prints what the bot does until the context ends.
func (w *window) print(ctx context.Context) {
	for {
		w.printNew()

		_, err := w.server.WaitAction(ctx, func(a virtual.Action) bool { return a.Number > w.printed })
		if err != nil {
			return
		}
	}
}

func (w *window) printNew() {
	for _, action := range w.server.Sent().Actions[w.printed:] {
		w.printed = action.Number

		switch action.Kind {
		case virtual.KindMessage:
			fmt.Fprintf(w.out, "[bot]: %s\n", terminal.Clean(action.Message.Content))
		case virtual.KindEdit:
			fmt.Fprintf(w.out, "[bot, edited]: %s\n", terminal.Clean(action.Message.Content))
		case virtual.KindTyping:
			fmt.Fprintln(w.out, "(bot is typing)")
		}
	}
}
