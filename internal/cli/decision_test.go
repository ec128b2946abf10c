package cli_test

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// decision is a run of a command that records a decision in the audit log.
type decision struct {
	// name distinguishes several decisions of one command.
	name string
	// args prepares a server and returns the arguments after the command's name. The command succeeds with them.
	args  func(t *testing.T, s *server) []string
	stdin string
	// interact runs the command in a terminal instead.
	interact func(t *testing.T, s *server, command []string)
	// action is the action of each audit row. rows is their number; zero means one.
	action string
	rows   int
	// undecided means that nothing changes and no row is written.
	undecided bool
	// kind is the kind of the actor, if the command does not use a key.
	kind tarsy.ActorKind
}

// decisions returns the commands that record decisions, with their runs.
func decisions() map[string][]decision {
	all := map[string][]decision{}
	maps.Copy(all, sessionDecisions())
	maps.Copy(all, handlingDecisions())
	maps.Copy(all, peopleDecisions())
	maps.Copy(all, operationDecisions())

	return all
}

// with returns arguments that need no preparation.
func with(args ...string) func(*testing.T, *server) []string {
	return func(*testing.T, *server) []string { return args }
}

// about returns the id of a session that is over, followed by more.
func about(more ...string) func(*testing.T, *server) []string {
	return func(t *testing.T, s *server) []string {
		t.Helper()

		return append([]string{s.investigated(t)}, more...)
	}
}

// queued returns the ids of sessions that do not start, followed by more.
func queued(number int, more ...string) func(*testing.T, *server) []string {
	return func(t *testing.T, s *server) []string {
		t.Helper()

		texts := []string{"disk full", "disk slow", "network down"}

		return append(submitPaused(t, s.env, texts[:number]...), more...)
	}
}

func sessionDecisions() map[string][]decision {
	return map[string][]decision{
		"ask": {
			{name: "question", args: about("why?"), action: "session.ask"},
			{name: "conversation", args: about(), stdin: "why?\nis it over?\n", action: "session.ask", rows: 2},
		},
		"watch": {
			{name: "question", args: about(), interact: askOnScreen, action: "session.ask"},
			{name: "cancel", args: queued(1), interact: cancelOnScreen, action: "session.cancel"},
		},
		"rerun": {{args: about(), action: "session.rerun"}},
		"sessions cancel": {
			{name: "one", args: queued(1), action: "session.cancel"},
			{name: "several", args: queued(3), action: "session.cancel_many"},
			{name: "all that match", args: func(t *testing.T, s *server) []string {
				queued(3)(t, s)

				return []string{"--all", "--search", "disk"}
			}, stdin: "y\n", action: "session.cancel_many"},
			{name: "dry run", args: queued(2, "--dry-run"), undecided: true},
		},
		"sessions share": {
			{name: "create", args: about(), action: "share.create"},
			{name: "revoke", args: func(t *testing.T, s *server) []string {
				id := s.investigated(t)
				share := jsonOf[struct{ ID string }](t, s.env, "sessions", "share", id)

				return []string{id, "--revoke", share.ID}
			}, action: "share.revoke"},
			{name: "list", args: about("--list"), undecided: true},
		},
		"sessions delete": {{args: about(), action: "session.delete"}},
	}
}

// askOnScreen asks a question in the input line at the bottom of the screen.
func askOnScreen(t *testing.T, s *server, command []string) {
	t.Helper()

	c := s.converse(t, command...)
	c.waitForOutput(t, "Ask a question")
	c.press(t, "why?\r")

	// The screen redraws only the cells that change.
	watching := s.run(t, "watch", "--follow", command[1])
	watching.waitForOutput(t, "answer completed")
	watching.stop()
	watching.end()

	c.press(t, ctrlD)
	require.Equal(t, cli.ExitOK, c.end())
}

func cancelOnScreen(t *testing.T, s *server, command []string) {
	t.Helper()

	c := s.converse(t, command...)
	c.waitForOutput(t, "c cancel")
	c.press(t, "cy")
	require.Contains(t, tarsyWith(t, s.env, "", "watch", command[1]).stdout, "session   cancelled")
	c.press(t, ctrlC)
	require.Equal(t, cli.ExitOK, c.end())
}

// handlingDecisions write one row for each session that they change.
func handlingDecisions() map[string][]decision {
	const action = "session.handle_many"

	acknowledged := func(t *testing.T, s *server) []string {
		t.Helper()

		ids := queued(2)(t, s)
		require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "sessions", "ack", ids[0]).code)

		return ids
	}

	return map[string][]decision{
		"sessions ack": {
			{name: "one", args: queued(1, "--assign"), action: action},
			{name: "several", args: queued(3), action: action, rows: 3},
			{name: "several, of which one is acknowledged", args: acknowledged, action: action},
		},
		"sessions resolve": {{args: queued(2, "--note", "restarted the pod"), action: action, rows: 2}},
		"sessions reopen":  {{args: acknowledged, action: action}},
		"sessions assign":  {{args: queued(2, "--to", "bob"), action: action, rows: 2}},
		"sessions tag":     {{args: queued(2, "--add", "capacity"), action: action, rows: 2}},
	}
}

func peopleDecisions() map[string][]decision {
	waiting := func(more ...string) func(*testing.T, *server) []string {
		return func(t *testing.T, s *server) []string {
			t.Helper()

			return append([]string{s.waiting(t).ID}, more...)
		}
	}

	return map[string][]decision{
		"approvals approve": {
			{name: "as it is", args: waiting(), action: "approval.approve"},
			{name: "with other arguments", args: waiting("--arguments", `{"replicas": 1}`, "--reason", "one is enough"), action: "approval.approve"},
		},
		"approvals reject": {{args: waiting("--reason", "not now"), action: "approval.reject"}},
		"feedback": {
			{name: "give", args: about("wrong", "--why", "the pod was fine"), action: "feedback.give"},
			{name: "withdraw", args: func(t *testing.T, s *server) []string {
				id := s.investigated(t)
				require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "feedback", id, "right").code)

				return []string{id, "--delete"}
			}, action: "feedback.withdraw"},
			{name: "list", args: about(), undecided: true},
		},
		"note": {
			{name: "text", args: with("nothing to see"), action: "note.create"},
			{name: "analysis", args: func(t *testing.T, s *server) []string { return []string{"--from-session", s.investigated(t)} }, action: "note.create"},
		},
		"suppressed investigate": {{args: func(t *testing.T, s *server) []string {
			require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "silences", "add", "source=alertmanager", "--for", "2h", "--reason", "load test").code)
			require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "webhooks", "test", "--source", "alertmanager").code)

			return []string{jsonOf[[]tarsy.SuppressedAlert](t, s.env, "suppressed", "list")[0].ID}
		}, action: "suppressed.investigate"}},
	}
}

func operationDecisions() map[string][]decision {
	paused := func(t *testing.T, s *server) []string {
		t.Helper()

		for _, kind := range []string{"intake", "claiming"} {
			require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "pause", kind).code)
		}

		return []string{"all"}
	}
	key := func(t *testing.T, s *server) []string {
		t.Helper()

		return []string{jsonOf[struct{ ID string }](t, s.env, "keys", "create", "robot").ID}
	}
	inDatabase := func(args func(*testing.T, *server) []string) func(*testing.T, *server) []string {
		return func(t *testing.T, s *server) []string {
			t.Helper()

			return append(args(t, s), "--database-url", s.database)
		}
	}

	return map[string][]decision{
		"silences add": {{args: with("namespace=staging", "--for", "2h", "--reason", "load test"), action: "silence.create"}},
		"silences end": {{args: func(t *testing.T, s *server) []string {
			return []string{jsonOf[tarsy.Silence](t, s.env, "silences", "add", "a=b", "--for", "2h", "--reason", "load test").ID}
		}, action: "silence.end"}},
		"pause": {
			{args: with("intake", "--reason", "database upgrade"), action: "pause.set"},
			{name: "all", args: with("all"), action: "pause.set", rows: 2},
		},
		"resume": {
			{name: "all", args: paused, action: "pause.end", rows: 2},
			{name: "what is not paused", args: with("intake"), undecided: true},
		},
		"keys create": {
			{name: "over the API", args: with("ci", "--scope", "write"), action: "key.create"},
			{name: "in the database", args: inDatabase(with("rescue", "--scope", "admin")), action: "key.create", kind: tarsy.ActorCLI},
		},
		"keys revoke": {
			{name: "over the API", args: key, action: "key.revoke"},
			{name: "in the database", args: inDatabase(key), action: "key.revoke", kind: tarsy.ActorCLI},
		},
	}
}

// ofServers returns the decisions that need a server started by a command.
func ofServers() map[string]string {
	return map[string]string{
		"serve":         "creates the first key, see TestFirstKeyAndReloadOfServerHaveOneAuditRowEach",
		"config reload": "as above; the other servers of these tests have no files",
	}
}

// reads returns the commands that record no decision, with their arguments.
func reads() map[string]func(*testing.T, *server) []string {
	file := func(args ...string) func(*testing.T, *server) []string {
		return func(t *testing.T, _ *server) []string {
			t.Helper()

			return append(args, filepath.Join(t.TempDir(), "file"))
		}
	}

	return map[string]func(*testing.T, *server) []string{
		// An alert creates a session, which records its author.
		"submit": with("-m", "disk full"), "webhooks test": with("--source", "grafana"),

		"sessions": with(), "sessions list": with(), "sessions show": about(), "export": about(), "quality": with(),
		"approvals": with(), "approvals list": with(), "notes": with(), "silences": with(), "silences list": with(), "suppressed": with(),
		"suppressed list": with(), "webhooks": with(), "webhooks list": with(), "keys": with(), "audit": with(), "pauses": with(),
		"approvals show": func(t *testing.T, s *server) []string { return []string{s.waiting(t).ID} },
		"keys list":      with(), "audit list": with(), "audit export": file("-f"), "audit verify": with(), "smoke": with(),
		"config check": with(), "config show": with(), "config schema": with(), "config route": with(), "version": with(), "licenses": with(),
		"init":            func(t *testing.T, _ *server) []string { return []string{"--yes", "--config-dir", t.TempDir()} },
		"support-bundle":  file("-o"),
		"database backup": func(t *testing.T, s *server) []string { return file("--database-url", s.database)(t, s) },

		// These print their help.
		"config": with(), "database": with(),
	}
}

// notRun returns the commands that record no decision and that no test here runs, with the reason.
func notRun() map[string]string {
	return map[string]string{
		"demo":             "a server for itself",
		"demo-mcp":         "has no server",
		"mock":             "has no server",
		"doctor":           "reads; whether it succeeds depends on the machine",
		"mcp":              "its tools decide, see TestEveryWritingToolOfMCPServerHasOneAuditRow in e2e",
		"database restore": "fills an empty database with what was decided before",
		"database upgrade": "moves a private PostgreSQL as it is",
	}
}

func TestEveryCommandDecidesOrDecidesNothing(t *testing.T) {
	t.Parallel()

	listed := slices.Concat(slices.Collect(maps.Keys(decisions())), slices.Collect(maps.Keys(ofServers())),
		slices.Collect(maps.Keys(reads())), slices.Collect(maps.Keys(notRun())))
	require.ElementsMatch(t, commandsBelow(cli.Root()), listed)
}

// commandsBelow returns the runnable commands, without the program's name.
func commandsBelow(cmd *cobra.Command) []string {
	var all []string

	for _, child := range cmd.Commands() {
		if child.Name() == "help" || child.Name() == "completion" {
			continue
		}

		if child.Runnable() {
			_, name, _ := strings.Cut(child.CommandPath(), " ")
			all = append(all, name)
		}

		all = append(all, commandsBelow(child)...)
	}

	return all
}

// startFor starts a server whose commands all run as ana, with an admin key.
func startFor(t *testing.T) *server {
	t.Helper()

	s := startServer(t, true)
	s.env = s.key(t, "ana", tarsy.ScopeAdmin)

	return s
}

// audited returns the whole audit log, oldest first.
func audited(t *testing.T, env []string) []tarsy.AuditEntry {
	t.Helper()

	rows := jsonOf[[]tarsy.AuditEntry](t, env, "audit", "list", "--all")
	slices.Reverse(rows)

	return rows
}

func TestEveryDecidingCommandHasOneAuditRow(t *testing.T) {
	t.Parallel()

	for command, cases := range decisions() {
		for _, d := range cases {
			t.Run(strings.TrimSpace(command+" "+d.name), func(t *testing.T) {
				t.Parallel()

				s := startFor(t)
				args := append(strings.Fields(command), d.args(t, s)...)
				before := len(audited(t, s.env))

				if d.interact != nil {
					d.interact(t, s, args)
				} else {
					got := tarsyWith(t, s.env, d.stdin, args...)
					require.Equal(t, cli.ExitOK, got.code, got.stderr)
				}

				rows := audited(t, s.env)[before:]

				if d.undecided {
					require.Empty(t, rows)

					return
				}

				require.Len(t, rows, cmp.Or(d.rows, 1))

				for _, row := range rows {
					require.Equal(t, d.action, row.Action)
					require.Equal(t, tarsy.AuditOK, row.Outcome)

					if d.kind == "" {
						require.Equal(t, tarsy.ActorKey, row.ActorKind)
						require.Equal(t, "ana", row.Actor)
					} else {
						require.Equal(t, d.kind, row.ActorKind)
					}
				}
			})
		}
	}
}

func TestCommandThatDecidesNothingHasNoAuditRow(t *testing.T) {
	t.Parallel()

	s := startFor(t)

	for command, args := range reads() {
		got := tarsyWith(t, s.env, "pod down", append(strings.Fields(command), args(t, s)...)...)
		require.Equal(t, cli.ExitOK, got.code, "%s: %s", command, got.stderr)
		require.Empty(t, audited(t, s.env), command)
	}
}

func TestFirstKeyAndReloadOfServerHaveOneAuditRowEach(t *testing.T) {
	t.Parallel()

	home := t.TempDir()
	running := start(t, []string{"TARSY_DATABASE_URL=" + pgtest.New(t), "TARSY_LISTEN=127.0.0.1:0", "TARSY_AUTH=on", "TARSY_DATA_DIR=" + home}, "serve")
	address := addressIn(t, running.stderr.wait(t, "TARSy listens on "))

	key, err := os.ReadFile(filepath.Join(home, "admin-key"))
	require.NoError(t, err)

	env := []string{"TARSY_SERVER=" + address, "TARSY_TOKEN=" + strings.TrimSpace(string(key)), "HOME=" + home}

	rows := audited(t, env)
	require.Len(t, rows, 1)
	require.Equal(t, "key.create", rows[0].Action)
	require.Equal(t, tarsy.ActorSystem, rows[0].ActorKind)

	got := tarsyWith(t, env, "", "config", "reload", "--dry-run")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Len(t, audited(t, env), 1)

	got = tarsyWith(t, env, "", "config", "reload")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	rows = audited(t, env)
	require.Len(t, rows, 2)
	require.Equal(t, "config.reload", rows[1].Action)
	require.Equal(t, tarsy.ActorKey, rows[1].ActorKind)
	require.Equal(t, "bootstrap", rows[1].Actor)
	require.Equal(t, cli.ExitOK, running.end())
}
