package alert_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

var now = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

func webhookSources() []tarsy.AlertSource {
	return tarsy.WebhookSources()
}

func TestSamplesAreDeliveriesOfOneFiringAlert(t *testing.T) {
	t.Parallel()

	for _, source := range webhookSources() {
		body := alert.Sample(source, now)
		require.NotEmpty(t, body, source)

		delivery, err := alert.Read(config.Receiver{Name: "default", Source: string(source)}, body, config.AlertFields{}, nil)
		require.NoError(t, err, source)
		require.Len(t, delivery.Alerts, 1, source)

		got := delivery.Alerts[0]
		require.False(t, got.Resolved)
		require.Contains(t, got.Facts.Title, "from tarsy webhooks test", source)
		require.Equal(t, tarsy.SeverityInfo, got.Facts.Severity, source)
		require.Equal(t, now.Add(-5*time.Minute), *got.Facts.StartsAt, source)
		require.NotEmpty(t, got.Facts.Service, source)
		require.Contains(t, got.Facts.Fingerprint, string(source)+"/default:", source)

		later, err := alert.Read(config.Receiver{Name: "default", Source: string(source)}, alert.Sample(source, now.Add(time.Hour)), config.AlertFields{}, nil)
		require.NoError(t, err)
		require.Equal(t, got.Facts.Fingerprint, later.Alerts[0].Facts.Fingerprint, "the same alert again")
		require.NotEqual(t, delivery.Key, later.Key, "but another delivery")
	}

	require.Nil(t, alert.Sample(tarsy.SourceAPI, now))
}
