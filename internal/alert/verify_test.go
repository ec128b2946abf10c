package alert_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

func environment(values map[string]string) alert.Secrets {
	return func(name string) (string, bool) { value, ok := values[name]; return value, ok }
}

func headers(pairs ...string) http.Header {
	header := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		header.Add(pairs[i], pairs[i+1])
	}

	return header
}

// The signatures were computed with openssl dgst -sha256 -hmac.
const (
	signedBody     = `{"event":{"id":"1","event_type":"pagey.ping"}}`
	signature      = "4dc74dd07682b89c6f4f43caed87e211d0f1733cc19dd9d50418dbf7150d1bf3"
	timedSignature = "48eece70d40096c90f1aa42925ba3d0b3d973aedc5c2c01848b59254ff01383d" // of 1794823200:<body>
	otherSignature = "130dcacb53a94d983a37cf2acba98e805a1c37185309ba56fdcccbcf00d6dd8b"
)

func TestOnlyTheRightTokenOrSignatureIsAccepted(t *testing.T) {
	t.Parallel()

	secrets := environment(map[string]string{"TOKEN": "token-value", "SECRET": "signing-secret"})
	token := config.Receiver{Name: "r", Source: "alertmanager", TokenEnv: "TOKEN"}
	pagerDuty := config.Receiver{Name: "r", Source: "pagerduty", SecretEnv: "SECRET"}
	grafana := config.Receiver{Name: "r", Source: "grafana", SecretEnv: "SECRET"}
	generic := config.Receiver{Name: "r", Source: "generic", SecretEnv: "SECRET"}
	both := config.Receiver{Name: "r", Source: "grafana", TokenEnv: "TOKEN", SecretEnv: "SECRET"}

	const (
		pdHeader = "X-PagerDuty-Signature"
		gHeader  = "X-Grafana-Alerting-Signature"
		gTime    = "X-Grafana-Alerting-Signature-Timestamp"
	)

	for i, test := range []struct {
		receiver config.Receiver
		header   http.Header
		want     bool
	}{
		{token, headers("Authorization", "Bearer token-value"), true},
		{token, headers("authorization", "bearer  token-value "), true},
		{token, headers("Authorization", "Bearer token-valu"), false},
		{token, headers("Authorization", "Bearer token-values"), false},
		{token, headers("Authorization", "token-value"), false},
		{token, headers("Authorization", "Basic token-value"), false},
		{token, headers("Authorization", "Bearer "), false},
		{token, headers(), false},
		{token, headers(pdHeader, "v1="+signature), false},

		{pagerDuty, headers(pdHeader, "v1="+signature), true},
		{pagerDuty, headers(pdHeader, "v1="+otherSignature+",v1="+signature), true},
		{pagerDuty, headers(pdHeader, "v1="+signature+", v1="+otherSignature), true},
		{pagerDuty, headers(pdHeader, "v1="+otherSignature, pdHeader, "v1="+signature), true},
		{pagerDuty, headers(pdHeader, "v2="+signature), false},
		{pagerDuty, headers(pdHeader, signature), false},
		{pagerDuty, headers(pdHeader, "v1="+otherSignature), false},
		{pagerDuty, headers(pdHeader, "v1="+signature[:10]), false},
		{pagerDuty, headers(pdHeader, "v1="), false},
		{pagerDuty, headers(pdHeader, ",,,=,v1"), false},
		{pagerDuty, headers(gHeader, signature), false},
		{pagerDuty, headers("Authorization", "Bearer signing-secret"), false},
		{pagerDuty, headers(), false},

		{grafana, headers(gHeader, signature), true},
		{grafana, headers(gHeader, "sha256="+signature), true},
		{grafana, headers(gHeader, timedSignature, gTime, "1794823200"), true},
		{grafana, headers(gHeader, timedSignature, "X-Grafana-Alerting-Timestamp", "1794823200"), true},
		{grafana, headers(gHeader, timedSignature, gTime, "1794823201"), false},
		{grafana, headers(gHeader, timedSignature), false},

		{generic, headers("X-Signature-256", "sha256="+signature), true},
		{generic, headers("X-Hub-Signature-256", "sha256="+signature), true},
		{generic, headers("X-Signature", signature), true},
		{generic, headers("X-Signature", "md5="+signature), false},

		{both, headers("Authorization", "Bearer token-value", gHeader, signature), true},
		{both, headers("Authorization", "Bearer token-value"), false},
		{both, headers(gHeader, signature), false},

		{config.Receiver{Source: "alertmanager"}, headers("Authorization", "Bearer token-value"), false},
	} {
		ok, err := alert.Verify(test.receiver, secrets, test.header, []byte(signedBody))
		require.NoError(t, err)
		require.Equal(t, test.want, ok, "%d: %v", i, test.header)

		ok, err = alert.Verify(test.receiver, secrets, test.header, []byte(signedBody+" "))
		require.NoError(t, err)
		require.Equal(t, test.want && test.receiver.SecretEnv == "", ok, "%d: a changed body", i)
	}
}

func TestMissingSecretIsAnErrorThatNamesTheVariable(t *testing.T) {
	t.Parallel()

	for _, secrets := range []alert.Secrets{environment(nil), environment(map[string]string{"MY_SECRET": "", "MY_TOKEN": ""})} {
		for variable, r := range map[string]config.Receiver{
			"MY_TOKEN":  {Name: "r", Source: "grafana", TokenEnv: "MY_TOKEN"},
			"MY_SECRET": {Name: "r", Source: "pagerduty", SecretEnv: "MY_SECRET"},
		} {
			// With an empty secret, neither an empty token nor a signature made with it may pass.
			ok, err := alert.Verify(r, secrets, headers("Authorization", "Bearer "), nil)
			require.False(t, ok)
			require.ErrorContains(t, err, "environment variable "+variable)
		}
	}
}
