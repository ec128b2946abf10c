package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/private"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/tarsytest"
)

// The primary is killed while alerts arrive and sessions run, and its synchronous standby is promoted. Every alert that was
// answered with 202 is stored and is investigated to its end, and callers get nothing but 202 and 503.
func TestFailoverToSynchronousStandbyLosesNothing(t *testing.T) {
	t.Parallel()

	const (
		senders = 4
		held    = 3  // sessions that are in an LLM call during the failover
		enough  = 30 // alerts acknowledged before the failover, and again after it
	)

	pair := newReplicatedPair(t)
	model := &heldModel{held: make(chan struct{}, held), release: make(chan struct{})}
	app := tarsytest.New(t, tarsytest.Options{Config: "queue: {worker_count: 8}\n" + oneAgent, LLM: model, Database: pair.url()})
	storm := startAlertStorm(t, app.URL, senders)

	for range held {
		await(t, model.held, "a session that runs")
	}

	storm.awaitMore(t, enough)
	pair.failOver(t)
	close(model.release)
	storm.awaitMore(t, enough)

	acknowledged := storm.end()
	requireInvestigated(t, app, acknowledged)
	t.Logf("%d alerts acknowledged, %d refused with 503", len(acknowledged), storm.refused)
}

// requireInvestigated waits until all sessions have completed, and checks that no journal has a gap.
func requireInvestigated(t *testing.T, app *tarsytest.App, ids []string) {
	t.Helper()

	type row struct{ Found, Completed, Whole int }

	for deadline := time.Now().Add(patience); ; {
		got := tarsytest.Rows[row](app, `SELECT count(*) AS found, count(*) FILTER (WHERE status = 'completed') AS completed,
count(*) FILTER (WHERE last_seq = (SELECT count(*) FROM events WHERE session_id = sessions.id)) AS whole
FROM sessions WHERE id = ANY($1::uuid[])`, ids)[0]
		require.Equal(t, len(ids), got.Found, "acknowledged alerts are lost")

		if got.Completed == len(ids) {
			require.Equal(t, len(ids), got.Whole, "a journal has a gap")

			return
		}

		require.True(t, time.Now().Before(deadline), "%d of %d sessions have completed", got.Completed, len(ids))
	}
}

// heldModel answers immediately, but holds the first calls until it is released.
type heldModel struct {
	held    chan struct{}
	release chan struct{}
}

func (m *heldModel) Generate(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		select {
		case m.held <- struct{}{}:
			select {
			case <-m.release:
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))

				return
			}
		default:
		}

		yield(llm.TextChunk{Text: "Analysed."}, nil)
	}
}

// alertStorm submits alerts one after another, from several senders, until it is stopped.
type alertStorm struct {
	stop    context.CancelFunc
	running sync.WaitGroup

	mu           sync.Mutex
	acknowledged []string
	refused      int
	// reached is closed when wanted alerts are acknowledged.
	reached chan struct{}
	wanted  int
}

func startAlertStorm(t *testing.T, server string, senders int) *alertStorm {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	s := &alertStorm{stop: cancel}

	for range senders {
		s.running.Go(func() {
			client := &http.Client{Timeout: patience, Transport: &http.Transport{}}
			defer client.CloseIdleConnections()

			for ctx.Err() == nil {
				s.submit(t, client, server)
			}
		})
	}

	t.Cleanup(func() { s.end() })

	return s
}

// submit is not cancelled at the end of the storm: every stored alert must be known.
func (s *alertStorm) submit(t *testing.T, client *http.Client, server string) {
	t.Helper()

	body := []byte(`{"alert_type":"test","data":"the disk is slow"}`)

	response, err := client.Post(server+"/api/v1/alerts", "application/json", bytes.NewReader(body))
	if !assert.NoError(t, err) {
		return
	}

	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()

	assert.NoError(t, err)

	var accepted struct {
		SessionID string `json:"session_id"`
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	if response.StatusCode != http.StatusAccepted {
		assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode, "%s", text)
		assert.Contains(t, string(text), tarsy.CodeUnavailable)

		s.refused++

		return
	}

	assert.NoError(t, json.Unmarshal(text, &accepted))

	s.acknowledged = append(s.acknowledged, accepted.SessionID)
	if s.reached != nil && len(s.acknowledged) == s.wanted {
		close(s.reached)
	}
}

// awaitMore waits until this many more alerts are acknowledged.
func (s *alertStorm) awaitMore(t *testing.T, more int) {
	t.Helper()

	done := make(chan struct{})

	s.mu.Lock()
	s.reached, s.wanted = done, len(s.acknowledged)+more
	s.mu.Unlock()

	await(t, done, strconv.Itoa(more)+" more alerts to be acknowledged")
}

// end stops the storm and returns the acknowledged alerts.
func (s *alertStorm) end() []string {
	s.stop()
	s.running.Wait()

	return s.acknowledged
}

// replicatedPair is a primary and its synchronous standby, both without a network.
type replicatedPair struct {
	primary string // URL
	sockets [2]string
	cluster string
}

func newReplicatedPair(t *testing.T) *replicatedPair {
	t.Helper()

	binaries, err := private.Find(os.Getenv("TARSY_PG_BIN"))
	require.NoError(t, err)

	backup := filepath.Join(binaries.Dir, "pg_basebackup")
	if _, err := os.Stat(backup); err != nil {
		t.Skipf("needs pg_basebackup, which this installation of PostgreSQL does not have: %v", err)
	}

	dir := demoDir(t)
	settings := map[string]string{"fsync": "off", "shared_buffers": "16MB"}

	server, err := private.Open(t.Context(), private.Config{Dir: dir, BinDir: binaries.Dir, Settings: settings})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })

	pair := &replicatedPair{primary: server.URL(), cluster: filepath.Join(dir, "postgres")}
	config, err := pgx.ParseConfig(server.URL())
	require.NoError(t, err)

	pair.sockets = [2]string{config.Host, filepath.Join(dir, "standby-socket")}
	standby := filepath.Join(dir, "standby")
	owner := ownerOf(t, pair.cluster)

	for _, directory := range []string{standby, pair.sockets[1]} {
		require.NoError(t, os.Mkdir(directory, 0o700))
		require.NoError(t, os.Chown(directory, int(owner.Uid), int(owner.Gid)))
	}

	copying := pair.command(owner, backup, "--pgdata="+standby, "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
		"--dbname=host="+config.Host+" user="+config.User+" password="+config.Password)
	output, err := copying.CombinedOutput()
	require.NoError(t, err, "%s", output)

	pair.startStandby(t, owner, filepath.Join(binaries.Dir, "postgres"), standby)

	// From now on a commit is acknowledged once the standby has it.
	pair.exec(t, pair.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	pair.exec(t, pair.primary, "SELECT pg_reload_conf()")
	pair.await(t, pair.primary, "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")

	return pair
}

func ownerOf(t *testing.T, path string) *syscall.Credential {
	t.Helper()

	info, err := os.Stat(path)
	require.NoError(t, err)

	stat, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)

	return &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}
}

// command returns a command for a program of PostgreSQL, which must not run as root.
func (p *replicatedPair) command(owner *syscall.Credential, program string, arguments ...string) *exec.Cmd {
	command := exec.Command(program, arguments...)
	command.Dir = "/"

	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	}

	return command
}

func (p *replicatedPair) startStandby(t *testing.T, owner *syscall.Credential, postgres, cluster string) {
	t.Helper()

	var log bytes.Buffer

	running := p.command(owner, postgres, "-D", cluster, "-k", p.sockets[1], "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "shared_buffers=16MB", "-c", "max_connections=200", "-c", "synchronous_standby_names=")
	running.Stdout, running.Stderr = &log, &log
	require.NoError(t, running.Start())
	t.Cleanup(func() {
		_ = running.Process.Signal(syscall.SIGINT)
		_ = running.Wait()

		if t.Failed() {
			t.Logf("the standby's log:\n%s", log.String())
		}
	})

	p.await(t, p.addressOf(p.sockets[1], ""), "SELECT pg_is_in_recovery()")
}

// url returns the address of whichever of the two accepts writes.
func (p *replicatedPair) url() string {
	return p.addressOf(strings.Join(p.sockets[:], ","), "read-write")
}

func (p *replicatedPair) addressOf(hosts, attributes string) string {
	address, err := url.Parse(p.primary)
	if err != nil {
		panic(err) // it was parsed before
	}

	query := address.Query()
	query.Set("host", hosts)

	if attributes != "" {
		query.Set("target_session_attrs", attributes)
	}

	query.Set("port", strings.TrimSuffix(strings.Repeat("5432,", strings.Count(hosts, ",")+1), ","))
	address.RawQuery = query.Encode()

	return address.String()
}

// failOver kills the primary and promotes the standby, as cluster managers do.
func (p *replicatedPair) failOver(t *testing.T) {
	t.Helper()

	record, err := os.ReadFile(filepath.Join(p.cluster, "postmaster.pid"))
	require.NoError(t, err)

	first, _, _ := strings.Cut(string(record), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	p.exec(t, p.addressOf(p.sockets[1], ""), "SELECT pg_promote()")
}

func (p *replicatedPair) exec(t *testing.T, address, sql string) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)

	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

// await polls until the answer is true. A starting server refuses connections at first.
func (p *replicatedPair) await(t *testing.T, address, question string) {
	t.Helper()

	for deadline := time.Now().Add(patience); ; {
		var yes bool

		conn, err := pgx.Connect(t.Context(), address)
		if err == nil {
			err = conn.QueryRow(t.Context(), question).Scan(&yes)
			_ = conn.Close(t.Context())
		}

		if yes {
			return
		}

		require.True(t, time.Now().Before(deadline), "timed out waiting for %s: %v", question, err)
	}
}
