package mock_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// endless answers every call with the text of its last message.
func endless(string) *script.Script {
	s := script.New(script.Options{Forget: true})
	s.RouteFunc(func(*llm.Request) bool { return true }, func(r *llm.Request, _ int) script.Reply {
		return script.Reply{Text: r.Messages[len(r.Messages)-1].Content}
	})

	return s
}

func TestJournalShowsRequestsAndAnswers(t *testing.T) {
	t.Parallel()

	s := scripted(t, script.Reply{Text: "one two"})
	s.ask(t, "POST", chatPath+"?key=nobody-sees-this", chatStream("hi"), "Authorization", "Bearer sk-secret", "X-Custom", "kept")

	entries := s.Journal("")
	require.Len(t, entries, 1)

	entry := entries[0]
	require.Equal(t, "openai", entry.API)
	require.Equal(t, "POST", entry.Method)
	require.Equal(t, chatPath, entry.Path)
	require.Equal(t, "gpt-test", entry.Model)
	require.True(t, entry.Stream)
	require.Equal(t, "sequence", entry.Route)
	require.Zero(t, entry.Reply)
	require.Equal(t, 200, entry.Status)
	require.Positive(t, entry.Chunks)
	require.Empty(t, entry.Error)
	require.False(t, entry.Unexpected)
	require.Equal(t, "kept", entry.Header["X-Custom"])
	require.NotContains(t, entry.Header, "Authorization")
	require.JSONEq(t, chatStream("hi"), string(entry.Body))
	require.GreaterOrEqual(t, entry.Duration, entry.FirstByte)
	require.Positive(t, entry.FirstByte)
}

// spy reports each piece of an answer as it is written.
type spy struct {
	*httptest.ResponseRecorder

	wrote func(piece string)
}

func (s *spy) Write(piece []byte) (int, error) {
	s.wrote(string(piece))

	return s.ResponseRecorder.Write(piece)
}

func TestExchangeIsInJournalBeforeLastByte(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ path, body, last string }{
		"whole":  {chatPath, chat("x"), `"finish_reason"`},
		"stream": {chatPath, chatStream("x"), "[DONE]"},
		"error":  {chatPath, "{", `"error"`},
		"models": {"/v1/responses/input_tokens", `{"model":"m","input":"x"}`, "input_tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := mock.New(mock.Config{Script: endless})
			sent := false
			writer := &spy{httptest.NewRecorder(), func(piece string) {
				if sent = strings.Contains(piece, test.last); sent {
					require.Len(t, s.Journal(""), 1)
				}
			}}

			s.ServeHTTP(writer, httptest.NewRequest(http.MethodPost, test.path, strings.NewReader(test.body)))
			require.True(t, sent)
			require.Len(t, s.Journal(""), 1, "once")
		})
	}
}

func TestJournalIsLimitedAndOrdered(t *testing.T) {
	t.Parallel()

	s := serve(t, mock.Config{Script: endless, JournalSize: 10})
	for i := range 25 {
		s.ask(t, "POST", chatPath, chat(fmt.Sprintf("call %d", i+1)))
	}

	got := decode[page](t, s.ask(t, "GET", "/_mock/journal", ""))
	require.Len(t, got.Entries, 10)
	require.EqualValues(t, 15, got.Dropped)
	require.EqualValues(t, 25, got.Last)

	for i, entry := range got.Entries {
		require.EqualValues(t, 16+i, entry.Number)
		require.Contains(t, string(entry.Body), fmt.Sprintf(`"call %d"`, 16+i), "buffers that are used again hold what is new")
	}

	rest := decode[page](t, s.ask(t, "GET", "/_mock/journal?after=20&limit=2", ""))
	require.EqualValues(t, 21, rest.Entries[0].Number)
	require.EqualValues(t, 22, rest.Last)
	require.Len(t, rest.Entries, 2)
}

func TestJournalIsQueriedByLaneModelAPIAndNumber(t *testing.T) {
	t.Parallel()

	s := serve(t, mock.Config{Script: endless, Lane: mock.LaneByHeader})
	s.ask(t, "POST", chatPath, chat("a"), "X-Tarsy-Lane", "a")
	s.ask(t, "POST", chatPath, strings.Replace(chat("b"), "gpt-test", "gpt-other", 1), "X-Tarsy-Lane", "b")
	s.ask(t, "POST", "/v1beta/models/gemini-test:generateContent", `{"contents":[{"role":"user","parts":[{"text":"c"}]}]}`)

	for query, want := range map[string][]int64{
		"":                            {1, 2, 3},
		"?lane=a":                     {1},
		"?lane=":                      {3},
		"?model=gpt-other":            {2},
		"?api=openai":                 {1, 2},
		"?api=gemini&model=gpt-other": {},
		"?after=2":                    {3},
		"?after=99":                   {},
	} {
		numbers := []int64{}
		for _, entry := range decode[page](t, s.ask(t, "GET", "/_mock/journal"+query, "")).Entries {
			numbers = append(numbers, entry.Number)
		}

		require.Equal(t, want, numbers, query)
	}

	one := decode[exchange.Entry](t, s.ask(t, "GET", "/_mock/journal/2", ""))
	require.Equal(t, "gpt-other", one.Model)

	missing := s.ask(t, "GET", "/_mock/journal/9", "")
	require.Equal(t, 404, missing.status)
	require.Equal(t, "application/problem+json", missing.header.Get("Content-Type"))

	for _, wrong := range []string{"/_mock/journal/x", "/_mock/journal?after=-1", "/_mock/journal?limit=0", "/_mock/journal?limit=x"} {
		require.Equal(t, 400, s.ask(t, "GET", wrong, "").status, wrong)
	}

	require.Equal(t, 204, s.ask(t, "DELETE", "/_mock/journal?lane=a", "").status)
	require.Len(t, decode[page](t, s.ask(t, "GET", "/_mock/journal", "")).Entries, 2)
	require.Equal(t, 204, s.ask(t, "DELETE", "/_mock/journal", "").status)
	s.ask(t, "POST", chatPath, chat("d"))

	left := decode[page](t, s.ask(t, "GET", "/_mock/journal", "")).Entries
	require.Len(t, left, 1)
	require.EqualValues(t, 4, left[0].Number, "numbers go on")
}

func TestHostileBodiesAreValidJSONInJournal(t *testing.T) {
	t.Parallel()

	for name, body := range map[string]string{
		"not JSON":      "{oops",
		"invalid UTF-8": "\"\xff\xfe\"",
		"NUL":           "\x00\x01",
		"deeply nested": strings.Repeat("[", 20_000),
		"huge":          `{"model":"` + strings.Repeat("x", 2<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := scripted(t)
			got := s.ask(t, "POST", chatPath, body)
			require.Equal(t, 400, got.status)

			journal := s.ask(t, "GET", "/_mock/journal", "")
			require.True(t, json.Valid([]byte(journal.body)))
			require.Len(t, decode[page](t, journal).Entries, 1)
		})
	}
}

func TestJournalIsLimitedInBytes(t *testing.T) {
	t.Parallel()

	s := serve(t, mock.Config{Script: endless})
	large := strings.Repeat("x", 20<<20)

	for range 5 {
		s.ask(t, "POST", chatPath, large)
	}

	got := s.Journal("")
	require.Len(t, got, 3, "of five with 20 MiB each, those that fit into 64 MiB")
	require.EqualValues(t, 5, got[2].Number)
}
