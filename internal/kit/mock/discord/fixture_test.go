package discord_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/wait"
)

// token has the format of real tokens: its first part is the ID of the bot, which some clients read.
const token = "MTQ1NjA3NDQ0Mzk4NDk5NDMwNA.mock.mock"

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// setup is a guild with two people, one of whom is on call.
func setup() discord.Setup {
	return discord.Setup{
		Token: token, Bot: "tarsy",
		Users: []discord.User{{Name: "alice", DisplayName: "Alice"}, {Name: "bob"}, {Name: "pager", Bot: true}},
		Guilds: []discord.Guild{{
			Name: "ops", Roles: []discord.Role{{Name: "on-call"}},
			Channels: []discord.Channel{{Name: "alerts", Topic: "What is on fire"}, {Name: "read-only", Deny: []string{"send", "threads"}}, {Name: "secret", Deny: []string{"view"}}},
			Members:  []discord.Member{{User: "alice", Nick: "al", Roles: []string{"on-call"}}, {User: "bob"}, {User: "pager"}},
		}},
	}
}

// start runs a server until the test ends.
func start(t *testing.T, change ...func(*discord.Config)) *discord.Server {
	t.Helper()

	cfg := discord.Config{Setup: setup()}
	for _, by := range change {
		by(&cfg)
	}

	s, err := discord.New(cfg)
	require.NoError(t, err)
	require.NoError(t, s.Start())
	t.Cleanup(s.Stop)

	return s
}

// within returns a context that limits a wait that must not take long.
func within(t *testing.T) context.Context {
	t.Helper()

	return wait.Context(t)
}

func id(t *testing.T, s *discord.Server, ref string) string {
	t.Helper()

	found, err := s.ID(ref)
	require.NoError(t, err)

	return found
}

// next receives from a channel, or fails the test.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()

	select {
	case value := <-from:
		return value
	case <-within(t).Done():
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}
