package mock_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/llm/script"
)

func TestLanesSeparateTwentyParallelCallers(t *testing.T) {
	t.Parallel()

	const callers = 20

	for name, by := range map[string]struct {
		lane   func(r *http.Request) string
		header string
	}{
		"by header": {mock.LaneByHeader, "X-Tarsy-Lane"},
		"by key":    {mock.LaneByKey, "Authorization"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t, mock.Config{Lane: by.lane, Script: fresh(
				script.Reply{Text: "first"}, script.Reply{Text: "second"}, script.Reply{Text: "third"})})

			var all sync.WaitGroup

			for i := range callers {
				all.Go(func() {
					for _, want := range []string{"first", "second", "third"} {
						got := s.ask(t, "POST", chatPath, chat("hi"), by.header, fmt.Sprintf("Bearer caller-%d", i))
						if !strings.Contains(got.body, want) {
							t.Errorf("caller %d: want %s in %s", i, want, got.body)
						}
					}
				})
			}

			all.Wait()
			require.Equal(t, 200, s.ask(t, "GET", "/_mock/verify", "").status)

			lanes := decode[struct{ Lanes []string }](t, s.ask(t, "GET", "/_mock/lanes", "")).Lanes
			require.Len(t, lanes, callers)

			for _, lane := range lanes {
				require.Len(t, s.Journal(lane), 3)
			}
		})
	}
}

func TestLaneByKeyShowsHashAndNotKey(t *testing.T) {
	t.Parallel()

	const secret = "sk-very-secret-0123456789"

	for name, test := range map[string]struct{ path, header string }{
		"bearer":   {chatPath, "Authorization"},
		"x-api":    {chatPath, "X-Api-Key"},
		"google":   {chatPath, "X-Goog-Api-Key"},
		"azure":    {chatPath, "Api-Key"},
		"by query": {chatPath + "?key=" + secret, "Accept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t, mock.Config{Lane: mock.LaneByKey, Script: fresh(script.Reply{Text: "hi"})})

			value := map[string]string{"Authorization": "Bearer " + secret, "Accept": "*/*"}[test.header]
			if value == "" {
				value = secret
			}

			require.Equal(t, 200, s.ask(t, "POST", test.path, chat("hi"), test.header, value).status)

			journal := s.ask(t, "GET", "/_mock/journal", "").body
			require.NotContains(t, journal, secret)

			lane := decode[page](t, answer{body: journal}).Entries[0].Lane
			require.Regexp(t, `^key-[0-9a-f]{12}$`, lane)
		})
	}
}

func TestLanesOverLimitAreRefusedAndNoneIsDropped(t *testing.T) {
	t.Parallel()

	s := serve(t, mock.Config{Lane: mock.LaneByHeader, MaxLanes: 2, Script: fresh(script.Reply{Text: "hi"}, script.Reply{Text: "ho"})})
	require.Equal(t, 200, s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", "a").status)
	require.Equal(t, 200, s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", "b").status)

	refused := s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", "c")
	require.Equal(t, 400, refused.status)
	require.Contains(t, refused.body, "there are 2 lanes already")
	require.Contains(t, s.ask(t, "GET", "/_mock/verify", "").body, `"unexpected":["request 3, POST `+chatPath+`: there are 2 lanes already`)

	require.Equal(t, 204, s.ask(t, "POST", "/_mock/reset?lane=a", "").status)
	require.Contains(t, s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", "c").body, "hi")
	require.Contains(t, s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", "b").body, "ho", "the others go on where they were")

	long := s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", strings.Repeat("l", 201))
	require.Contains(t, long.body, "at most 200 bytes")

	require.Equal(t, 204, s.ask(t, "POST", "/_mock/reset", "").status)
	require.NotContains(t, s.ask(t, "GET", "/_mock/verify", "").body, "unexpected")
}
