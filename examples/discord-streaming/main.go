// Discord-streaming repeats each message word by word, in one reply that grows. It shows how to write your own branch.
package main

import (
	"context"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/examples/internal/example"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/flow/program"
)

func main() { example.Main(configure, example.Options{Discord: true}) }

// Text is a text to speak, Word a word of it.
type (
	Text struct{ ChannelID, MessageID, Content string }
	Word struct {
		Text

		Word string
		Last bool
	}
)

// Speaker is a branch that speaks slowly.
type Speaker struct {
	*flow.Branch

	Texts flow.In[Text]
	Words flow.Out[Word]
	clock clockwork.Clock
}

func newSpeaker(clock clockwork.Clock) *Speaker {
	s := &Speaker{Branch: flow.NewBranch("speaker"), clock: clock}
	s.Texts = flow.Consumes(s.Branch, s.speak)
	s.Words = flow.Produces[Word](s.Branch)

	return s
}

func (s *Speaker) speak(ctx context.Context, text Text) error {
	words := strings.Fields(text.Content)
	for i, word := range words {
		err := s.Words.Send(ctx, Word{Text: text, Word: word + " ", Last: i == len(words)-1})
		if err != nil {
			return err
		}

		select {
		case <-s.clock.After(300 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}

	return nil
}

// configure declares the flow: the words of one message share a stream, so they build up one reply.
func configure(env *program.Env) (*flow.Flow, error) {
	chat, err := discord.New(discord.Config{
		Connection: discord.ClientConfig{Token: env.Discord.Token, API: env.Discord.API, Gateway: env.Discord.Gateway, End: env.Discord.End},
		Channels:   []string{env.Discord.Channel},
		Clock:      env.Clock, Logger: env.Logger,
	})
	if err != nil {
		return nil, err
	}

	speaker := newSpeaker(env.Clock)

	return flow.Build([]*flow.Branch{chat.Branch, speaker.Branch},
		flow.Route(chat.Messages, speaker.Texts, func(_ context.Context, m discord.Message) (Text, error) {
			return Text{ChannelID: m.ChannelID, MessageID: m.MessageID, Content: m.Content}, nil
		}),
		flow.Route(speaker.Words, chat.Drafts, func(_ context.Context, w Word) (discord.Draft, error) {
			return discord.Draft{
				ChannelID: w.ChannelID, ReplyTo: w.MessageID, StreamID: w.MessageID, Text: w.Word, Last: w.Last,
			}, nil
		}),
	)
}
