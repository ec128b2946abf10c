package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// follower is a reader of a session's journal, over any transport.
type follower interface {
	Wait(what string, fits func(tarsytest.Event) bool) tarsytest.Event
	Events() []tarsytest.Event
	Close()
}

// A reader that is disconnected at any point reconnects with the number of the last event that it has, misses nothing and
// gets nothing twice. The reader itself lets the investigation continue, so that it always reconnects in the middle of one.
func TestDroppedReaderCatchesUp(t *testing.T) {
	t.Parallel()

	const steps = 12

	transports := map[string]func(app *tarsytest.App, sessionID string, last int64) follower{
		"WebSocket": func(app *tarsytest.App, sessionID string, last int64) follower {
			socket := app.Socket()
			socket.SubscribeAfter(tarsy.SessionChannel(sessionID), last)

			return socket
		},
		"SSE": func(app *tarsytest.App, sessionID string, last int64) follower { return app.Events(sessionID, last) },
	}

	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			seed := rand.Uint64()
			t.Logf("seed %d", seed)

			random := rand.New(rand.NewPCG(seed, 0))
			proceed := make(chan struct{}, steps)
			kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{
				Name: "next", ReadOnly: true, Handle: func(ctx context.Context, _ map[string]any) (string, error) {
					select {
					case <-proceed:
						return "go on", nil
					case <-ctx.Done():
						return "", ctx.Err()
					}
				},
			})
			app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}})

			for i := range steps {
				app.Script.Add(script.Reply{
					Thinking: fmt.Sprintf("Thought %d.", i), Text: fmt.Sprintf("Step %d.", i),
					ToolCalls: []llm.ToolCall{{Name: "kubernetes__next", Arguments: fmt.Sprintf(`{"step": %d}`, i)}},
				})
			}

			app.Script.Add(says("Done."), says("Done."))

			sessionID := app.Submit("test", "watched by somebody with a bad connection")

			var (
				all  []tarsytest.Event
				last int64
				over bool
			)

			for connections := 0; !over; connections++ {
				reader := connect(app, sessionID, last)

				if connections < steps {
					proceed <- struct{}{} // this results in at least four events
				}

				wanted := random.Int64N(4)
				reader.Wait(fmt.Sprintf("event %d", last+wanted), func(e tarsytest.Event) bool {
					return isEnd(e) || connections < steps && e.Seq() >= last+wanted
				})
				reader.Close()

				// More events may have arrived than were waited for, with the last step the end.
				for _, e := range reader.Events() {
					over = over || isEnd(e)

					if e.Seq() > 0 {
						all, last = append(all, e), e.Seq()
					}
				}
			}

			requireWholeJournal(t, app, sessionID, all)
		})
	}
}

func isEnd(e tarsytest.Event) bool {
	return e.Type == tarsy.TypeSessionStatus && e.Fields["status"] == "completed"
}

// requireWholeJournal checks that events are the session's journal: each event once, in order, as stored.
func requireWholeJournal(t *testing.T, app *tarsytest.App, sessionID string, events []tarsytest.Event) {
	t.Helper()

	journal := app.Journal(sessionID)
	require.Len(t, events, len(journal))

	for i, stored := range journal {
		require.Equal(t, int64(i+1), stored.Seq, "the journal has no gap")
		require.Equal(t, stored.Seq, events[i].Seq())

		fields := decode[map[string]any](stored.Payload)
		fields["db_event_id"], fields["channel"] = float64(stored.Seq), tarsy.SessionChannel(sessionID)
		require.Equal(t, fields, events[i].Fields)
	}
}

// More than 200 events are not replayed over a WebSocket: the reader loads the session and continues from there.
func TestCatchUpOverflows(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "look", ReadOnly: true, Text: "nothing"})
	app := tarsytest.New(t, tarsytest.Options{
		MCP: []*tarsytest.MCPServer{kubernetes}, Config: fmt.Sprintf(tarsytest.DefaultConfig, "kubernetes") + "defaults: {repeated_calls: {conclude: 0}}\n",
	})
	gate := script.NewGate()
	app.Script.Add(calls(strings.Split(strings.Repeat("kubernetes__look ", 105), " ")[:105]...),
		script.Reply{Text: "Nothing.", Gate: gate}, says("Nothing."))

	sessionID := app.Submit("test", "a long story")
	app.WaitGate(gate)

	head := app.Session(sessionID).Version
	require.Greater(t, head, int64(200))

	late, fresh := app.Socket(), app.Socket()
	late.SubscribeAfter(tarsy.SessionChannel(sessionID), head-200)
	fresh.SubscribeAfter(tarsy.SessionChannel(sessionID), head-201)
	require.InEpsilon(t, float64(head), fresh.WaitType("catchup.overflow").Fields["head"], 0)

	stream := app.Events(sessionID, 0)
	gate.Open()
	late.WaitStatus("completed")
	fresh.WaitStatus("completed")
	stream.WaitStatus("completed")

	require.Empty(t, late.OfType("catchup.overflow"), "200 events are replayed")
	require.Equal(t, head-199, firstSeq(late.Events()))
	require.Equal(t, head+1, firstSeq(fresh.Events()), "what comes after the session's version is not missed")

	var streamed []tarsytest.Event

	for _, e := range stream.Events() {
		if e.Seq() > 0 {
			streamed = append(streamed, e)
		}
	}

	requireWholeJournal(t, app, sessionID, streamed)
}

func firstSeq(events []tarsytest.Event) int64 {
	for _, e := range events {
		if e.Seq() > 0 {
			return e.Seq()
		}
	}

	return 0
}

func TestEventStreamEndsWithSession(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(says("Analysed."), says("Summed up."))
	session := app.Run("test", "an alert")

	for _, last := range []int64{0, 3, session.Version} {
		events := app.Events(session.ID, last)
		require.ErrorContains(t, events.WaitEnd(), "EOF")

		all := events.Events()
		require.Len(t, all, int(session.Version-last)+1)
		require.Equal(t, map[string]any{"type": "end", "status": "completed"}, all[len(all)-1].Fields)
	}
}

// The session list is a feed: it reports which session changed, and its current version.
func TestSessionsFeedReportsChanges(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(says("Analysed."), says("Summed up."))

	socket := app.Socket()
	socket.Subscribe(tarsy.ChannelSessions)

	session := app.Run("test", "an alert")
	socket.Wait("the session's last version", func(e tarsytest.Event) bool {
		return e.Type == tarsy.TypeSessionChanged && e.Fields["session_id"] == session.ID && e.Fields["version"] == float64(session.Version)
	})
}

// A server that stops notifies its readers, and the session continues when a server comes back.
func TestReadersAreNotifiedOfShutdown(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	gate := script.NewGate()
	app.Script.Add(script.Reply{Text: "cut off", Gate: gate})

	sessionID := app.Submit("test", "an alert")
	socket, events := app.Watch(sessionID), app.Events(sessionID, 0)
	app.WaitGate(gate)
	app.Stop()

	require.ErrorContains(t, socket.WaitEnd(), "StatusGoingAway")
	events.WaitType("bye")

	// The session is waiting, so the script must have its replies before the server starts.
	model := script.New(script.Options{})
	model.Add(says("Analysed at last."), says("Summed up."))

	next := tarsytest.New(t, tarsytest.Options{Database: app.Database, Script: model})
	require.Equal(t, "Analysed at last.", next.WaitFor(sessionID, tarsy.SessionCompleted).FinalAnalysis)
	require.Equal(t, http.StatusOK, next.Do(http.MethodGet, "/readyz", nil).Status)
}
