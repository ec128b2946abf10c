package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
)

// conversation is a command in a terminal, with a user who types.
type conversation struct {
	*clientCommand

	keys *io.PipeWriter
}

// converse runs a command in a terminal.
func (s *server) converse(t *testing.T, args ...string) *conversation {
	t.Helper()

	stdin, keys := io.Pipe()
	c := &conversation{
		clientCommand: &clientCommand{stdout: newBuffer(), stderr: newBuffer(), done: make(chan struct{})}, keys: keys,
	}

	go func() {
		defer close(c.done)

		c.code = cli.Run(t.Context(), cli.Process{
			Name: "tarsy", Args: args, Stdin: stdin, Stdout: c.stdout, Stderr: c.stderr, Env: append([]string{"TERM=xterm"}, s.env...),
			Columns: func(any) int { return 100 },
		})
	}()

	t.Cleanup(func() {
		_ = keys.Close()
		c.end()
	})

	return c
}

// press types keys.
func (c *conversation) press(t *testing.T, keys string) {
	t.Helper()

	_, err := io.WriteString(c.keys, keys)
	require.NoError(t, err)
}

const (
	ctrlC   = "\x03"
	ctrlD   = "\x04"
	arrowUp = "\x1b[A"
)

// times returns how often a text was printed.
func (c *conversation) times(text string) int { return strings.Count(c.stdout.String(), text) }

func TestAskWithoutQuestionIsConversation(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "ask", id, "asked\x1b[2J before?").code)

	c := s.converse(t, "ask", id)
	c.waitForOutput(t, "asked before?")
	c.waitForOutput(t, "The cache has no bound.")
	c.press(t, "is it SLOW?\r")
	c.waitForOutput(t, "paragraph.\x1b[K\r\n")
	require.NotContains(t, c.stdout.String(), "ond paragraph", "a paragraph is printed when it is complete")
	require.Contains(t, c.stdout.String(), "The \x1b[1mfirst\x1b[0m paragraph.", "Markdown is rendered")
	s.gate.Open()
	c.waitForOutput(t, "The second paragraph.")
	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())
}

func TestPipedConversationAnswersEachLine(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	got := tarsyWith(t, s.env, "why?\n\nis it over?\n", "ask", id)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, strings.Repeat("# Found it\n\nThe cache has no bound.\n", 2), got.stdout)
	require.Regexp(t, `(?m)^→ cluster.get_pods \(namespace=shop\) … \d+`, got.stderr)

	got = tarsyWith(t, s.env, "why?\nis it over?\n", "ask", id, "-o", "json")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 2, "one object on each line")

	for _, line := range lines {
		var answer struct {
			Stage  tarsy.StageDetail `json:"stage"`
			Answer string            `json:"answer"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &answer))
		require.Equal(t, tarsy.StatusCompleted, answer.Stage.Status)
		require.Contains(t, answer.Answer, "The cache has no bound.")
	}
}

func TestCtrlCCancelsAnswerAndConversationContinues(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	c := s.converse(t, "ask", id)
	c.press(t, "SLOW?\r")
	c.waitForOutput(t, "paragraph.\x1b[K\r\n")
	c.press(t, ctrlC)
	c.waitForOutput(t, "Answer cancelled.")

	shown := tarsyWith(t, s.env, "", "sessions", "show", id)
	require.Contains(t, shown.stdout, "No answer\nIt was cancelled.", "the server has stopped it")

	s.gate.Open()
	c.press(t, "again?\r")
	c.waitForOutput(t, "The second paragraph.")
	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())
	require.NotContains(t, c.stdout.String(), "✗")
}

func TestConversationRecallsQuestionsAndEnds(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "ask", id, "first question").code)

	// The history begins with the earlier questions. A line that was typed and then discarded is not sent.
	c := s.converse(t, "ask", id)
	c.press(t, "typed"+ctrlC+arrowUp+"?\r")
	c.waitForOutput(t, "first question?\x1b[0m\x1b[K\r\n")
	c.waitForOutput(t, "→ cluster.get_pods (namespace=shop) … ")
	c.press(t, arrowUp+"!\r")
	c.waitForOutput(t, "first question?!\x1b[0m\x1b[K\r\n")
	c.press(t, "/exit\r")
	require.Equal(t, cli.ExitOK, c.end())

	shown := tarsyWith(t, s.env, "", "sessions", "show", id).stdout
	for _, question := range []string{"first question", "first question?", "first question?!"} {
		require.Contains(t, shown, "Question from api-client\n"+question+"\n\nAnswer")
	}

	require.NotContains(t, shown, "typed")

	for _, keys := range []string{ctrlC, ctrlD, "/exit\r"} {
		c := s.converse(t, "ask", id)
		c.press(t, keys)
		require.Equal(t, cli.ExitOK, c.end(), "%q", keys)
	}
}

func TestRefusedQuestionLeavesConversationOpen(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "ask", id, "WAIT", "--no-wait").code)

	c := s.converse(t, "ask", id)
	c.press(t, "busy?\r")
	c.waitForOutput(t, "✗ another question is being answered")
	c.waitForOutput(t, "stop it with tarsy sessions")
	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())

	got := tarsyWith(t, s.env, "one\ntwo\n", "ask", id)
	require.Equal(t, cli.ExitFailed, got.code)
	require.Equal(t, 2, strings.Count(got.stderr, "tarsy: another question is being answered"), got.stderr)
	require.Empty(t, got.stdout)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "sessions", "cancel", id).code)
}

func TestConversationWaitsForRunningSession(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "WAIT").stdout)
	s.until(t, id, tarsy.SessionInProgress)

	c := s.converse(t, "ask", id)
	c.stderr.wait(t, "The session is in progress. Questions can be asked when it has ended")
	s.gate.Open()
	c.stderr.wait(t, "session   completed after ")
	c.waitForOutput(t, "Ask about it; Ctrl-D ends.")
	c.press(t, "why?\r"+ctrlD)
	require.Equal(t, cli.ExitOK, c.end())
	require.Contains(t, c.stdout.String(), "never")
}

func TestPipedConversationExitsWith5AfterFailedAnswer(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	got := tarsyWith(t, s.env, "FAIL\n", "ask", id)
	require.Equal(t, cli.ExitNotCompleted, got.code, got.stderr)
	require.Contains(t, got.stderr, "No answer: it failed: ")
	require.Empty(t, got.stdout)
}

// proxy is a proxy to a server that can be blocked.
type proxy struct {
	*httptest.Server

	closed atomic.Bool
}

func newProxy(t *testing.T, s *server) (*proxy, *server) {
	t.Helper()

	target, err := url.Parse("http://" + s.Addr())
	require.NoError(t, err)

	p, handler := &proxy{}, httputil.NewSingleHostReverseProxy(target)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.closed.Load() {
			panic(http.ErrAbortHandler)
		}

		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)

	return p, &server{App: s.App, env: append([]string{"TARSY_SERVER=" + p.URL}, s.env...)}
}

func TestConversationContinuesAfterLostConnection(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	proxy, viaProxy := newProxy(t, s)
	c := viaProxy.converse(t, "ask", id)
	c.press(t, "SLOW?\r")
	c.waitForOutput(t, "paragraph.\x1b[K\r\n")
	proxy.CloseClientConnections()
	c.waitForOutput(t, "! Reconnected.")
	s.gate.Open()
	c.waitForOutput(t, "The second paragraph.")
	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())
	require.Contains(t, c.stdout.String(), "! Connection lost; reconnecting…")
	require.Equal(t, 1, c.times("first\x1b[0m paragraph."))
	require.Equal(t, 1, c.times("The second paragraph."))
}

// The user's computer sleeps until the journal of the answer has been trimmed.
func TestConversationContinuesAfterJournalWasTrimmed(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	proxy, viaProxy := newProxy(t, s)
	c := viaProxy.converse(t, "ask", id)
	c.press(t, "SLOW?\r")
	c.waitForOutput(t, "paragraph.\x1b[K\r\n")
	proxy.closed.Store(true)
	proxy.CloseClientConnections()
	s.gate.Open()

	watching := s.run(t, "watch", "--follow", id)
	watching.waitForOutput(t, "answer completed")
	watching.stop()
	watching.end()
	s.forget(t, id)

	proxy.closed.Store(false)
	c.waitForOutput(t, "The second paragraph.")
	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())
	require.Equal(t, 1, c.times("first\x1b[0m paragraph."))
	require.Equal(t, 1, c.times("The second paragraph."))
}

func TestConversationShowsLastQuestionsShortened(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	for _, question := range []string{"one", "two", "three", "LONG", "FAIL"} {
		tarsyWith(t, s.env, "", "ask", id, question)
	}

	c := s.converse(t, "ask", id)
	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())

	shown := c.stdout.String()
	require.Contains(t, shown, "… 2 earlier questions; see tarsy sessions show "+id[24:])
	require.NotContains(t, shown, "two")
	require.Regexp(t, `(?s)> \S*three.*Found it.*The cache has no bound\.\n> \S*LONG`, shown, "without control characters")
	require.Regexp(t, `LONG\S*\nA paragraph\.\n\nA paragraph\.\n\S*… 16 more lines`, shown)
	require.Regexp(t, `FAIL\S*\n\S*\(no answer\)`, shown)
}

// The conversation is interactive only if both stdin and stdout are terminals.
func TestConversationIsPlainUnlessBothEndsAreTerminals(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	for _, c := range []struct {
		name, term          string
		stdin, stdout, hint bool
	}{
		{name: "only stdout", term: "xterm", stdout: true},
		{name: "only stdin", term: "xterm", stdin: true, hint: true},
		{name: "dumb", term: "dumb", stdin: true, stdout: true, hint: true},
	} {
		stdin, stdout, stderr := strings.NewReader("why?\n"), newBuffer(), newBuffer()
		code := cli.Run(t.Context(), cli.Process{
			Name: "tarsy", Args: []string{"ask", id}, Stdin: stdin, Stdout: stdout, Stderr: stderr, Env: append([]string{"TERM=" + c.term}, s.env...),
			Columns: func(stream any) int {
				if stream == any(stdin) && c.stdin || stream == any(stdout) && c.stdout {
					return 100
				}

				return 0
			},
		})
		require.Equal(t, cli.ExitOK, code, stderr.String())
		require.Equal(t, "# Found it\n\nThe cache has no bound.\n", stdout.String(), c.name)
		require.Equal(t, c.hint, strings.Contains(stderr.String(), "Type a question and press Enter."), c.name)
	}
}

func TestConversationReportsFailedToolCallsAndRendersTextsApart(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	failed := "→ cluster.get_pods (namespace=" + strings.Repeat("x", 49) + "…) … error "

	c := s.converse(t, "ask", id)
	c.press(t, "BROKEN?\r")
	c.waitForOutput(t, failed)
	c.waitForOutput(t, "bound.")
	require.Contains(t, c.stdout.String(), "  \x1b[36munclosed\x1b[0m", "a code block")
	require.Contains(t, c.stdout.String(), "\x1b[1mFound it\x1b[0m", "the code block has ended with its text")
	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())

	id = s.investigated(t)
	c = s.converse(t, "ask", id)

	c.press(t, "UNCLOSED?\r"+"again?\r") // entered once the first answer has ended
	c.waitForOutput(t, "again?\x1b[0m\x1b[K\r\n")
	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())
	require.Equal(t, 2, c.times("  \x1b[36munclosed\x1b[0m"))
}

func TestInterruptedPipedConversationReportsThatAnswerContinues(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	waiting := s.runWith(t, "WAIT\n", "ask", id)
	<-s.gate.Reached()
	waiting.stop()
	require.Equal(t, cli.ExitInterrupted, waiting.end())
	require.Contains(t, waiting.stderr.String(), "An answer in progress continues. Follow it with: tarsy watch "+id[24:])
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "sessions", "cancel", id).code)
}

func TestWatchScreenAsksQuestionFromItsInputLine(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	c := s.converse(t, "watch", id)
	c.waitForOutput(t, "Ask a question")
	c.press(t, "is it SLOW?\r")
	s.gate.Open()

	// The screen redraws only the cells that change, so wait for the answer in the lines of a second watch.
	watching := s.run(t, "watch", "--follow", id)
	watching.waitForOutput(t, "answer completed")
	watching.stop()
	watching.end()

	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())
	require.Contains(t, tarsyWith(t, s.env, "", "sessions", "show", id).stdout, "Question from api-client\nis it SLOW?\n")
}
