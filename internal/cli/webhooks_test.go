package cli_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

const receiversConfig = `
alerts:
  receivers:
    cluster-a: {source: alertmanager, token_env: TOKEN_A}
    dash: {source: grafana, token_env: TOKEN_A, secret_env: GRAFANA_SECRET}
    oncall: {source: pagerduty, secret_env: PAGERDUTY_SECRET}
    paging: {source: pagerduty, token_env: TOKEN_A}
    signed: {source: alertmanager, secret_env: GRAFANA_SECRET}
    hmac: {source: generic, secret_env: GRAFANA_SECRET}
    status: {source: generic, token_env: TOKEN_A, mapping: {title: title, labels: labels}}
`

func receiversEnv() map[string]string {
	return map[string]string{"TOKEN_A": "token-of-a", "GRAFANA_SECRET": "secret-of-grafana", "PAGERDUTY_SECRET": "secret-of-pagerduty"}
}

// variables returns an environment in the form that a process has.
func variables(env map[string]string, more ...string) []string {
	for name, value := range env {
		more = append(more, name+"="+value)
	}

	return more
}

type testedWebhook struct {
	Source, Name, Auth, Error string

	Alerts []tarsy.DeliveredAlert
}

func TestWebhooksTestAuthenticatesAsTheSenderDoes(t *testing.T) {
	t.Parallel()

	s := startServerWith(t, true, receiversConfig, receiversEnv())
	// A key with the scope read can list receivers but not deliver to them.
	env := variables(receiversEnv(), s.key(t, "reader", tarsy.ScopeRead)...)

	for receiver, want := range map[string]struct{ auth, title, text string }{
		"alertmanager/cluster-a": {"token", "Test alert from tarsy webhooks test", "sent with the token in TOKEN_A"},
		"alertmanager/signed":    {"signature", "Test alert from tarsy webhooks test", "sent with a signature with the secret in GRAFANA_SECRET"},
		"grafana/dash": {
			"token+signature", "Test alert from tarsy webhooks test", "sent with the token in TOKEN_A and a signature with the secret in GRAFANA_SECRET",
		},
		"pagerduty/oncall": {
			"signature", "Test incident from tarsy webhooks test: nothing is wrong", "sent with a signature with the secret in PAGERDUTY_SECRET",
		},
		"generic/status": {"token", "Test alert from tarsy webhooks test", "sent with the token in TOKEN_A"},
		"generic/hmac":   {"signature", "Test alert from tarsy webhooks test", "sent with a signature with the secret in GRAFANA_SECRET"},
	} {
		source, name, _ := strings.Cut(receiver, "/")
		got := tarsyWith(t, env, "", "webhooks", "test", "--source", source, "--name", name, "-o", "json")
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Contains(t, got.stderr, receiver+": "+want.text)

		var results []testedWebhook
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &results))
		require.Len(t, results, 1)
		require.Equal(t, want.auth, results[0].Auth)
		require.Len(t, results[0].Alerts, 1)
		require.Equal(t, tarsy.ActionInvestigate, results[0].Alerts[0].Action)

		detail, err := s.DB().SessionDetail(t.Context(), *results[0].Alerts[0].SessionID)
		require.NoError(t, err)
		require.Equal(t, want.title, detail.Title)
		require.Equal(t, "webhook:"+name, detail.Author, "the key was not used")
		require.Equal(t, tarsy.AlertSource(source), detail.Source)
	}
}

func TestWebhooksTestExplainsRefusalsAndTriesEveryReceiver(t *testing.T) {
	t.Parallel()

	s := startServerWith(t, true, receiversConfig, receiversEnv())
	write := s.key(t, "writer", tarsy.ScopeWrite)

	// The first receiver of each source is tested. The grafana receiver has another secret here; the others use the key.
	got := tarsyWith(t, append([]string{"TOKEN_A=token-of-a", "GRAFANA_SECRET=wrong"}, write...), "", "webhooks", "test")
	require.Equal(t, cli.ExitAuth, got.code, got.stderr)
	require.Contains(t, got.stderr, "alertmanager/cluster-a: sent with the token in TOKEN_A\n")
	require.Contains(t, got.stderr, "pagerduty/oncall: sent with the API key; not set here: PAGERDUTY_SECRET\n")
	require.Contains(t, got.stderr, "; the server needs the same value of TOKEN_A and GRAFANA_SECRET as set here\n")
	require.NotContains(t, got.stderr, "TARSY_TOKEN", "an API key is not what is missing")
	require.NotContains(t, got.stdout+got.stderr, "token-of-a")

	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 5)
	require.Regexp(t, `^alertmanager/cluster-a +investigate +Test alert from .* http://\S+/sessions/\S+$`, lines[1])
	require.Regexp(t, `^generic/hmac +refused +the request has neither `, lines[2])
	require.Regexp(t, `^grafana/dash +refused +the request has neither `, lines[3])
	require.Regexp(t, `^pagerduty/oncall +investigate +Test incident from `, lines[4])

	// A repetition counts towards the existing session.
	got = tarsyWith(t, append([]string{"TOKEN_A=token-of-a"}, write...), "", "webhooks", "test", "--source", "alertmanager")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `alertmanager/cluster-a +count +`, got.stdout)

	got = tarsyWith(t, s.key(t, "reader", tarsy.ScopeRead), "", "webhooks", "test", "--source", "pagerduty")
	require.Equal(t, cli.ExitAuth, got.code)
	require.Contains(t, got.stderr,
		"; set PAGERDUTY_SECRET here to the value that the server has, or use an API key with the scope write (--token or TARSY_TOKEN)\n")

	got = tarsyWith(t, s.env, "", "webhooks", "test")
	require.Equal(t, cli.ExitAuth, got.code)
	require.Contains(t, got.stderr, "--token or TARSY_TOKEN", "the receivers cannot be listed")

	for _, bad := range [][]string{{"--name", "status"}, {"--source", "nagios"}} {
		require.Equal(t, cli.ExitUsage, tarsyWith(t, write, "", append([]string{"webhooks", "test"}, bad...)...).code)
	}

	got = tarsyWith(t, write, "", "webhooks", "test", "--source", "grafana", "--name", "nope")
	require.Equal(t, cli.ExitNotFound, got.code, got.stderr)

	open := startServer(t, false)
	got = tarsyWith(t, open.env, "", "webhooks", "test", "--source", "grafana")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "grafana/default: sent without an API key\n")
}

// listedWebhooks returns the snippets by receiver.
func listedWebhooks(t *testing.T, s *server) map[string]string {
	t.Helper()

	got := tarsyWith(t, s.env, "", "webhooks", "list", "-o", "json")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	var listed []struct{ Source, Name, URL, Snippet string }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &listed))

	text := tarsyWith(t, s.env, "", "webhooks", "list").stdout
	snippets := map[string]string{}

	for _, r := range listed {
		require.Equal(t, "https://tarsy.example/api/v1/webhooks/"+r.Source+"/"+r.Name, r.URL)
		require.Contains(t, text, "# "+r.Source+"/"+r.Name+": "+r.URL+"\n"+r.Snippet)
		snippets[r.Source+"/"+r.Name] = r.Snippet
	}

	return snippets
}

func TestWebhooksListPrintsWhatToPaste(t *testing.T) {
	t.Parallel()

	s := startServerWith(t, false, receiversConfig, receiversEnv())
	snippets := listedWebhooks(t, s)
	require.Len(t, snippets, 9)

	for _, snippet := range snippets {
		require.NotContains(t, snippet, "token-of-a")
		require.NotContains(t, snippet, "secret-of")
	}

	require.Contains(t, snippets["alertmanager/cluster-a"], "/etc/alertmanager/tarsy-token contains the value of TOKEN_A on the server\n"+
		cli.AlertmanagerSnippet("https://tarsy.example/api/v1/webhooks/alertmanager/cluster-a", "/etc/alertmanager/tarsy-token"))

	_, create, _ := strings.Cut(snippets["alertmanager/default"], "an API key: tarsy ")
	create, _, _ = strings.Cut(create, "\n")
	got := tarsyWith(t, s.env, "", strings.Fields(create)...)
	require.Equal(t, cli.ExitOK, got.code, "%s: %s", create, got.stderr)

	require.Contains(t, snippets["alertmanager/signed"], "Alertmanager does not sign")

	// The names come from Grafana's file provisioning.
	type settings = map[string]any

	for receiver, want := range map[string]settings{
		"default": {"authorization_scheme": "Bearer", "authorization_credentials": "$TARSY_TOKEN"},
		"dash": {
			"authorization_scheme": "Bearer", "authorization_credentials": "$TARSY_TOKEN", "hmacConfig": map[string]any{"secret": "$TARSY_SECRET"},
		},
	} {
		want["url"], want["httpMethod"] = "https://tarsy.example/api/v1/webhooks/grafana/"+receiver, "POST"

		var read map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(snippets["grafana/"+receiver]), &read))
		require.Equal(t, map[string]any{"apiVersion": uint64(1), "contactPoints": []any{map[string]any{
			"orgId": uint64(1), "name": "tarsy",
			"receivers": []any{map[string]any{"uid": "tarsy", "type": "webhook", "disableResolveMessage": false, "settings": want}},
		}}}, read)
	}

	for receiver, headers := range map[string]int{"oncall": 0, "paging": 1} {
		_, body, _ := strings.Cut(snippets["pagerduty/"+receiver], "--data-binary '")
		body, _, _ = strings.Cut(body, "'\n")

		var sent struct {
			Subscription struct {
				Type     string
				Events   []string
				Delivery struct {
					Type, URL string
					Headers   []struct{ Name, Value string } `json:"custom_headers"`
				} `json:"delivery_method"`
			} `json:"webhook_subscription"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &sent), body)
		require.Equal(t, "webhook_subscription", sent.Subscription.Type)
		require.Equal(t, "https://tarsy.example/api/v1/webhooks/pagerduty/"+receiver, sent.Subscription.Delivery.URL)
		require.Equal(t, []string{"incident.triggered", "incident.reopened", "incident.resolved"}, sent.Subscription.Events)
		require.Len(t, sent.Subscription.Delivery.Headers, headers)
	}

	require.Contains(t, snippets["pagerduty/oncall"], "set PAGERDUTY_SECRET on the server")

	got = tarsyWith(t, s.env, "", "webhooks", "list", "--source", "generic")
	require.Equal(t, 2, strings.Count(got.stdout, "curl -X POST"))
	require.NotContains(t, got.stdout, "alertmanager")
}

func TestPastedCommandsDeliver(t *testing.T) {
	t.Parallel()

	for _, program := range []string{"sh", "curl", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the commands need %s: %v", program, err)
		}
	}

	s := startServerWith(t, true, receiversConfig, receiversEnv())
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "alert.json"), []byte(`{"title": "The page is slow"}`), 0o600))

	keyed := *s
	keyed.env = s.key(t, "reader", tarsy.ScopeRead)
	snippets := listedWebhooks(t, &keyed)

	for _, receiver := range []string{"generic/status", "generic/hmac"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(snippets[receiver], "https://tarsy.example/", "http://"+s.Addr()+"/"))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TARSY_TOKEN=token-of-a", "TARSY_SECRET=secret-of-grafana")
		out, err := cmd.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), `"action":"investigate"`, receiver)
	}
}

func TestServeWarnsAboutReceiversWithoutTheirVariable(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, "alerts:\n  receivers:\n    a: {source: alertmanager, token_env: TOKEN_A}\n    b: {source: alertmanager, token_env: TOKEN_B}\n")
	server := start(t, []string{"TARSY_DATABASE_URL=" + pgtest.New(t), "TARSY_LISTEN=127.0.0.1:0", "TOKEN_B=b"}, "serve", "--config-dir", dir)
	text := server.stderr.wait(t, "TARSy listens on ")
	require.Contains(t, text, "warning: tarsy.yaml:3: alerts.receivers.a.token_env: environment variable TOKEN_A is not set "+
		"(requests to the receiver are refused with 401, unless they have an API key)\n")
	require.NotContains(t, text, "TOKEN_B")

	sender := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

	for receiver, status := range map[string]int{"a": http.StatusUnauthorized, "b": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addressIn(t, text)+"/api/v1/webhooks/alertmanager/"+receiver,
			strings.NewReader(`{"version": "4", "status": "firing", "alerts": []}`))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+receiver)

		response, err := sender.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode)
	}

	require.Equal(t, cli.ExitOK, server.end())
}
