package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

const (
	receiverToken = "token-of-the-receiver"
	// stormThreshold is how many alerts of a group get their own session.
	stormThreshold = 5
)

// monitored is a server process that receives alerts from a real Alertmanager, and an App that runs no sessions, through
// which the test reads the state.
type monitored struct {
	*tarsytest.App

	t        testing.TB
	settings processSettings
	gateway  *alertGateway
	// manager is the address of Alertmanager.
	manager string
}

// newMonitored starts Alertmanager and a server.
func newMonitored(t *testing.T) *monitored {
	t.Helper()

	program := monitoringProgram(t, "alertmanager")
	env := map[string]string{"RECEIVER_TOKEN": receiverToken}
	text := fmt.Sprintf(`
agents: {Investigator: {}}
agent_chains:
  test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}
alerts:
  receivers: {cluster: {source: alertmanager, token_env: RECEIVER_TOKEN, alert_type: test}}
  storm: {threshold: %d}
`, stormThreshold)

	m := &monitored{t: t, gateway: newAlertGateway(t)}
	database := pgtest.New(t)
	m.App = tarsytest.New(t, tarsytest.Options{Config: text + "queue: {worker_count: 0}\n", Database: database, Env: env})
	m.Script.RouteFunc(func(*llm.Request) bool { return true }, func(*llm.Request, int) script.Reply { return says("The pod has no memory left.") })
	m.settings = processSettings{
		Database: database, Model: serveModel(t, m.Script), Env: env,
		Config: text + "llm_providers: {test: {type: scripted, model: test-model}}\ndefaults: {llm_provider: test}\n" +
			"queue: {worker_count: 5, orphan_threshold: 1s, heartbeat_interval: 200ms}\n",
	}
	m.gateway.route(startProcess(t, m.settings))
	m.manager = startMonitoring(t, program, "/-/ready", alertmanagerConfig(m.gateway.URL), "--storage.path={dir}", "--cluster.listen-address=")

	return m
}

// alertmanagerConfig groups by alertname and namespace, inhibits a node's warnings while the node is down, and sends to a server.
func alertmanagerConfig(server string) string {
	return fmt.Sprintf(`
route:
  receiver: tarsy
  group_by: [alertname, namespace]
  group_wait: 1s
  group_interval: 1s
  repeat_interval: 1s
inhibit_rules:
  - source_matchers: [alertname="NodeDown"]
    target_matchers: [severity="warning"]
    equal: [node]
receivers:
  - name: tarsy
    webhook_configs:
      - url: %s/api/v1/webhooks/alertmanager/cluster
        send_resolved: true
        http_config: {authorization: {type: Bearer, credentials: %s}}
`, server, receiverToken)
}

// monitoringProgram returns the path of a program installed by scripts/install-alertmanager.sh. Without it the test is
// skipped, with the reason that the script recorded.
func monitoringProgram(t *testing.T, name string) string {
	t.Helper()

	cache, err := filepath.Abs("../.cache")
	require.NoError(t, err)

	program := filepath.Join(cache, name)
	if _, err := os.Stat(program); err != nil {
		reason, _ := os.ReadFile(filepath.Join(cache, name+".reason"))
		if len(reason) == 0 {
			reason = []byte("run make alertmanager")
		}

		t.Skipf("%s is not installed: %s", name, strings.TrimSpace(string(reason)))
	}

	return program
}

// startMonitoring starts Alertmanager or Prometheus with a configuration, waits until it is ready and returns its address.
// In the arguments, {dir} is its directory.
func startMonitoring(t *testing.T, program, ready, config string, args ...string) string {
	t.Helper()

	dir, host := t.TempDir(), "127.0.0.1:"+freePort(t)
	file := filepath.Join(dir, "config.yml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))

	command := exec.Command(program, "--config.file="+file, "--web.listen-address="+host)
	for _, arg := range args {
		command.Args = append(command.Args, strings.ReplaceAll(arg, "{dir}", dir))
	}

	p := runProcess(t, command)
	url := "http://" + host

	until(t, "the start of "+filepath.Base(program), func() bool {
		select {
		case <-p.exited:
			require.FailNow(t, "the program ended", p.Log.String())
		default:
		}

		resp, err := http.Get(url + ready)
		if err != nil {
			return false
		}

		defer resp.Body.Close()

		return resp.StatusCode == http.StatusOK
	})

	return url
}

// until polls until a condition holds: for state that no event reports.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()

	wait.UntilWithin(t, 2*patience, what, holds)
}

// firingAlert is an alert as clients post it to Alertmanager.
type firingAlert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
	StartsAt     time.Time         `json:"startsAt"`
	// EndsAt is when it was resolved; nil while it fires.
	EndsAt *time.Time `json:"endsAt,omitempty"`
}

// resolved returns the alert as resolved.
func (a firingAlert) resolved() firingAlert {
	now := time.Now()
	a.EndsAt = &now

	return a
}

// Fire posts alerts to Alertmanager.
func (m *monitored) Fire(alerts ...firingAlert) {
	m.t.Helper()

	raw, err := json.Marshal(alerts)
	require.NoError(m.t, err)

	resp, err := http.Post(m.manager+"/api/v2/alerts", "application/json", bytes.NewReader(raw))
	require.NoError(m.t, err)

	defer resp.Body.Close()

	body, err := io.ReadAll(resp.Body)
	require.NoError(m.t, err)
	require.Equal(m.t, http.StatusOK, resp.StatusCode, string(body))
}

// managedAlert is an alert as Alertmanager shows it.
type managedAlert struct {
	Fingerprint string            `json:"fingerprint"`
	Labels      map[string]string `json:"labels"`
	Status      struct {
		State       string   `json:"state"`
		InhibitedBy []string `json:"inhibitedBy"`
	} `json:"status"`
}

// Managed returns the alerts that Alertmanager knows.
func (m *monitored) Managed() []managedAlert {
	m.t.Helper()

	resp, err := http.Get(m.manager + "/api/v2/alerts")
	require.NoError(m.t, err)

	defer resp.Body.Close()

	var all []managedAlert

	require.NoError(m.t, json.NewDecoder(resp.Body).Decode(&all))

	return all
}

// fingerprintOf returns Alertmanager's fingerprint of an alert, as the server stores it.
func (m *monitored) fingerprintOf(alert firingAlert) string {
	m.t.Helper()

	for _, managed := range m.Managed() {
		if fmt.Sprint(managed.Labels) == fmt.Sprint(alert.Labels) {
			return "alertmanager/cluster:" + managed.Fingerprint
		}
	}

	require.FailNow(m.t, "Alertmanager does not know the alert", alert.Labels)
	panic("unreachable")
}

// alertSession is the stored state of an alert with an identity, or of a storm.
type alertSession struct {
	ID          string
	Fingerprint string
	Status      string
	Storm       bool
	Members     int64
	Occurrences int64
}

// Investigated returns the sessions of alerts with an identity.
func (m *monitored) Investigated() []alertSession {
	m.t.Helper()

	return tarsytest.Rows[alertSession](m.App, `SELECT s.id::text AS id, s.fingerprint, s.status, a.storm, a.members, a.occurrences
		FROM sessions s JOIN session_alerts a ON a.session_id = s.id ORDER BY s.id`)
}

// keptAlert is a suppressed alert.
type keptAlert struct {
	Fingerprint string
	Reason      string
	Occurrences int64
}

// Suppressed returns the suppressed alerts.
func (m *monitored) Suppressed() []keptAlert {
	m.t.Helper()

	return tarsytest.Rows[keptAlert](m.App, "SELECT fingerprint, reason, occurrences FROM suppressed_alerts ORDER BY fingerprint")
}

// accepted returns the fingerprints of alerts that have a session or are a member of a storm, once for each.
func (m *monitored) accepted() []string {
	m.t.Helper()

	var all []string

	for _, s := range m.Investigated() {
		if !s.Storm {
			all = append(all, s.Fingerprint)
		}
	}

	for _, s := range m.Suppressed() {
		if s.Reason == string(tarsy.SuppressedStorm) {
			all = append(all, s.Fingerprint)
		}
	}

	return all
}

// repeated reports whether a delivery that contains the text was repeated and recognized.
func (m *monitored) repeated(text string) bool {
	return slices.ContainsFunc(m.gateway.Answered(), func(d answeredDelivery) bool {
		return strings.Contains(d.Request, text) && strings.Contains(d.Answer, `"repeated":true`)
	})
}
