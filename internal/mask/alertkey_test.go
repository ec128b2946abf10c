package mask

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// PagerDuty and others identify an alert by such keys. Agents use them to look up the incident.
func TestKeysOfAlertsAreLeftAlone(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Alerts: DefaultRules()})

	for _, text := range []string{
		`{"id": "PGR0VU2", "incident_key": "d3640fbd41094207a1c11e58e46b1662", "status": "triggered"}`,
		`{"incident_key":"baf7cf21b1da41b4b0221008339ff357"}`,
		"incident_key: srv01/HTTP-7f3b1c9d2e5a8b6c",
		`"incidentKey": "d3640fbd41094207a1c11e58e46b1662"`,
		`"dedup_key": "a6b1c9d2e5f38b7c4d0e1f2a3b4c5d6e"`,
		"alert_cycle_key=1234567890123456789 aggreg_key=9bd4ac313a4d1e8fae2482df7b776281",
	} {
		assert.Equal(t, text, written(m, text))
	}
}

// A name does not make a secret harmless: what grants access is masked wherever it is, and other keys are masked as before.
func TestSecretsBesideKeysOfAlertsAreMasked(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Alerts: DefaultRules()})

	for _, c := range []struct{ in, secret string }{
		{`{"incident_key": "ghp_x7Kq2mZ9vB4nR8tY1wE5uI3oP6aS0dF7gH2j"}`, "ghp_x7Kq2mZ9"},
		{`{"incident_key": "AKIAQYLPMN5HHHFPZAM2"}`, "AKIAQYLPMN5HHHFPZAM2"},
		{`{"incident_key": "x", "routing_key": "d3640fbd41094207a1c11e58e46b1662"}`, "d3640fbd41094207"},
		{`incident_api_key: d3640fbd41094207a1c11e58e46b1662`, "d3640fbd41094207"},
		{`incident_key_secret: d3640fbd41094207a1c11e58e46b1662`, "d3640fbd41094207"},
		{`key: d3640fbd41094207a1c11e58e46b1662q`, "d3640fbd41094207"},
	} {
		assert.NotContains(t, written(m, c.in), c.secret, c.in)
	}
}
