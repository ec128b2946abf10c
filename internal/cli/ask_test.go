package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/postgres"
)

// investigated submits an alert, waits until its session is over and returns the session's id.
func (s *server) investigated(t *testing.T, args ...string) string {
	t.Helper()

	got := tarsyWith(t, s.env, "", append([]string{"submit", "-m", "checkout is slow", "--wait", "-o", "json"}, args...)...)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	var detail tarsy.SessionDetail
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &detail))

	return detail.ID
}

// clientCommand is a running client command.
type clientCommand struct {
	stdout, stderr *buffer
	stop           context.CancelFunc
	done           chan struct{}
	code           int
}

// waitForOutput waits until the command has written wanted to stdout. The command must not exit before that.
func (c *clientCommand) waitForOutput(t *testing.T, wanted string) {
	t.Helper()

	timeout := time.NewTimer(slowness.Scale(time.Minute))
	defer timeout.Stop()

	for !strings.Contains(c.stdout.String(), wanted) {
		select {
		case <-c.stdout.written:
		case <-timeout.C:
			require.Contains(t, c.stdout.String(), wanted, "nothing more was printed in time: %s", c.stderr.String())
		case <-c.done:
			require.Contains(t, c.stdout.String(), wanted, "the command ended: %s", c.stderr.String())
		}
	}
}

func (c *clientCommand) end() int {
	<-c.done

	return c.code
}

func (s *server) run(t *testing.T, args ...string) *clientCommand {
	t.Helper()

	return s.runWith(t, "", args...)
}

func (s *server) runWith(t *testing.T, stdin string, args ...string) *clientCommand {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	c := &clientCommand{stdout: newBuffer(), stderr: newBuffer(), stop: cancel, done: make(chan struct{})}

	go func() {
		defer close(c.done)

		c.code = cli.Run(ctx, cli.Process{
			Name: "tarsy", Args: args, Stdin: strings.NewReader(stdin), Stdout: c.stdout, Stderr: c.stderr, Env: s.env,
		})
	}()

	t.Cleanup(func() {
		cancel()
		c.end()
	})

	return c
}

func TestAskPrintsOnlyAnswerOnStdout(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	got := tarsyWith(t, s.env, "", "ask", id[28:], "is it still slow?")

	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, "# Found it\n\nThe cache has no bound.\n", got.stdout, "clean, and only the answer")
	require.Contains(t, got.stderr, "Ctrl-C stops waiting; the answer continues")
	require.Contains(t, got.stderr, "thinking  Look at the pods.")
	require.Contains(t, got.stderr, "tool      2.1.1 cluster.get_pods namespace=shop → ok in ")
	require.NotContains(t, got.stderr, "summary   ", "the investigation is not printed again")
	require.NotContains(t, got.stderr, "Found it", "the answer is printed once")
	require.NotContains(t, got.stderr, "\x1b")

	shown := tarsyWith(t, s.env, "", "sessions", "show", id)
	require.Contains(t, shown.stdout, "\nQuestion from api-client\nis it still slow?\n\nAnswer\n# Found it\n")
}

func TestAskReadsQuestionFromStdinAndPrintsStageAsJSON(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	got := tarsyWith(t, s.env, "why?\nreally\n", "ask", id, "-", "-o", "json")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	var answer struct {
		ChatID    string            `json:"chat_id"`
		MessageID string            `json:"message_id"`
		StageID   string            `json:"stage_id"`
		Stage     tarsy.StageDetail `json:"stage"`
		Answer    string            `json:"answer"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &answer))
	require.Equal(t, answer.StageID, answer.Stage.ID)
	require.Equal(t, tarsy.StatusCompleted, answer.Stage.Status)
	require.Equal(t, answer.MessageID, *answer.Stage.ChatUserMessageID)
	require.Contains(t, answer.Answer, "The cache has no bound.")

	got = tarsyWith(t, s.env, "", "watch", "--lines", "--once", id)
	require.Contains(t, got.stdout, "question  why?\n                    really\n")
	require.Contains(t, got.stdout, "answer    # Found it")
}

func TestAskWithoutWaitingPrintsIDs(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	got := tarsyWith(t, s.env, "", "ask", id, "WAIT", "--no-wait")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.True(t, ident.Valid(strings.TrimSpace(got.stdout)), "stdout is the id alone: %q", got.stdout)
	require.Contains(t, got.stderr, "tarsy watch "+id)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "sessions", "cancel", id).code)
}

func TestAskExitsWith5WithoutAnswer(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	got := tarsyWith(t, s.env, "", "ask", id, "FAIL")
	require.Equal(t, cli.ExitNotCompleted, got.code, got.stderr)
	require.Empty(t, got.stdout)
	require.Contains(t, got.stderr, "error     the model is out of order (llm_error)")
	require.Contains(t, got.stderr, "No answer: it failed: ")

	id = s.investigated(t) // not asked to fail
	waiting := s.run(t, "ask", id, "WAIT", "-o", "json")
	waiting.stderr.wait(t, "Question sent")
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "sessions", "cancel", id).code)
	require.Equal(t, cli.ExitNotCompleted, waiting.end())
	require.Contains(t, waiting.stdout.String(), `"status": "cancelled"`)
	require.Contains(t, waiting.stderr.String(), "No answer: it was cancelled")

	shown := tarsyWith(t, s.env, "", "sessions", "show", id)
	require.Regexp(t, `(?m)^status +completed$`, shown.stdout, "the session is as it was")
	require.Contains(t, shown.stdout, "Question from api-client\nWAIT\n\nNo answer\nIt was cancelled")
}

func TestInterruptedAskReportsThatAnswerContinues(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	waiting := s.run(t, "ask", id, "WAIT")
	waiting.stderr.wait(t, "Question sent")
	waiting.stop()
	require.Equal(t, cli.ExitInterrupted, waiting.end())
	require.Contains(t, waiting.stderr.String(), "The answer continues. Follow it with: tarsy watch "+id[24:])
	require.Contains(t, waiting.stderr.String(), "Cancel it with: tarsy sessions cancel "+id[24:])

	got := tarsyWith(t, s.env, "", "ask", id, "and now?")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Regexp(t, `^tarsy: another question is being answered: [^\n]*; follow it with tarsy watch `+id[24:]+`, or stop it with tarsy sessions cancel `+id[24:]+"\n$", got.stderr)

	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "sessions", "cancel", id).code)
}

// A question that is accepted but can never be stored is refused in the timeline.
func TestQuestionRefusedAfterItWasAcceptedEndsWaiting(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	db, err := pgx.Connect(t.Context(), s.database)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `ALTER TABLE chat_user_messages ADD CONSTRAINT never CHECK (content <> 'never') NOT VALID`)
	require.NoError(t, errors.Join(err, db.Close(t.Context())))

	const reason = "A question of api-client cannot be answered: the results of the session could not be stored. Ask it again."

	got := tarsyWith(t, s.env, "", "ask", id, "never")
	require.Equal(t, cli.ExitNotCompleted, got.code, got.stderr)
	require.Contains(t, got.stderr, "There is no answer: "+reason)
	require.Empty(t, got.stdout)

	got = tarsyWith(t, s.env, "never\nwhy?\n", "ask", id)
	require.Equal(t, cli.ExitFailed, got.code, got.stderr)
	require.Contains(t, got.stderr, "tarsy: "+reason)
	require.Equal(t, "# Found it\n\nThe cache has no bound.\n", got.stdout, "the conversation goes on")
}

func TestRefusedQuestionPrintsAdvice(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	running := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "WAIT").stdout)
	s.until(t, running, tarsy.SessionInProgress)

	silent := s.investigated(t, "--type", "silent")

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"ask", running, "why?"}, cli.ExitFailed, "follow it with tarsy watch " + running[24:]},
		{[]string{"ask", silent, "why?"}, cli.ExitFailed, `the chain "silent" accepts no questions: set chat.enabled`},
		{[]string{"ask", silent}, cli.ExitUsage, "no question given"},
		{[]string{"ask", silent, " "}, cli.ExitUsage, "no question given"},
		{[]string{"ask", silent, "-"}, cli.ExitUsage, "no question given"},
		{[]string{"ask"}, cli.ExitUsage, "missing argument SESSION"},
		{[]string{"ask", silent, "why", "so?"}, cli.ExitUsage, `unexpected argument "so?"`},
		{[]string{"ask", "01a1dd25-0000-7262-b61a-000000000000", "why?"}, cli.ExitNotFound, "session"},
		{[]string{"sessions", "delete", running}, cli.ExitFailed, "over"},
		{[]string{"sessions", "delete", "abcdef"}, cli.ExitNotFound, "abcdef"},
		{[]string{"watch", "--once", "--follow", running}, cli.ExitUsage, "once"},
	} {
		got := tarsyWith(t, s.env, "", c.args...)
		require.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		require.Contains(t, got.stderr, c.want, c.args)
		require.Regexp(t, `(?s)^tarsy: [^\n]+\n$`, got.stderr, "one line: %v", c.args)
		require.Empty(t, got.stdout, c.args)
	}
}

func TestWatchFollowContinuesWithNewQuestions(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	watching := s.run(t, "watch", "--follow", id)
	watching.waitForOutput(t, "session   completed after ")
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "ask", id, "why?").code)
	watching.waitForOutput(t, "stage     2 answer completed")
	require.Contains(t, watching.stdout.String(), "question  why?")

	watching.stop()
	require.Equal(t, cli.ExitInterrupted, watching.end())
}

func TestCompletionOffersNewestSessions(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)

	for _, command := range [][]string{{"ask"}, {"watch"}, {"sessions", "show"}, {"sessions", "cancel"}, {"sessions", "delete"}} {
		got := tarsyWith(t, s.env, "", append(append([]string{"__complete"}, command...), "")...)
		require.Regexp(t, `^`+id[24:]+`\tcheckout is slow, completed, \d+s ago\n`, got.stdout, command)
	}

	require.NotContains(t, tarsyWith(t, s.env, "", "__complete", "ask", id, "").stdout, id[24:], "a question is not a session")
	require.Regexp(t, `^:\d+\n$`, tarsyWith(t, nil, "", "__complete", "ask", "--server", "http://127.0.0.1:1", "").stdout, "no server, no offer")
}

func TestDeletedSessionIsGone(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	got := tarsyWith(t, s.env, "", "sessions", "delete", id[28:])
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, id+"\n", got.stdout)
	require.Equal(t, cli.ExitNotFound, tarsyWith(t, s.env, "", "sessions", "show", id).code)
	require.Contains(t, tarsyWith(t, s.env, "", "sessions").stderr, "No sessions found.")
}

func TestSessionWithTrimmedJournalIsStillShown(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.investigated(t)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "ask", id, "why?").code)
	s.forget(t, id)

	got := tarsyWith(t, s.env, "", "watch", "--lines", id)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	for _, wanted := range []string{"alert     checkout is slow", "tool      1.1.1 cluster.get_pods", "analysis  # Found it", "session   completed after", "question  why?", "answer    # Found it"} {
		require.Contains(t, got.stdout, wanted)
	}

	require.Equal(t, got.stdout, tarsyWith(t, s.env, "", "watch", "--once", id).stdout)

	got = tarsyWith(t, s.env, "", "watch", "-o", "json", id)

	var line struct {
		Type     string                `json:"type"`
		Session  tarsy.SessionDetail   `json:"session"`
		Timeline []tarsy.TimelineEvent `json:"timeline"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &line), "one line stands for all events")
	require.Equal(t, "catchup.overflow", line.Type)
	require.Equal(t, id, line.Session.ID)
	require.NotEmpty(t, line.Timeline)

	got = tarsyWith(t, s.env, "", "ask", id, "and now?")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "The cache has no bound.")
}

// forget drops the session's journal, as retention does after a day. The session's lease is released shortly after the answer is reported,
// and until then retention skips the session.
func (s *server) forget(t *testing.T, id string) {
	t.Helper()

	for {
		swept, err := s.DB().TrimJournals(t.Context(), time.Now().Add(time.Hour), postgres.Batch{Sessions: 1, Events: 1}, noMore)
		require.NoError(t, err)

		if swept.Sessions > 0 {
			return
		}

		require.NoError(t, t.Context().Err(), "session %s stays in use", id)
	}
}

func noMore(pgx.Tx) error { return nil }
