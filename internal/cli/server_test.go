package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// running is a server command that has been started.
type running struct {
	stderr *buffer
	stop   context.CancelFunc
	done   sync.WaitGroup
	code   int
}

func start(t *testing.T, env []string, args ...string) *running {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	r := &running{stderr: newBuffer(), stop: cancel}
	r.done.Go(func() {
		r.code = cli.Run(ctx, cli.Process{
			Name: "bin/tarsy", Args: args, Stdin: strings.NewReader(""), Stdout: newBuffer(), Stderr: r.stderr,
			Env: append(env, "HOME="+t.TempDir()), Executable: os.Args[0],
		})
	})
	t.Cleanup(func() {
		cancel()
		r.done.Wait()
	})

	return r
}

func (r *running) end() int {
	r.stop()
	r.done.Wait()

	return r.code
}

func addressIn(t *testing.T, text string) string {
	t.Helper()

	found := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(text)
	require.NotEmpty(t, found, text)

	return found
}

func TestServeCreatesFirstKeyOnceAndStopsCleanly(t *testing.T) {
	t.Parallel()

	home := t.TempDir()
	env := []string{"TARSY_DATABASE_URL=" + pgtest.New(t), "TARSY_LISTEN=127.0.0.1:0", "TARSY_AUTH=on", "HOME=" + home}

	first := start(t, env, "serve")
	text := first.stderr.wait(t, "TARSy listens on ")
	require.NotRegexp(t, `tarsy_\w{8}_`, text, "the key itself is not printed")
	require.Regexp(t, `msg="key created" first_key=true changed_key_id=\S+ changed_key_name=bootstrap`, text)

	path := filepath.Join(home, ".local", "share", "tarsy", "admin-key")
	require.Contains(t, text, `export TARSY_TOKEN="$(cat '`+path+`')"`)

	held, err := os.ReadFile(path)
	require.NoError(t, err)

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	secret := strings.TrimSpace(string(held))
	require.Regexp(t, `^tarsy_\w{8}_\w+$`, secret)
	require.Contains(t, text, "warning: llm_providers.google-default.api_key_env: environment variable GOOGLE_API_KEY is not set: sessions that need it fail", "what cannot work is said at the start")
	require.Contains(t, text, "note: set one of GOOGLE_API_KEY, ")

	server := addressIn(t, text)
	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "sessions", "--server", server, "--token", secret).code)
	require.Equal(t, cli.ExitAuth, tarsyWith(t, nil, "", "sessions", "--server", server).code)

	require.Equal(t, cli.ExitOK, first.end(), "a stop in order is a success")
	require.Contains(t, first.stderr.String(), "Stopping: ")
	require.Contains(t, first.stderr.String(), "Stopped after ")

	second := start(t, env, "serve")
	text = second.stderr.wait(t, "TARSy listens on ")
	require.NotContains(t, text, "admin-key", "there is a key already")
	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "sessions", "--server", addressIn(t, text), "--token", secret).code)
	require.Equal(t, cli.ExitOK, second.end())
}

func TestServeWithUnwritableFirstKeyFileCreatesNone(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))

	url := pgtest.New(t)
	server := start(t, []string{"TARSY_DATABASE_URL=" + url, "TARSY_LISTEN=127.0.0.1:0", "TARSY_AUTH=on", "TARSY_DATA_DIR=" + file + "/below"}, "serve")
	text := server.stderr.wait(t, "TARSy listens on ")
	require.Contains(t, text, "could not be saved")
	require.Contains(t, text, "keys create NAME --scope admin --database-url")
	require.Equal(t, cli.ExitOK, server.end())

	keys := tarsyWith(t, nil, "", "keys", "list", "--database-url", url, "-o", "json")
	require.JSONEq(t, "[]", keys.stdout, "a key that nobody knows is not left behind")
}

func TestServeWaitsForDatabaseThenFailsWithReason(t *testing.T) {
	t.Parallel()

	url := pgtest.New(t)
	restore := pgtest.Interrupt(t, url)
	env := []string{"TARSY_DATABASE_URL=" + url, "TARSY_LISTEN=127.0.0.1:0"}

	failed := start(t, append(env, "TARSY_DATABASE_WAIT=1ms"), "serve")
	failed.done.Wait()
	require.Equal(t, cli.ExitFailed, failed.code)
	require.Contains(t, failed.stderr.String(), "did not become available within 1ms")

	refused := tarsyWith(t, env, "", "serve", "--database-wait", "-1s")
	require.Equal(t, cli.ExitUsage, refused.code, refused.stderr)

	waiting := start(t, env, "serve")
	require.Contains(t, waiting.stderr.wait(t, "Waiting for the database at "), "of 1m0s")
	restore()
	waiting.stderr.wait(t, "TARSy listens on ")
	require.Equal(t, cli.ExitOK, waiting.end())
}

func TestDemoInvestigatesItsAlertsOnce(t *testing.T) {
	t.Parallel()

	flags := []string{"demo", "--listen", "127.0.0.1:0", "--database-url", pgtest.New(t), "--speed", "0"}

	first := start(t, nil, flags...)
	text := first.stderr.wait(t, "Ctrl-C stops everything")
	server := addressIn(t, text)
	require.Contains(t, text, "export TARSY_SERVER="+server)
	require.Contains(t, text, "bin/tarsy watch")
	requireSent(t, text)

	items := demoSessions(t, server)
	require.Len(t, items, demoSessionCount)
	requireDemoStates(t, server, items)

	for _, item := range items {
		watched := tarsyWith(t, nil, "", "watch", "--server", server, item.ID)
		ended := "session   completed"

		if item.AlertType == "secret-in-log" { // the model refuses
			ended = "session   failed"
		} else {
			require.Equal(t, cli.ExitOK, watched.code, watched.stderr)
		}

		require.Contains(t, watched.stdout, ended, item.Title)
		require.Regexp(t, `tool      (\w+: )?1\.\d\.\d cluster\.`, watched.stdout, item.Title)

		asked := tarsyWith(t, nil, "", "ask", "--server", server, item.ID, "Is it still happening?")
		require.Equal(t, cli.ExitOK, asked.code, asked.stderr)
		require.Regexp(t, `^\*\*(Yes|No|Most likely)\.\*\* `, asked.stdout, item.Title)
		require.Regexp(t, `tool      \d\.1\.1 cluster\.`, asked.stderr, item.Title)
	}

	requireTeam(t, server, demoSession(t, items, "high-latency").ID)
	requireSilencedStory(t, server)

	submit := regexp.MustCompile(`bin/tarsy (submit) --type (\S+) -m "([^"]+)" (--wait)`).FindStringSubmatch(text)
	require.NotNil(t, submit, text)
	got := tarsyWith(t, nil, "", submit[1], "--server", server, "--type", submit[2], "-m", submit[3], submit[4])
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "## Root cause", "the printed command leads to an investigation")
	require.Equal(t, cli.ExitOK, first.end())

	second := start(t, nil, flags...)
	text = second.stderr.wait(t, "Ctrl-C stops everything")
	require.Contains(t, text, "Sessions of earlier runs are kept")
	require.NotContains(t, text, "▸")
	require.Equal(t, cli.ExitOK, second.end())

	third := start(t, nil, append(flags, "--submit")...)
	text = third.stderr.wait(t, "Ctrl-C stops everything")
	requireSent(t, text)

	again := demoSessions(t, addressIn(t, text))
	again = slices.DeleteFunc(again, func(s tarsy.SessionItem) bool { return s.Cluster != "demo-eu-2" })
	require.Len(t, again, demoSessionCount-1, "what has labels is investigated again, as of another cluster")
	require.Equal(t, cli.ExitOK, third.end())
}

// requireTeam checks the session that shows the most: concurrent agents, a synthesis, a summarised result, and masking.
func requireTeam(t *testing.T, server, id string) {
	t.Helper()

	output := tarsyWith(t, nil, "", "watch", "--server", server, "--lines", id).stdout
	for _, wanted := range []string{
		"agent     LogAnalyst completed", "agent     ChangeAnalyst completed", "agent     MetricsAnalyst completed",
		"stage     2 synthesis of investigation completed",
		"cluster.get_pod_logs, summary of the result, which has about ", "postgres://search:[MASKED", "Bearer [MASKED",
	} {
		require.Contains(t, output, wanted)
	}

	raw := tarsyWith(t, nil, "", "watch", "--server", server, "-o", "json", id).stdout
	require.Contains(t, raw, "kind: Secret")

	for _, secret := range []string{"Wq7vT2mZk9LpX4", "V3E3dlQybVprOUxwWDQ", "Y2F0LWFkbWluLTVm", "eyJhbGciOi"} {
		require.NotContains(t, raw, secret)
	}
}

func TestDemoRefusesDatabaseWithRealSessions(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tarsy.yaml"), []byte(serverConfig), 0o600))

	served := start(t, nil, "serve", "--listen", "127.0.0.1:0", "--database-url", database, "--config-dir", dir, "--log-level", "error")
	server := addressIn(t, served.stderr.wait(t, "TARSy listens on "))
	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "submit", "--server", server, "-m", "real").code)
	require.Equal(t, cli.ExitOK, served.end())

	demo := start(t, nil, "demo", "--listen", "127.0.0.1:0", "--database-url", database)
	demo.stderr.wait(t, "\n") // the refusal, or a welcome that must not appear
	require.Equal(t, cli.ExitFailed, demo.end())
	require.Contains(t, demo.stderr.String(), "this database has sessions that are not from the demo")
}

func TestKeysCanBeCreatedWithoutServer(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)
	got := tarsyWith(t, nil, "", "keys", "create", "rescue", "--scope", "admin", "--database-url", database)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.True(t, strings.HasPrefix(got.stdout, "tarsy_"))

	got = tarsyWith(t, nil, "", "keys", "list", "--database-url", database, "-o", "json")

	var keys []tarsy.APIKey
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &keys))
	require.Len(t, keys, 1)
	require.Equal(t, "rescue", keys[0].Name)

	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "keys", "revoke", keys[0].Prefix, "--database-url", database).code)
	require.Equal(t, cli.ExitNotFound, tarsyWith(t, nil, "", "keys", "revoke", "nosuchid", "--database-url", database).code)
}

func TestServeUsesTheProviderWhoseKeyIsSet(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, "agents: {A: {}}\nagent_chains: {c: {alert_types: [a], stages: [{name: s, agents: [{name: A}]}]}}\n")
	env := []string{"TARSY_DATABASE_URL=" + pgtest.New(t), "TARSY_LISTEN=127.0.0.1:0", "TARSY_CONFIG_DIR=" + dir, "ANTHROPIC_API_KEY=anthropic-secret"}

	server := start(t, env, "serve")
	text := server.stderr.wait(t, "TARSy listens on ")
	require.Regexp(t, `LLM provider: anthropic-default \(claude-\S+\), because ANTHROPIC_API_KEY is set`, text)
	require.NotContains(t, text, "GOOGLE_API_KEY")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, addressIn(t, text)+"/api/v1/system/config", nil)
	require.NoError(t, err)

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)

	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	require.Regexp(t, `\{"path":"defaults.llm_provider","value":"anthropic-default","origin":"env ANTHROPIC_API_KEY"\}`, string(body))
	require.NotContains(t, string(body)+text, "anthropic-secret")

	doctor := func(more ...string) result {
		return tarsyWith(t, append(more, "TARSY_CONFIG_DIR="+dir), "", doctorArgs(t)...)
	}

	got := doctor("ANTHROPIC_API_KEY=anthropic-secret")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, "ok    LLM provider anthropic-default: anthropic, ")
	require.NotContains(t, got.stdout, "GOOGLE_API_KEY", "no key of a provider that is not used")

	got = doctor()
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stdout, "→ set one of GOOGLE_API_KEY, GEMINI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY, XAI_API_KEY where the server runs")
}

// The admin listener requires no key, so it must be reachable only from this machine.
func TestAdminListenerNeedsLoopbackAddress(t *testing.T) {
	t.Parallel()

	for _, address := range []string{"0.0.0.0:9090", ":9090", "example.com:9090", "127.0.0.1", "[::]:9090"} {
		got := tarsyWith(t, []string{"TARSY_ADMIN_LISTEN=" + address}, "", "serve", "--listen", "127.0.0.1:0", "--database-url", "postgres://127.0.0.1:1/none")
		require.NotZero(t, got.code, address)
		require.Contains(t, got.stderr, "system.admin_listen: not a loopback address with a port", address)
	}

	env := []string{"TARSY_DATABASE_URL=" + pgtest.New(t), "TARSY_LISTEN=127.0.0.1:0", "TARSY_AUTH=on", "HOME=" + t.TempDir()}
	served := start(t, env, "serve", "--admin-listen", "127.0.0.1:0")
	_, text, _ := strings.Cut(served.stderr.wait(t, "Dashboard: "), "Administrative listener: ")

	answer, err := http.Get(addressIn(t, text) + "/metrics")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Zero(t, served.end())
}
