package postgres_test

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// skewedClock is a real clock that is set to a wrong time.
type skewedClock struct {
	clockwork.Clock

	ahead time.Duration
}

func (c skewedClock) Now() time.Time                  { return c.Clock.Now().Add(c.ahead) }
func (c skewedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c skewedClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

func TestClockSkewBeyondLeaseStealsNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	open := func(ahead time.Duration) *postgres.DB {
		db, err := postgres.Open(t.Context(), postgres.Config{
			URL: f.URL, Clock: skewedClock{Clock: clockwork.NewRealClock(), ahead: ahead}, DatabaseTime: true,
		})
		require.NoError(t, err)
		t.Cleanup(db.Stop)
		db.Start()

		return db
	}

	behind, ahead := open(-10*storetest.Lease), open(10*storetest.Lease)

	for _, test := range []struct{ holder, other *postgres.DB }{{behind, ahead}, {ahead, behind}} {
		session := storetest.NewSession(test.holder.Clock().Now())
		require.NoError(t, test.holder.CreateSession(t.Context(), session, postgres.Terms{}))

		claims := f.Claim(t, test.holder, storetest.ServerA, 1)
		require.Len(t, claims, 1)
		require.Empty(t, f.Claim(t, test.other, storetest.ServerB, 1), "the lease is valid")

		renewed, err := test.holder.Renew(t.Context(), leasesOf(claims), test.holder.Clock().Now().Add(storetest.Lease))
		require.NoError(t, err)
		require.Len(t, renewed, 1)
		require.Empty(t, f.Claim(t, test.other, storetest.ServerB, 1), "the renewed lease is valid")
		require.InDelta(t, storetest.Lease.Seconds(), storetest.Value[float64](t, f.Admin,
			`SELECT extract(epoch FROM lease_until - now())::float8 FROM sessions WHERE id = $1`, session.ID), 5)
	}
}

func leasesOf(claims []postgres.Claim) []postgres.Lease {
	leases := make([]postgres.Lease, len(claims))
	for i, c := range claims {
		leases[i] = c.Lease
	}

	return leases
}
