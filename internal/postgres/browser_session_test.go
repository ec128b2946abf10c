package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

func TestBrowserSessionIsValidUntilExpiry(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	key, hash, end := newKey("ada", tarsy.ScopeRead), []byte("secret"), epoch().Add(time.Hour)
	require.NoError(t, db.CreateKey(t.Context(), key, []byte("key")))
	require.NoError(t, db.CreateBrowserSession(t.Context(), hash, key.ID, "token", epoch(), end, 0))

	find := func(hash []byte, now time.Time) *postgres.BrowserSession {
		found, err := db.BrowserSession(t.Context(), hash, now)
		require.NoError(t, err)

		return found
	}

	requireSame(t, &postgres.BrowserSession{Key: &key, CSRFToken: "token", EndsAt: end}, find(hash, end.Add(-time.Microsecond)))
	require.Nil(t, find(hash, end))
	require.Nil(t, find([]byte("other"), epoch()))

	require.NoError(t, db.DeleteBrowserSession(t.Context(), []byte("other")))
	require.NotNil(t, find(hash, epoch()))
	require.NoError(t, db.DeleteBrowserSession(t.Context(), hash))
	require.Nil(t, find(hash, epoch()))
}

func TestBrowserSessionEndsOnlyWithItsKey(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	gone, kept := newKey("gone", tarsy.ScopeRead), newKey("kept", tarsy.ScopeRead)

	for _, key := range []tarsy.APIKey{gone, kept} {
		require.NoError(t, db.CreateKey(t.Context(), key, []byte(key.Name)))
		require.NoError(t, db.CreateBrowserSession(t.Context(), []byte(key.Name), key.ID, "token", epoch(), epoch().Add(time.Hour), 0))
	}

	_, err := db.RevokeKey(t.Context(), gone.ID, epoch())
	require.NoError(t, err)

	found, err := db.BrowserSession(t.Context(), []byte("gone"), epoch())
	require.NoError(t, err)
	require.Nil(t, found)

	found, err = db.BrowserSession(t.Context(), []byte("kept"), epoch())
	require.NoError(t, err)
	require.Equal(t, "kept", found.Key.Name)
}

func TestNewBrowserSessionRemovesExpiredOnes(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	key := newKey("ada", tarsy.ScopeRead)
	require.NoError(t, db.CreateKey(t.Context(), key, []byte("key")))

	for i, name := range []string{"first", "second", "third"} {
		begin := epoch().Add(time.Duration(i) * time.Minute)
		require.NoError(t, db.CreateBrowserSession(t.Context(), []byte(name), key.ID, "token", begin, begin.Add(90*time.Second), 0))
	}

	var left int

	require.NoError(t, f.admin.QueryRow(t.Context(), `SELECT count(*) FROM browser_sessions`).Scan(&left))
	require.Equal(t, 2, left)
}

func TestBrowserSessionOverKeyLimitEndsOldest(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	key, other := newKey("ada", tarsy.ScopeRead), newKey("bob", tarsy.ScopeRead)

	for _, k := range []tarsy.APIKey{other, key} {
		require.NoError(t, db.CreateKey(t.Context(), k, []byte(k.Name)))

		for i, name := range []string{"1", "2", "3"} {
			at := epoch().Add(time.Duration(i) * time.Second)
			require.NoError(t, db.CreateBrowserSession(t.Context(), []byte(k.Name+name), k.ID, "token", at, at.Add(time.Hour), 2))
		}
	}

	for name, want := range map[string]bool{"ada1": false, "ada2": true, "ada3": true, "bob1": false, "bob2": true, "bob3": true} {
		found, err := db.BrowserSession(t.Context(), []byte(name), epoch().Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, want, found != nil, name)
	}
}
