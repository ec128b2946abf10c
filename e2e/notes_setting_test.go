package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// configured boots a server with these settings in the section notes.
func configured(t *testing.T, settings string) *tarsytest.App {
	t.Helper()

	return tarsytest.New(t, tarsytest.Options{Config: loneAgent + "notes: {" + settings + "}\n"})
}

func TestNotesAreProcessedByConfiguredModel(t *testing.T) {
	t.Parallel()

	answers := script.New(script.Options{})
	answers.Add(tarsytest.Extracts())
	server := tarsytest.NewLLMServer(t, answers)
	provider := func(model string) string {
		return "{type: openai, model: " + model + ", api: chat, api_key_env: KEY, base_url: '" + server.OpenAI() + "'}"
	}

	app := tarsytest.New(t, tarsytest.Options{
		Config: loneAgent + "llm_providers: {one: " + provider("model-one") + ", two: " + provider("model-two") + "}\n" +
			"defaults: {llm_provider: one}\nnotes: {llm_provider: two}\n",
		Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
	})
	app.CaptureAndProcess("Nothing.")

	require.Len(t, server.Requests(), 1)
	require.Contains(t, string(server.Requests()[0].Body), "model-two")
}

func TestThresholdsOfNotesAreConfigurable(t *testing.T) {
	t.Parallel()

	// By default a confidence of 0.9 is enough, and one common word of three is too little.
	app := configured(t, "confidence_threshold: 0.92, duplicate_threshold: 0.3")
	first := app.Entity(notebook.EntityTask, "Rotate keys")

	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Rotate logs", Confidence: 0.9}))
	app.Script.Route(tarsytest.NoteOrganizer, tarsytest.Organizes(tarsytest.Place{DuplicateOf: first.ID}))

	note := app.CaptureAndProcess("Rotate logs")
	require.Equal(t, notebook.EntityProposed, note.Entities[0].State)

	var kinds []notebook.ReviewKind
	for _, item := range note.ReviewItems {
		kinds = append(kinds, item.Kind)
	}

	require.ElementsMatch(t, []notebook.ReviewKind{notebook.ReviewEntity, notebook.ReviewDuplicate}, kinds)
}

func TestRateOfNotesIsConfigurable(t *testing.T) {
	t.Parallel()

	app := configured(t, "rate_per_minute: 1")
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts())

	first := app.Capture("One.")
	refused := app.Do(http.MethodPost, "/api/v1/notes", map[string]string{"content": "Two.", "source": "cli"})
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	app.WaitProcessed(first.ID)

	unlimited := configured(t, "rate_per_minute: 0")
	unlimited.Script.RouteFunc(func(*llm.Request) bool { return true }, func(*llm.Request, int) script.Reply { return tarsytest.Extracts() })

	const many = 130 // the default is 120

	for _, id := range captureItems(unlimited, many) {
		unlimited.WaitProcessed(id)
	}
}

func TestAttemptsAndTimeOfNotesAreConfigurable(t *testing.T) {
	t.Parallel()

	app := configured(t, "max_attempts: 1, timeout: 1s")
	never := script.NewGate()
	app.Script.RouteFunc(func(*llm.Request) bool { return true }, func(*llm.Request, int) script.Reply { return script.Reply{Text: "{}", Gate: never} })

	began := time.Now()
	note := app.WaitNoteFailed(app.Capture("Fix it.").ID)
	require.Contains(t, note.ProcessingError, "did not answer in time")
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	require.Equal(t, 1, app.NoteJobs(note.ID)[0].Attempt)
}

// More jobs run in parallel than the default of four extractions, two organizations and one reprocessing.
func TestConcurrencyOfNotesIsConfigurable(t *testing.T) {
	t.Parallel()

	const extract, organize = 5, 3

	app := configured(t, "concurrency: {extract: 5, organize: 3, reprocess: 2}")
	project := app.Project("Machines")
	hold := func(agent string, count int, answer script.Reply) []*script.Gate {
		gates := make([]*script.Gate, count)
		for i := range gates {
			gates[i] = script.NewGate()
		}

		app.Script.RouteFunc(func(r *llm.Request) bool { return r.Agent == agent }, func(_ *llm.Request, n int) script.Reply {
			reply := answer
			if n < count {
				reply.Gate = gates[n]
			}

			return reply
		})

		return gates
	}

	extractions := hold(tarsytest.NoteExtractor, extract, tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Repair machine"}))
	organizations := hold(tarsytest.NoteOrganizer, organize, tarsytest.Organizes(tarsytest.Place{ProjectID: project.ID}))
	ids := captureItems(app, extract)

	for _, gates := range [][]*script.Gate{extractions, organizations} {
		for _, gate := range gates {
			app.WaitGate(gate) // none is open yet
		}

		for _, gate := range gates {
			gate.Open()
		}
	}

	for _, id := range ids {
		app.WaitOrganized(id)
	}

	requireTwoReprocessJobs(t, app)
}

// requireTwoReprocessJobs requests reprocessing twice, and requires both jobs to run at the same time while a table lock holds them.
func requireTwoReprocessJobs(t *testing.T, app *tarsytest.App) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), app.Database)
	require.NoError(t, err)

	defer conn.Close(t.Context())

	for _, since := range []string{"2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"} {
		app.PauseQueue(notebook.QueueReprocess)
		require.Equal(t, http.StatusAccepted, app.Do(http.MethodPost, "/api/v1/notes/reprocess", map[string]string{"since": since}).Status)
	}

	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE notes IN EXCLUSIVE MODE`)
	require.NoError(t, err)

	app.ResumeQueue(notebook.QueueReprocess)
	app.WaitAnswer("/api/v1/jobs?state=running&queue="+notebook.QueueReprocess, "two jobs to run", func(r tarsytest.Response) bool {
		return strings.Count(string(r.Body), `"kind":`) == 2
	})
	require.NoError(t, tx.Rollback(t.Context()))
	app.WaitAnswer("/api/v1/jobs?state=running", "the jobs to end", func(r tarsytest.Response) bool { return !strings.Contains(string(r.Body), `"kind":`) })
}
