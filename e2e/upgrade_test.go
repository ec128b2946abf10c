package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// The previous release and this version run on one database under load and are started and stopped in both orders, as in a
// rolling upgrade and in a rollback. Alerts, questions, cancellations and readers use whichever servers are running.
// Nothing fails, and nothing is lost or done twice.
func TestPreviousReleaseRunsBesideThisVersion(t *testing.T) {
	t.Parallel()

	previous, current := previousProgram(t), buildProgram(t)

	t.Run("upgrade", func(t *testing.T) {
		t.Parallel()

		u := newUpgrade(t)
		older := u.Join(previous)
		u.RunClients()
		defer u.Finish()

		u.Await(older)

		newer := u.Join(current) // migrates the database under the older one
		u.Await(older, newer)

		u.Leave(older)
		u.Await(newer)
		u.requireAllDone(newer)
	})

	t.Run("rollback", func(t *testing.T) {
		t.Parallel()

		u := newUpgrade(t)
		newer := u.Join(current)
		u.RunClients()
		defer u.Finish()

		u.Await(newer)

		older := u.Join(previous) // finds a newer schema than it knows
		u.Await(newer, older)

		u.Leave(newer)
		u.Await(older)

		again := u.Join(current)
		u.Await(older, again)

		u.Leave(older)
		u.Await(again)
		u.requireAllDone(again)
	})
}

// upgradeConfig is the configuration of both versions. Answers take a while, so that some are always in flight.
const upgradeConfig = `
llm_providers: {test: {type: openai, model: gpt-5, api: chat, base_url: '%s', api_key_env: KEY}}
mcp_servers: {desk: {transport: {type: http, url: '%s'}}}
defaults: {llm_provider: test}
agents:
  Logs: {custom_instructions: Read the logs., mcp_servers: [desk]}
  Metrics: {custom_instructions: Read the metrics., mcp_servers: [desk]}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Logs}, {name: Metrics}]}]
    chat: {enabled: true}
queue: {worker_count: 3, max_concurrent_sessions: 100, graceful_shutdown_timeout: 20s}
`

// upgrade is a database with the servers that come and go on it, and the clients that use them.
type upgrade struct {
	t        *testing.T
	database string
	dir      string
	tools    *desk
	model    *tarsytest.LLMServer

	// rotation has the servers that clients can use, as a load balancer knows them. A request holds the lock for reading,
	// so that a server leaves the rotation before it is stopped and no request is refused.
	lock     sync.RWMutex
	rotation []*member

	clients sync.WaitGroup
	quit    context.Context
	finish  context.CancelFunc

	mu       sync.Mutex
	sessions []*upgradeSession
	// finished counts sessions by the server that ended them; moved is closed by the next one.
	finished map[string]int
	moved    chan struct{}
	// stops are the periods in which a server was stopping.
	stops []period
}

type period struct{ begin, end time.Time }

// member is a server in the rotation.
type member struct {
	*process

	app *tarsytest.App
}

func newUpgrade(t *testing.T) *upgrade {
	t.Helper()

	u := &upgrade{
		t: t, database: pgtest.Empty(t), dir: t.TempDir(), tools: newDesk(t),
		finished: map[string]int{}, moved: make(chan struct{}),
	}
	u.quit, u.finish = context.WithCancel(t.Context())
	u.model = tarsytest.NewLLMServer(t, upgradeModel())
	settings := fmt.Sprintf(upgradeConfig, u.model.OpenAI(), u.tools.URL)
	require.NoError(t, os.WriteFile(filepath.Join(u.dir, "tarsy.yaml"), []byte(settings), 0o600))

	return u
}

func upgradeModel() *script.Script {
	model := script.New(script.Options{Pace: script.Pace{FirstToken: 20 * time.Millisecond, TokensPerSecond: 200}})
	model.RouteFunc(everyRequest, upgradeReply)

	return model
}

// Join starts a server of a version and adds it to the rotation.
func (u *upgrade) Join(binary string) *member {
	u.t.Helper()

	p := startServe(u.t, binary, u.dir, u.database)
	m := &member{process: p, app: tarsytest.Connect(u.t, p.URL, u.database)}

	var health struct {
		ServerID string `json:"server_id"`
	}

	require.NoError(u.t, json.Unmarshal(m.app.Do(http.MethodGet, "/health", nil).Body, &health))
	m.ServerID = health.ServerID

	u.t.Cleanup(func() {
		if u.t.Failed() {
			u.t.Logf("problems of %s:\n%s", m.ServerID, m.Log.problems())
		}
	})

	u.lock.Lock()
	defer u.lock.Unlock()

	u.rotation = append(u.rotation, m)

	return m
}

// Leave removes a server from the rotation and stops it: it hands its sessions over and exits cleanly.
func (u *upgrade) Leave(m *member) {
	u.t.Helper()

	u.lock.Lock()
	u.rotation = slices.DeleteFunc(u.rotation, func(other *member) bool { return other == m })
	u.lock.Unlock()

	begin := time.Now()

	m.Signal(syscall.SIGTERM)
	require.Zero(u.t, m.WaitExit(), "log:\n%s", m.Log)

	u.mu.Lock()
	defer u.mu.Unlock()

	u.stops = append(u.stops, period{begin: begin, end: time.Now()})
}

// Ask calls use with any server of the rotation.
func (u *upgrade) Ask(use func(app *tarsytest.App)) {
	u.lock.RLock()
	defer u.lock.RUnlock()

	use(u.rotation[rand.IntN(len(u.rotation))].app)
}

// Await waits until each of the servers has ended some more sessions.
func (u *upgrade) Await(members ...*member) {
	u.t.Helper()

	const some = 3

	u.mu.Lock()
	goal := map[string]int{}

	for _, m := range members {
		goal[m.ServerID] = u.finished[m.ServerID] + some
	}
	u.mu.Unlock()

	timeout := time.NewTimer(2 * patience)
	defer timeout.Stop()

	for {
		u.mu.Lock()
		moved := u.moved
		missing := slices.DeleteFunc(slices.Clone(members), func(m *member) bool { return u.finished[m.ServerID] >= goal[m.ServerID] })
		u.mu.Unlock()

		if len(missing) == 0 {
			return
		}

		select {
		case <-moved:
		case <-timeout.C:
			require.FailNow(u.t, "timed out waiting for a server to end sessions", "log:\n%s", missing[0].Log)
		}
	}
}
