package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/program"
)

func start(t *testing.T, options ...flowtest.Option) *flowtest.Host {
	t.Helper()

	return flowtest.New(t, configure, append(options, flowtest.WithDiscord(), flowtest.WithLLM())...).Start()
}

func TestDeclarativeAgentAnswersParagraphByParagraph(t *testing.T) {
	t.Parallel()

	host := start(t)
	host.LLM().Enqueue("First.\n\nSecond.")
	host.Discord().Say("general", "alice", "Hello")
	host.Discord().WaitSent("the last paragraph", flowtest.Content("Second."))
	host.Discord().AssertQuiet()
	require.Equal(t, []string{"First.", "Second."}, host.Discord().Contents())

	host.AssertOrdered("agent",
		flowtest.Expect("the question", func(p agent.Prompt) bool { return p.Text == "alice: Hello" }),
		flowtest.Expect("the response", func(r agent.Response) bool { return r.Last }),
	)
}

func TestDeclarativeAgentApologizesForItsModel(t *testing.T) {
	t.Parallel()

	host := start(t)
	host.LLM().EnqueueFailure(errors.New("quota exceeded"))
	host.Discord().Say("general", "alice", "Hello")
	host.Discord().WaitSent("the apology", flowtest.Content("I cannot answer now. Please try again later."))
}

func TestBothBranchesAreKeptInFiles(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	inFiles := flowtest.WithEnv(func(env *program.Env) {
		env.OpenJournal = func(name string) (journal.Journal[flow.Entry], error) {
			return journal.OpenFile[flow.Entry](journal.FileConfig{Dir: filepath.Join(dir, name)})
		}
	})

	first := start(t, inFiles)
	first.LLM().Enqueue("Noted.")
	first.Discord().Say("general", "alice", "Remember this")
	first.WaitEntry("discord", flowtest.Expect[discord.Sent]("the response"))
	first.Stop()

	second := start(t, inFiles)
	require.Equal(t, "Remember this", flowtest.Entries[discord.Message](second, "discord")[0].Content)
	require.Equal(t, "Noted.", flowtest.Entries[discord.Sent](second, "discord")[0].Text)
	require.Equal(t, "alice: Remember this", flowtest.Entries[agent.Prompt](second, "agent")[0].Text)
}

func TestDeclarativeAgentDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, configure, flowtest.WithDiscord(), flowtest.WithLLM())
	flowtest.Golden(t, "flow.mmd", []byte(host.Flow().Mermaid()))
}
