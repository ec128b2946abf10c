package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/tarsytest"
)

// tonight is an hour after the beginning of these tests' quiet hours; morning is their end.
var (
	tonight = time.Date(2026, 11, 17, 23, 0, 0, 0, time.UTC)
	morning = time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
)

const (
	atNight       = `quiet_hours: {from: "22:00", to: "07:00"}`
	routeCritical = "  routes: [{match: [title=\"payment down\"], severity: critical}, {severity: warning}]\n"
)

// A message that is created at night is sent once, in the morning, although its server was replaced in the meantime. A
// critical one is sent immediately.
func TestMessageWaitsForTheEndOfQuietHours(t *testing.T) {
	t.Parallel()

	box, chat, clock := newMailbox(t, nil), newTarget(t, nil), clockwork.NewFakeClockAt(tonight)
	options := tarsytest.Options{Clock: clock, Env: box.Env(), Config: "alerts:\n" + routeCritical + fmt.Sprintf(
		"  write_back:\n    chat: {url: '%s', on: [finished], %s}\n    mail: %s\n", chat.URL, atNight, box.target("on: [finished], "+atNight)) + loneAgent}
	first := tarsytest.New(t, options)
	modelAnswers(first, nil)

	waiting := first.Run("test", "disk full").ID
	critical := first.Run("test", "payment down").ID

	require.Equal(t, critical, decodeBody(t, chat.next())["session_id"])
	require.Contains(t, box.next().Text, "Severity: critical")
	awaitSent(t, first, 2)

	type row struct {
		Channel, State string
		DueAt          time.Time
	}

	pending := func(app *tarsytest.App) []row {
		rows := tarsytest.Rows[row](app, `SELECT channel, state, due_at FROM announcements WHERE session_id = $1 ORDER BY channel`, waiting)
		for i := range rows {
			rows[i].DueAt = rows[i].DueAt.UTC()
		}

		return rows
	}

	want := []row{{"webhook:chat", "pending", morning}, {"webhook:mail", "pending", morning}}
	require.Equal(t, want, pending(first))

	first.Stop()
	clock.Advance(7 * time.Hour)

	options.Database = first.Database
	second := tarsytest.New(t, options)
	modelAnswers(second, nil)
	second.Run("test", "payment down")
	awaitSent(t, second, 4)
	chat.next()
	box.next()
	require.Equal(t, want, pending(second), "an hour before the end")
	require.Empty(t, chat.got)
	require.Empty(t, box.got)

	clock.Advance(time.Hour)
	require.Equal(t, waiting, decodeBody(t, chat.next())["session_id"])

	late := box.next()
	date, err := late.Date()
	require.NoError(t, err)
	require.True(t, morning.Equal(date), "mail programs sort it where it came")
	awaitSent(t, second, 6)
	require.Empty(t, chat.got)
	require.Empty(t, box.got)
}

// A message may be a day late, and quiet hours do not count.
func TestQuietHoursDoNotMakeMessageTooOld(t *testing.T) {
	t.Parallel()

	chat, clock := newTarget(t, nil), clockwork.NewFakeClockAt(tonight)
	options := tarsytest.Options{Clock: clock, Config: writeBack(fmt.Sprintf(
		"    chat: {url: '%s', on: [finished], quiet_hours: {from: \"22:59\", to: \"22:58\", except: []}}\n", chat.URL))}
	first := tarsytest.New(t, options)
	modelAnswers(first, nil)

	id := first.Run("test", "disk full").ID
	first.Stop()
	clock.Advance(40 * time.Hour)

	options.Database = first.Database
	tarsytest.New(t, options)
	require.Equal(t, id, decodeBody(t, chat.next())["session_id"])
}
