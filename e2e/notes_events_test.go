package e2e

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// A reader that is disconnected at any point reconnects with the number of the last event that it has, misses nothing and
// gets nothing twice. The reader itself captures the notes, so that it always reconnects in the middle of their processing.
func TestDroppedReaderOfNotesCatchesUp(t *testing.T) {
	t.Parallel()

	const count, each = 12, 4

	transports := map[string]func(app *tarsytest.App, last int64) follower{
		"WebSocket": func(app *tarsytest.App, last int64) follower {
			socket := app.Socket()
			socket.SubscribeAfter(notebook.ChannelNotes, last)

			return socket
		},
		"SSE": func(app *tarsytest.App, last int64) follower { return app.NoteEvents(last) },
	}

	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			seed := rand.Uint64()
			t.Logf("seed %d", seed)

			random := rand.New(rand.NewPCG(seed, 0))
			app := tarsytest.New(t, tarsytest.Options{})
			answerItems(app.Script, app.Project("Machines").ID, notHeld)

			total := int64(1 + each*count)
			steady := app.NoteEvents(0)

			var (
				all  []tarsytest.Event
				last int64
			)

			for connections := 0; last < total; connections++ {
				reader := connect(app, last)

				if connections < count {
					app.Capture(item(connections))
				}

				wanted := last + 1 + random.Int64N(3)
				if connections >= count {
					wanted = total
				}

				reader.Wait(fmt.Sprintf("event %d", wanted), func(e tarsytest.Event) bool { return e.Seq() >= wanted })
				reader.Close()

				for _, e := range reader.Events() {
					if e.Seq() > 0 {
						all, last = append(all, e), e.Seq()
					}
				}
			}

			steady.Wait(fmt.Sprintf("event %d", total), func(e tarsytest.Event) bool { return e.Seq() == total })
			requireContiguous(t, all)
			require.EqualValues(t, 1, all[0].Seq())

			for i, e := range steady.Events() {
				require.JSONEq(t, string(e.Raw), string(all[i].Raw))
			}
		})
	}
}
