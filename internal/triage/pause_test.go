package triage_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// A delivery is rejected as a whole, even if its alerts would only be counted or resolved: its sender will repeat it.
func TestDeliveriesAreRefusedDuringPauseAndChangeNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.receive(firing("disk", "a"))

	_, err := f.db.Pause(t.Context(), tarsy.Pause{Kind: tarsy.PauseIntake, Reason: "upgrade", Author: "ana", PausedAt: f.clock.Now()})
	require.NoError(t, err)

	for _, alert := range []tarsy.Alert{firing("disk", "a"), firing("disk", "b"), resolved("disk", "a")} {
		_, err := f.Receive(t.Context(), tarsy.Delivery{
			Key: []byte(alert.Facts.Fingerprint), Source: tarsy.SourceAlertmanager, Author: "sender", Alerts: []tarsy.Alert{alert},
		})
		require.Equal(t, tarsy.CodeIntakePaused, tarsy.CodeOf(err), "%v", err)
	}

	_, err = f.db.Resume(t.Context(), tarsy.PauseIntake)
	require.NoError(t, err)

	delivered := f.receive(firing("disk", "a"), firing("disk", "b"))
	require.Equal(t, tarsy.ActionCount, delivered[0].Action)
	require.Equal(t, tarsy.ActionInvestigate, delivered[1].Action)

	var deliveries int
	require.NoError(t, f.admin.QueryRow(t.Context(), `SELECT count(*) FROM deliveries`).Scan(&deliveries))
	require.Zero(t, deliveries)
}
