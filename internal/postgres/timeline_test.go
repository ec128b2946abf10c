package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// units is the length of a text as browsers count it.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

func TestPreviewTruncatesContentBetweenCharacters(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)

	contents := []string{
		"", "abc", "abcdefghij", "äöüßéèêñçø", "€uro — ‘quoted’", "😀😀😀😀😀", "a😀b😀c😀", "\U0010FFFFx\U0010FFFF", "\uFFFD\uD7FF\uE000",
		"one\ntwo\tthree\r\n", strings.Repeat("x", 5_000) + "😀", strings.Repeat("😀", 3_000),
		// These are cut in the database.
		strings.Repeat("x", 70_000), strings.Repeat("😀", 30_000), strings.Repeat("ä", 40_000), strings.Repeat("a😀ä", 20_000),
	}

	var step progress.Step

	for i, content := range contents {
		event := storetest.NewTimelineEvent(claim.SessionID, int64(i+1), storetest.Epoch())
		event.Content, event.Metadata = content, nil
		step.Timeline = append(step.Timeline, event)
	}

	commit(t, db, claim, step)

	for _, preview := range []int{0, 1, 2, 3, 5, 9, 10, 300, 10_000} {
		items, version := storetest.WholeTimeline(t, db, claim.SessionID, preview)
		require.Equal(t, int64(1), version)
		require.Len(t, items, len(contents))

		for i, item := range items {
			whole := contents[i]
			require.Equal(t, units(whole), item.ContentLength, "%q", whole)
			require.True(t, utf8.ValidString(item.Content))
			require.True(t, strings.HasPrefix(whole, item.Content), "the first %d of %q are not %q", preview, whole, item.Content)

			if preview == 0 || units(whole) <= preview {
				require.Equal(t, whole, item.Content)
				require.False(t, item.Truncated)

				continue
			}

			require.True(t, item.Truncated)
			require.LessOrEqual(t, units(item.Content), preview)
			require.GreaterOrEqual(t, units(item.Content), preview-1, "the first %d of %q are not %q", preview, whole, item.Content)
		}
	}
}

func TestPreviewOfToolResultKeepsHeadAndTail(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)

	var step progress.Step

	// The last two are cut in the database too.
	for i, middle := range []int{100, 1_000, 30_000, 3_000_000} {
		event := storetest.NewTimelineEvent(claim.SessionID, int64(i+1), storetest.Epoch())
		event.EventType, event.Status, event.Metadata = tarsy.EventToolCall, tarsy.EventCompleted, nil
		event.Content = "first 😀" + strings.Repeat("ä", middle) + "😀 last"
		step.Timeline = append(step.Timeline, event)
	}

	streaming := step.Timeline[1]
	streaming.ID, streaming.SequenceNumber, streaming.Status = ident.New(), 5, tarsy.EventStreaming
	commit(t, db, claim, progress.Step{Timeline: append(step.Timeline, streaming)})

	items, _ := storetest.WholeTimeline(t, db, claim.SessionID, 400)
	require.Equal(t, step.Timeline[0].Content, items[0].Content)

	for i, event := range step.Timeline[1:] {
		item := items[i+1]
		require.Equal(t, units(event.Content), item.ContentLength)
		require.True(t, item.Truncated)
		require.True(t, utf8.ValidString(item.Content))
		require.LessOrEqual(t, units(item.Content), 400)
		require.True(t, strings.HasPrefix(item.Content, "first 😀ää"), item.Content)
		require.True(t, strings.HasSuffix(item.Content, "ää😀 last"), item.Content)
		require.Contains(t, item.Content, fmt.Sprintf("\n[cut: about %d of %d characters left out]\n", item.ContentLength-400, item.ContentLength))
	}

	require.True(t, strings.HasPrefix(streaming.Content, items[4].Content), "what streams goes on from its beginning")

	items, _ = storetest.WholeTimeline(t, db, claim.SessionID, 20)
	require.Equal(t, "first 😀"+strings.Repeat("ä", 12), items[1].Content, "no space for a note")
}

func TestPreviewOmitsLargeArguments(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)

	metadata := []tarsy.Metadata{
		nil,
		tarsy.Metadata(`{"server_name":"kubernetes"}`),
		tarsy.Metadata(`{"arguments":null,"server_name":"kubernetes"}`),
		tarsy.Metadata(`{"arguments":"` + strings.Repeat("x", 18) + `","server_name":"kubernetes"}`),
		tarsy.Metadata(`{"arguments":"` + strings.Repeat("x", 19) + `","server_name":"kubernetes"}`),
		tarsy.Metadata(`{"arguments":{"query":"` + strings.Repeat("y", 40) + `"},"server_name":"kubernetes"}`),
	}

	var step progress.Step

	for i := range metadata {
		event := storetest.NewTimelineEvent(claim.SessionID, int64(i+1), storetest.Epoch())
		event.EventType, event.Metadata, event.Content = tarsy.EventToolCall, metadata[i], "done"
		step.Timeline = append(step.Timeline, event)
	}

	commit(t, db, claim, step)

	items, _ := storetest.WholeTimeline(t, db, claim.SessionID, 20)

	for i, item := range items {
		large := i >= 4
		require.Equal(t, large, item.Truncated, "%v", metadata[i])
		require.Equal(t, "done", item.Content)

		if large {
			require.JSONEq(t, `{"server_name": "kubernetes"}`, string(item.Metadata))
		} else {
			require.Equal(t, metadata[i], item.Metadata)
		}
	}

	whole, _ := storetest.WholeTimeline(t, db, claim.SessionID, 0)

	for i, item := range whole {
		require.Equal(t, metadata[i], item.Metadata)
		require.False(t, item.Truncated)
	}
}

func TestTimelineEventIsFoundOnlyInItsSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim, other := f.Hold(t, db), f.Hold(t, db)
	event := storetest.NewTimelineEvent(claim.SessionID, 1, storetest.Epoch())
	event.Content = strings.Repeat("long 😀 ", 5_000)
	commit(t, db, claim, progress.Step{Timeline: []tarsy.TimelineEvent{event}})

	found, err := db.TimelineEvent(t.Context(), claim.SessionID, event.ID)
	require.NoError(t, err)
	storetest.RequireSame(t, tarsy.TimelineItem{TimelineEvent: event, ContentLength: units(event.Content)}, *found)

	for _, id := range []string{ident.New(), "no-id", ""} {
		_, err = db.TimelineEvent(t.Context(), claim.SessionID, id)
		require.Equal(t, tarsy.CodeEventNotFound, tarsy.CodeOf(err))
	}

	_, err = db.TimelineEvent(t.Context(), other.SessionID, event.ID)
	require.Equal(t, tarsy.CodeEventNotFound, tarsy.CodeOf(err))

	for _, id := range []string{ident.New(), "no-id", ""} {
		_, err = db.TimelineEvent(t.Context(), id, event.ID)
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	}
}
