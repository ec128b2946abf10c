package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/postgres/private"
)

// The real program, as people run it: the demo is killed in the middle of its stories and started again. It adopts the
// PostgreSQL that it left running and completes the stories. Ctrl-C leaves nothing behind.
func TestDemoResumesAfterKill(t *testing.T) {
	t.Parallel()

	binary, dir := buildProgram(t), demoDir(t)
	first := startDemo(t, binary, dir)
	ids := first.sessions(t)

	// A tool has answered in the first story; every story continues after that.
	first.follow(t, ids[0], func(u client.Update) bool {
		return u.Event != nil && u.Event.Type == tarsy.TypeTimelineCompleted && strings.Contains(string(u.Event.Payload), string(tarsy.EventToolCall))
	})
	first.Kill()

	finished := countEnded(t, dir)
	require.Less(t, finished, len(ids), "it was killed in the middle of the stories")

	second := startDemo(t, binary, dir)
	second.Log.WaitLine("private postgresql ready", "adopted=true")
	require.Len(t, second.sessions(t), len(ids), "the stories are not begun again")

	for _, id := range ids {
		requireStory(t, second, id)
	}

	requireCounts(t, second)
	second.Signal(syscall.SIGINT)
	require.Zero(t, second.WaitExit(), "log:\n%s", second.Log)
	requireNothingLeft(t, binary, dir)
}

// A tee that prints the demo's output gets the same Ctrl-C and exits first: nobody reads the output while the demo stops,
// and it must still stop.
func TestDemoStopsCleanlyWithoutReader(t *testing.T) {
	t.Parallel()

	binary, dir := buildProgram(t), demoDir(t)
	demo := startDemo(t, binary, dir)
	demo.StopReading()

	demo.Signal(syscall.SIGINT)
	require.Zero(t, demo.WaitExit())
	requireNothingLeft(t, binary, dir)
}

// A private PostgreSQL that is killed, for example by the kernel when memory is short, is restarted, and nothing is lost.
func TestDemoResumesAfterDatabaseKill(t *testing.T) {
	t.Parallel()

	binary, dir := buildProgram(t), demoDir(t)
	demo := startDemo(t, binary, dir)
	ids := demo.sessions(t)

	record, err := os.ReadFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	require.NoError(t, err)

	first, _, _ := strings.Cut(string(record), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	demo.Log.WaitLine("private postgresql ready again")

	for _, id := range ids {
		requireStory(t, demo, id)
	}

	demo.Signal(syscall.SIGINT)
	require.Zero(t, demo.WaitExit(), "log:\n%s", demo.Log)
	requireNothingLeft(t, binary, dir)
}

// requireStory waits for the end of a story and checks it.
func requireStory(t *testing.T, p *demoProcess, id string) {
	t.Helper()

	created, completed := map[string]bool{}, map[string]bool{}

	var last int64

	end := p.follow(t, id, func(u client.Update) bool {
		if u.Event == nil {
			return u.End != ""
		}

		require.Equal(t, last+1, u.Event.Seq, "the journal has no gap")
		last = u.Event.Seq

		seen := map[string]map[string]bool{tarsy.TypeTimelineCreated: created, tarsy.TypeTimelineCompleted: completed}[u.Event.Type]
		if seen != nil {
			event := eventID.FindString(string(u.Event.Payload))
			require.False(t, seen[event], "nothing is told twice")
			seen[event] = true
		}

		return false
	})

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	session, err := p.client.Session(ctx, id)
	require.NoError(t, err)
	require.Equal(t, session.Status, end.End)

	timeline, err := p.client.Timeline(ctx, id)
	require.NoError(t, err)

	for _, e := range timeline.Events {
		require.Equal(t, tarsy.EventCompleted, e.Status)
	}

	cited := requireCited(t, timeline.Events)

	// In one story the model refuses.
	if session.AlertType == "secret-in-log" {
		require.Equal(t, tarsy.SessionFailed, session.Status)
		require.Equal(t, "llm_safety", session.ErrorCode)
		require.Empty(t, cited)

		return
	}

	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.NotEmpty(t, session.FinalAnalysis)
	require.NotEmpty(t, session.ExecutiveSummary)

	for _, marks := range cited {
		require.NotEmpty(t, marks.Citations)
		require.Empty(t, marks.UnknownCitations, "what the demo cites is there")
	}
}

// requireCounts checks how the demo's alerts were counted: two of one group have their own sessions, its other six are a storm.
func requireCounts(t *testing.T, p *demoProcess) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	members, occurrences, resolved := int64(0), []int64{}, 0

	for session, err := range client.List(ctx, p.client, client.ListSessions, client.Filter{}, 0) {
		require.NoError(t, err)

		switch {
		case session.Alert == nil: // sent as text
		case session.Alert.Storm:
			members += session.Alert.Members
		default:
			occurrences = append(occurrences, session.Alert.Occurrences)

			if !session.Alert.Firing {
				resolved++
			}
		}
	}

	slices.Sort(occurrences)
	require.EqualValues(t, 6, members)
	require.Equal(t, []int64{1, 1, 1, 1, 2, 2, 3}, occurrences)
	require.Equal(t, 1, resolved)

	reasons := map[tarsy.SuppressionReason]int{}

	for suppressed, err := range client.List(ctx, p.client, client.ListSuppressed, client.SuppressedFilter{}, 0) {
		require.NoError(t, err)

		reasons[suppressed.Reason]++
	}

	require.Equal(t, map[tarsy.SuppressionReason]int{
		tarsy.SuppressedStorm: 6, tarsy.SuppressedDuplicate: 3, tarsy.SuppressedMaintenance: 1,
	}, reasons)
}

var (
	eventID = regexp.MustCompile(`"event_id":\s*"[^"]*"`)
	address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
)

// demoDir returns a data directory that the user as which PostgreSQL runs under root can reach too, unlike the directories
// of the testing package. It is removed at the end, and what still runs in it is stopped.
func demoDir(t *testing.T) string {
	t.Helper()

	dir, err := os.MkdirTemp("", "tarsy-e2e-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))

	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()

		require.NoError(t, errors.Join(private.Remove(ctx, dir), os.RemoveAll(dir)))
	})

	return dir
}

// countEnded returns how many sessions have ended. PostgreSQL outlives the server, and keeps running.
func countEnded(t *testing.T, dir string) int {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	server, err := private.Open(ctx, private.Config{Dir: dir, BinDir: os.Getenv("TARSY_PG_BIN")})
	require.NoError(t, err)
	require.True(t, server.Adopted())

	conn, err := pgx.Connect(ctx, server.URL())
	require.NoError(t, err)

	var finished int

	require.NoError(t, conn.QueryRow(ctx, "SELECT count(*) FROM sessions WHERE completed_at IS NOT NULL").Scan(&finished))
	require.NoError(t, conn.Close(ctx))
	require.NoError(t, server.Detach())

	return finished
}

// demoProcess is a running demo.
type demoProcess struct {
	*process

	client *client.Client
}

func startDemo(t *testing.T, binary, dir string) *demoProcess {
	t.Helper()

	command := exec.Command(binary, "demo", "--speed", "20", "--listen", "127.0.0.1:0", "--data-dir", dir, "--log-level", "info")
	// The test ignores the developer's settings, except for the location of PostgreSQL.
	command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "TARSY_") && !strings.HasPrefix(entry, "TARSY_PG_BIN=")
	})

	p := &demoProcess{process: runProcess(t, command)}
	p.Log.WaitLine("is running at")
	p.URL = address.FindString(p.Log.String())

	var err error

	p.client, err = client.New(client.Config{Server: p.URL})
	require.NoError(t, err)
	t.Cleanup(p.client.Close)

	return p
}

// sessions returns the ids of all sessions.
func (p *demoProcess) sessions(t *testing.T) []string {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var ids []string

	for session, err := range client.List(ctx, p.client, client.ListSessions, client.Filter{}, 0) {
		require.NoError(t, err)

		ids = append(ids, session.ID)
	}

	return ids
}

// follow reads a session from its beginning until found returns true.
func (p *demoProcess) follow(t *testing.T, id string, found func(client.Update) bool) client.Update {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	for update, err := range p.client.Follow(ctx, id, 0) {
		require.NoError(t, err, "log:\n%s", p.Log)

		if found(update) {
			return update
		}
	}

	require.Fail(t, "the session ended before that", "log:\n%s", p.Log)

	return client.Update{}
}

// requireNothingLeft checks that no process of the program, and no PostgreSQL of the directory, is running. An adopted
// PostgreSQL removes its own record as its last action, so it may be seen exiting.
func requireNothingLeft(t *testing.T, binary, dir string) {
	t.Helper()
	require.NoFileExists(t, filepath.Join(dir, "postgres", "postmaster.pid"))

	for deadline := time.Now().Add(patience); ; {
		left := processesOf(t, binary, dir)
		if len(left) == 0 {
			return
		}

		require.True(t, time.Now().Before(deadline), "processes are left: %v", left)
	}
}

// processesOf returns the processes of a program, and those that work in a directory.
func processesOf(t *testing.T, binary, dir string) []string {
	t.Helper()

	processes, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)

	if len(processes) == 0 {
		t.Log("this system does not show its processes as files: only PostgreSQL's own record was looked at")
	}

	return slices.DeleteFunc(processes, func(process string) bool {
		// Only root can follow the links of tarsy itself; everybody can read its command line.
		executable, _ := os.Readlink(filepath.Join(process, "exe")) // gone, or not ours
		cwd, _ := os.Readlink(filepath.Join(process, "cwd"))
		called, _ := os.ReadFile(filepath.Join(process, "cmdline"))

		return executable != binary && !strings.HasPrefix(string(called), binary+"\x00") && !strings.HasPrefix(cwd, dir)
	})
}
