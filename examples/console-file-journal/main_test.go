package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/program"
)

func TestConversationIsInTheJournal(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, configure, flowtest.WithConsole()).Start()
	host.Console().Send("Remember this")
	require.Equal(t, []string{"[bot]: Remember this"}, host.Console().CollectUntilQuiet())
	require.Equal(t, []console.Line{{Sender: "user", Text: "Remember this"}}, flowtest.Entries[console.Line](host, "console"))
}

// TestConversationContinuesFromTheFile uses a real file: a second start continues where the first one ended, even after a torn last line.
func TestConversationContinuesFromTheFile(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	inFiles := flowtest.WithEnv(func(env *program.Env) {
		env.OpenJournal = func(string) (journal.Journal[flow.Entry], error) {
			return journal.OpenFile[flow.Entry](journal.FileConfig{Dir: dir})
		}
	})

	first := flowtest.New(t, configure, flowtest.WithConsole(), inFiles).Start()
	first.Console().Send("Remember this")
	require.Equal(t, []string{"[bot]: Remember this"}, first.Console().CollectUntilQuiet())
	first.Stop()

	tear(t, dir)

	second := flowtest.New(t, configure, flowtest.WithConsole(), inFiles).Start()
	require.Equal(t, "Last time you wrote: Remember this", second.Console().WaitLine())
	second.Console().AssertQuiet()

	second.Console().Send("And this")
	require.Equal(t, []string{"[bot]: And this"}, second.Console().CollectUntilQuiet())
	require.Len(t, flowtest.Entries[console.Line](second, "console"), 2)
}

// tear appends half a record to the newest file, as a process does that is killed while writing.
func tear(t *testing.T, dir string) {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	require.NoError(t, err)
	require.NotEmpty(t, files)

	file, err := os.OpenFile(files[len(files)-1], os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"seq":4,"at":"20`)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func TestConsoleFileJournalDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	flowtest.Golden(t, "flow.mmd", []byte(flowtest.New(t, configure, flowtest.WithConsole()).Flow().Mermaid()))
}
