package tarsytest_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/testfailure"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func skipUpdate(t *testing.T) {
	t.Helper()

	if flag.Lookup("update").Value.String() == "true" {
		t.Skip("-update would write the mistakes of this test into its golden file")
	}
}

func TestDifferingGoldenFileFailsTest(t *testing.T) {
	t.Parallel()
	skipUpdate(t)

	require.Empty(t, testfailure.Of(t, func(t testing.TB) { tarsytest.Golden(t, "greeting.golden", []byte("hello\n")) }))

	complaint := testfailure.Of(t, func(t testing.TB) { tarsytest.Golden(t, "greeting.golden", []byte("goodbye\n")) })
	require.Contains(t, complaint, "greeting.golden")
	require.Contains(t, complaint, "hello")
	require.Contains(t, complaint, "goodbye")
	require.Contains(t, complaint, "-update")
}

func TestMissingGoldenFileFailsTest(t *testing.T) {
	t.Parallel()
	skipUpdate(t)

	complaint := testfailure.Of(t, func(t testing.TB) { tarsytest.Golden(t, "nothing.golden", nil) })
	require.Contains(t, complaint, "no golden file yet")
}

// Two runs of the same story have different ids and times, and look the same once they are normalized.
func TestNormalizerGivesEachIDOneStableName(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})

	var seen []string

	for range 2 {
		app.Script.Add(script.Reply{Thinking: "Hm.", Text: "It was the cache."}, script.Reply{Text: "The cache."})

		sessionID := app.Submit("test", "an alert")
		socket := app.Watch(sessionID)
		socket.WaitStatus("completed")

		n := app.Normalizer(sessionID)

		var all []byte

		for _, e := range socket.Events() {
			if e.Seq() > 0 {
				all = append(append(all, e.Raw...), '\n')
			}
		}

		answer := app.Do("GET", "/api/v1/sessions/"+sessionID, nil)
		seen = append(seen, string(n.Normalize(append(all, answer.Body...))))
		require.NotContains(t, seen[len(seen)-1], sessionID)
		require.Contains(t, seen[len(seen)-1], string(n.Normalize(all)), "asking again changes nothing")
	}

	require.Equal(t, seen[0], seen[1])

	for _, name := range []string{
		"{SESSION_ID}", "{STAGE_ID_1}", "{EXECUTION_ID_1}", "{EVENT_ID_1}", "{EVENT_ID_4}", "{TIMESTAMP}", "{SERVER_ID}",
	} {
		require.Contains(t, seen[0], name)
	}

	require.NotContains(t, seen[0], "{ID_", "every id of a session has a name that says what it is")
}
