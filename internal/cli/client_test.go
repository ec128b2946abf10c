package cli_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func tarsyNow() time.Time { return time.Now() }

func TestSubmitAndWaitPrintsOnlyAnalysisOnStdout(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	got := tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait")
	require.Contains(t, got.stderr, "In the browser: https://tarsy.example/sessions/")

	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, "# Found it\n\nThe cache has no bound.\n", got.stdout, "clean, and only the data")

	for _, wanted := range []string{
		"thinking  Look at the pods.", "tool      1.1.1 cluster.get_pods namespace=shop → ok in ",
		"summary   A cache without bound.", "session   completed after ",
	} {
		require.Contains(t, got.stderr, wanted)
	}

	require.NotContains(t, got.stderr, "Found it", "the analysis is printed once")
	require.NotContains(t, got.stderr, "\x1b")
}

func TestSubmitAndWaitExitsWith5WhenSessionDoesNotComplete(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	got := tarsyWith(t, s.env, "", "submit", "-m", "FAIL", "--wait", "-o", "json")

	require.Equal(t, cli.ExitNotCompleted, got.code, got.stderr)

	var detail tarsy.SessionDetail
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &detail))
	require.Equal(t, tarsy.SessionFailed, detail.Status)
}

func TestSubmitAcceptsFilesStdinTypesRunbooksAndServers(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	dir := t.TempDir()
	alert, runbook := filepath.Join(dir, "alert.json"), filepath.Join(dir, "runbook.md")
	require.NoError(t, os.WriteFile(alert, []byte(`{"pod": "checkout"}`), 0o600))
	require.NoError(t, os.WriteFile(runbook, []byte("Look twice."), 0o600))

	got := tarsyWith(t, s.env, "", "submit", alert, "--type", "other", "--runbook", runbook, "--mcp", "cluster:get_pods, get_events")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	id := strings.TrimSpace(got.stdout)
	require.True(t, ident.Valid(id), "stdout is the id alone: %q", got.stdout)
	require.Contains(t, got.stderr, "tarsy watch "+id)
	require.Contains(t, got.stderr, "https://tarsy.example/sessions/"+id, "the page of the session")

	detail, err := s.DB().SessionDetail(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "{\n  \"pod\": \"checkout\"\n}", detail.AlertData, "an object is sent as one") //nolint:testifylint // as it is stored, to the blank
	require.Equal(t, "other", detail.AlertType)
	require.Equal(t, "Look twice.", detail.Runbook)
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "cluster", Tools: []string{"get_pods", "get_events"}}}, detail.MCPSelection.Servers)

	got = tarsyWith(t, s.env, "{not json", "submit", "-", "-o", "json")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	var accepted struct {
		SessionID string `json:"session_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &accepted))

	detail, err = s.DB().SessionDetail(t.Context(), accepted.SessionID)
	require.NoError(t, err)
	require.Equal(t, "{not json", detail.AlertData, "everything else is text")
}

func TestWatchPrintsJournalAsLinesOrAsJSON(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	submitted := tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait", "-o", "json")
	require.Equal(t, cli.ExitOK, submitted.code, submitted.stderr)

	got := tarsyWith(t, s.env, "", "watch")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "alert     checkout is slow, chain test, session ")
	require.Contains(t, got.stdout, "stage     1 look started")
	require.Contains(t, got.stdout, "agent     Tester started")
	require.Contains(t, got.stdout, "session   completed after ")
	require.NotContains(t, got.stdout, "\x1b")

	got = tarsyWith(t, s.env, "", "watch", "-o", "json")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	next := int64(1)

	for line := range strings.Lines(got.stdout) {
		var event struct {
			Type string `json:"type"`
			Seq  int64  `json:"db_event_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &event), line)
		require.Equal(t, next, event.Seq, "in order, without a gap")
		require.NotEmpty(t, event.Type)

		next++
	}

	require.Greater(t, next, int64(8))
}

func TestWatchOncePrintsPastEventsAndExits(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "WAIT").stdout)
	s.until(t, id, tarsy.SessionInProgress)

	got := tarsyWith(t, s.env, "", "watch", "--once", id)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "session   in progress")
	require.NotContains(t, got.stdout, "completed")
}

func TestSessionsAreListedShownAndCancelled(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait").code)

	waiting := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "WAIT", "--type", "other").stdout)
	s.until(t, waiting, tarsy.SessionInProgress)

	got := tarsyWith(t, s.env, "", "sessions")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^ID +STATUS +OUTCOME +HANDLING +SEVERITY +TITLE +SERVICE +TAGS +AGE +TOOK +COST +SUMMARY$`, lines[0])
	require.Regexp(t, `^`+waiting[24:]+` +in progress +WAIT +\d+s +0:\d\d$`, lines[1])
	require.Regexp(t, `completed +checkout is slow +\d+s +[\d.]+ m?s +\$\d\.\d{4} +A cache without bound\.$`, lines[2])

	got = tarsyWith(t, s.env, "", "sessions", "--status", "completed", "--search", "slow", "-o", "json")

	var items []tarsy.SessionItem
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &items))
	require.Len(t, items, 1)

	got = tarsyWith(t, s.env, "", "sessions", "--search", "slow")
	require.Contains(t, got.stdout, "MATCH\n")
	require.Contains(t, got.stdout, "[slow]")

	require.Contains(t, tarsyWith(t, s.env, "", "sessions", "list", "--search", "slow").stdout, "[slow]")

	for _, id := range []string{strings.ReplaceAll(waiting, "-", ""), strings.ToUpper(waiting), strings.ReplaceAll(waiting, "-", "")[16:], waiting[20:]} {
		got = tarsyWith(t, s.env, "", "sessions", "show", id)
		require.Equal(t, cli.ExitOK, got.code, "%s: %s", id, got.stderr)
		require.Contains(t, got.stdout, waiting, "with or without dashes")
	}

	short := waiting[28:]
	got = tarsyWith(t, s.env, "", "sessions", "cancel", short)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, waiting+"\n", got.stdout)

	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "watch", short).code, "watch ends with the session")

	got = tarsyWith(t, s.env, "", "sessions", "show", short)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `(?m)^status +cancelled$`, got.stdout)

	got = tarsyWith(t, s.env, "", "sessions", "cancel", short)
	require.Equal(t, cli.ExitFailed, got.code, "what is over cannot be cancelled")

	got = tarsyWith(t, s.env, "", "sessions", "show", items[0].ID)
	require.Regexp(t, `(?m)^used +\$\d\.\d{4}, \d+ tokens, 1 tool call$`, got.stdout)
	require.Regexp(t, `(?m)^  agent +\S+, completed \(\$\d\.\d{4}, \d+ tokens, 1 tool call\)$`, got.stdout)
	require.Contains(t, got.stdout, "\nAnalysis\n# Found it\n\nThe cache has no bound.\n")
	require.NotContains(t, got.stdout, "\x1b")
}

func TestKeysAreManagedThroughServerAndDatabase(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	admin, reader := s.key(t, "admin", tarsy.ScopeAdmin), s.key(t, "reader", tarsy.ScopeRead)

	got := tarsyWith(t, s.env, "", "sessions")
	require.Equal(t, cli.ExitAuth, got.code)
	require.Contains(t, got.stderr, "--token or TARSY_TOKEN")

	require.Equal(t, cli.ExitOK, tarsyWith(t, reader, "", "sessions").code)

	got = tarsyWith(t, reader, "", "submit", "-m", "x")
	require.Equal(t, cli.ExitAuth, got.code)
	require.Contains(t, got.stderr, `needs the role responder (scope "write")`)

	got = tarsyWith(t, admin, "", "keys", "create", "alertmanager", "--scope", "write")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	secret := strings.TrimSpace(got.stdout)
	require.True(t, strings.HasPrefix(secret, "tarsy_"), "stdout is the secret alone: %q", got.stdout)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "submit", "-m", "checkout", "--token", secret, "--wait").code, "events are guarded alike")

	got = tarsyWith(t, admin, "", "keys", "list")
	require.Regexp(t, `(?m)^\w{8} +alertmanager +write +\d+s ago +\d+s ago +never +active$`, got.stdout)

	prefix := strings.Split(secret, "_")[1]
	require.Equal(t, cli.ExitOK, tarsyWith(t, admin, "", "keys", "revoke", prefix).code)
	require.Equal(t, cli.ExitAuth, tarsyWith(t, s.env, "", "sessions", "--token", secret).code, "at once")
	require.Equal(t, cli.ExitNotFound, tarsyWith(t, admin, "", "keys", "revoke", "nosuchid").code)
	require.Equal(t, cli.ExitUsage, tarsyWith(t, admin, "", "keys", "create", "x", "--scope", "root").code)
	require.Equal(t, cli.ExitUsage, tarsyWith(t, admin, "", "keys", "create", "x", "--role", "root").code)
	require.Equal(t, cli.ExitUsage, tarsyWith(t, admin, "", "keys", "create", "x", "--role", "viewer", "--scope", "read").code)
	require.Contains(t, tarsyWith(t, admin, "", "keys", "create", "x", "--role", "responder").stderr, "(write)")
}

func TestFailuresExitWithTheirCodeAndPrintAdvice(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, free.Close())

	nobody := "http://" + free.Addr().String()

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"sessions", "--server", nobody}, cli.ExitFailed, "no server responds at " + nobody + "; start one with tarsy serve"},
		{[]string{"sessions", "--server", "localhost"}, cli.ExitUsage, "--server"},
		{[]string{"frob"}, cli.ExitUsage, `unknown command "frob" for "tarsy"`},
		{[]string{"serv"}, cli.ExitUsage, "did you mean serve?"},
		{[]string{"sessions", "--frob"}, cli.ExitUsage, "see tarsy sessions --help"},
		{[]string{"sessions", "--limit", "x"}, cli.ExitUsage, `--limit: "x" is not a number`},
		{[]string{"sessions", "--limit", "0"}, cli.ExitUsage, "at least 1"},
		{[]string{"sessions", "-o", "xml"}, cli.ExitUsage, "not one of text, json"},
		{[]string{"sessions", "--status", "dead"}, cli.ExitUsage, `there is no status "dead"`},
		{[]string{"sessions", "show"}, cli.ExitUsage, "missing argument SESSION; usage: tarsy sessions show SESSION"},
		{[]string{"ask"}, cli.ExitUsage, "missing argument SESSION; usage: tarsy ask SESSION [QUESTION|-]"},
		{[]string{"keys", "create"}, cli.ExitUsage, "missing argument NAME"},
		{[]string{"version", "please"}, cli.ExitUsage, `unexpected argument "please"; usage: tarsy version`},
		{[]string{"help", "frob"}, cli.ExitUsage, `unknown command "frob" for "tarsy"`},
		{[]string{"help", "sessions", "lst"}, cli.ExitUsage, "did you mean list?"},
		{[]string{"serve", "--listen", "8080"}, cli.ExitUsage, `flag --listen: "8080" is not an address`},
		{[]string{"demo", "--listen", "127.0.0.1:http-ish"}, cli.ExitUsage, "is not an address"},
		{[]string{"serve", "--database-url", "postgres://u:hunter2@host:port/db"}, cli.ExitUsage, "is not a PostgreSQL address"},
		{[]string{"sessions", "show", "01a1dd25-0000-7262-b61a-000000000000"}, cli.ExitNotFound, "session"},
		{[]string{"sessions", "show", "abcdef"}, cli.ExitNotFound, `no session matches "abcdef"`},
		{[]string{"sessions", "show", "abc"}, cli.ExitNotFound, "at least 4 characters"},
		{[]string{"watch"}, cli.ExitNotFound, "no sessions yet"},
		{[]string{"submit"}, cli.ExitUsage, "no alert given"},
		{[]string{"submit", "-m", "x", "file"}, cli.ExitUsage, "given twice"},
		{[]string{"submit", "/no/such/file"}, cli.ExitFailed, "no such file"},
		{[]string{"submit", "-m", "x", "--type", "nope"}, cli.ExitUsage, `there is no alert type "nope"`},
		{[]string{"submit", "-m", "x", "--mcp", "nope"}, cli.ExitUsage, `there is no MCP server "nope"`},
		{[]string{"submit", "-m", "x", "--mcp", ":tool"}, cli.ExitUsage, "server:tool,tool"},
		{[]string{"submit", "-m", "x", "--runbook", "a", "--runbook-url", "b"}, cli.ExitUsage, "runbook"},
		{[]string{"serve", "--listen", "0.0.0.0:0", "--auth", "off", "--database-url", "postgres://nowhere"}, cli.ExitFailed, "API keys"},
		{[]string{"demo", "--speed", "-1"}, cli.ExitUsage, "must not be negative"},
	} {
		got := tarsyWith(t, s.env, "", c.args...)
		require.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		require.Contains(t, got.stderr, c.want, c.args)
		require.Regexp(t, `(?s)^tarsy: [^\n]+\n$`, got.stderr, "one line: %v", c.args)
		require.Empty(t, got.stdout, c.args)
	}
}

func TestKeysExpireAsFlagged(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)

	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "keys", "create", "short", "--expires", "90d", "--database-url", database).code)
	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "keys", "create", "long", "--database-url", database).code)

	got := tarsyWith(t, nil, "", "keys", "list", "--database-url", database, "-o", "json")

	var keys []tarsy.APIKey
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &keys), got.stdout)
	require.Len(t, keys, 2)
	require.WithinDuration(t, keys[0].CreatedAt.Add(90*24*time.Hour), *keys[0].ExpiresAt, time.Minute)
	require.Nil(t, keys[1].ExpiresAt)

	require.Contains(t, tarsyWith(t, nil, "", "keys", "list", "--database-url", database).stdout, "in 89d")

	for _, wrong := range []string{"soon", "-1d", "0", "1.5d", "99999999d"} {
		got := tarsyWith(t, nil, "", "keys", "create", "x", "--expires", wrong, "--database-url", database)
		require.Equal(t, cli.ExitUsage, got.code, "%s: %s", wrong, got.stderr)
		require.Contains(t, got.stderr, "90d")
	}
}

func TestKeyChangesInDatabaseAreReportedInEveryFormat(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)

	for _, format := range []string{"text", "json"} {
		created := tarsyWith(t, nil, "", "keys", "create", "rescue", "--scope", "admin", "--database-url", database, "-o", format)
		require.Equal(t, cli.ExitOK, created.code, created.stderr)

		parts := regexp.MustCompile(`Created key (\w{8}) \(id [0-9a-f-]{36}, name "rescue", scopes admin\) directly in the database at \S+Z\.`).FindStringSubmatch(created.stderr)
		require.NotNil(t, parts, created.stderr)
		require.NotRegexp(t, `tarsy_\w{8}_\w+`, created.stderr, "the secret is data, for stdout")

		revoked := tarsyWith(t, nil, "", "keys", "revoke", parts[1], "--database-url", database, "-o", format)
		require.Equal(t, cli.ExitOK, revoked.code, revoked.stderr)
		require.Contains(t, revoked.stderr, "Revoked key "+parts[1])
	}
}

func TestSubmitWithIdempotencyKeyPrintsSameSession(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	once := []string{"submit", "-m", "checkout is slow", "--idempotency-key", "deploy-7"}

	first := tarsyWith(t, s.env, "", once...)
	require.Equal(t, cli.ExitOK, first.code, first.stderr)
	require.Equal(t, first.stdout, tarsyWith(t, s.env, "", once...).stdout)
	require.NotEqual(t, first.stdout, tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow").stdout)

	other := tarsyWith(t, s.env, "", "submit", "-m", "cart is slow", "--idempotency-key", "deploy-7")
	require.NotEqual(t, cli.ExitOK, other.code)
	require.Contains(t, other.stderr, "this idempotency key was used for another request")
}
