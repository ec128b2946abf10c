package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// Whatever arrives, a session is overtaken only by more severe ones, and only by those that arrive within the ageing of the
// levels between them: after that, the sessions before it are fixed and their number only falls.
func TestNoSessionIsOvertakenAfterAgeing(t *testing.T) {
	t.Parallel()

	const sessions = 30

	rapid.Check(t, func(rt *rapid.T) {
		severity := rapid.SampledFrom(append(tarsy.Severities(), tarsy.SeverityUnknown))
		pause := rapid.Int64Range(0, int64(10*time.Minute))
		ageing := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "ageing"))

		var waiting []tarsy.Session

		for now := storetest.Epoch(); len(waiting) < sessions; now = now.Add(time.Duration(pause.Draw(rt, "pause"))) {
			session := storetest.NewSession(now)
			session.Severity = severity.Draw(rt, "severity")

			for _, earlier := range waiting {
				levels := session.Severity.Level() - earlier.Severity.Level()
				overtaken := postgres.QueuePlace(session, ageing).Before(postgres.QueuePlace(earlier, ageing))
				require.Equal(rt, now.Sub(earlier.CreatedAt) < time.Duration(levels)*ageing, overtaken)
			}

			waiting = append(waiting, session)
		}
	})
}
