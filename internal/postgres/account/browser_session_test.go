package account_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func TestBrowserSessionIsValidUntilExpiry(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))
	key, hash, end := storetest.NewKey("ada", tarsy.ScopeRead), []byte("secret"), storetest.Epoch().Add(time.Hour)
	require.NoError(t, accounts.CreateKey(t.Context(), key, []byte("key")))
	require.NoError(t, accounts.CreateBrowserSession(t.Context(), hash, key.ID, "token", storetest.Epoch(), end, 0))

	find := func(hash []byte, now time.Time) *account.BrowserSession {
		found, err := accounts.BrowserSession(t.Context(), hash, now)
		require.NoError(t, err)

		return found
	}

	storetest.RequireSame(t, &account.BrowserSession{Key: &key, CSRFToken: "token", EndsAt: end}, find(hash, end.Add(-time.Microsecond)))
	require.Nil(t, find(hash, end))
	require.Nil(t, find([]byte("other"), storetest.Epoch()))

	require.NoError(t, accounts.DeleteBrowserSession(t.Context(), []byte("other")))
	require.NotNil(t, find(hash, storetest.Epoch()))
	require.NoError(t, accounts.DeleteBrowserSession(t.Context(), hash))
	require.Nil(t, find(hash, storetest.Epoch()))
}

func TestBrowserSessionEndsOnlyWithItsKey(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))
	gone, kept := storetest.NewKey("gone", tarsy.ScopeRead), storetest.NewKey("kept", tarsy.ScopeRead)

	for _, key := range []tarsy.APIKey{gone, kept} {
		require.NoError(t, accounts.CreateKey(t.Context(), key, []byte(key.Name)))
		require.NoError(t, accounts.CreateBrowserSession(t.Context(), []byte(key.Name), key.ID, "token", storetest.Epoch(), storetest.Epoch().Add(time.Hour), 0))
	}

	_, err := accounts.RevokeKey(t.Context(), gone.ID, storetest.Epoch())
	require.NoError(t, err)

	found, err := accounts.BrowserSession(t.Context(), []byte("gone"), storetest.Epoch())
	require.NoError(t, err)
	require.Nil(t, found)

	found, err = accounts.BrowserSession(t.Context(), []byte("kept"), storetest.Epoch())
	require.NoError(t, err)
	require.Equal(t, "kept", found.Key.Name)
}

func TestNewBrowserSessionRemovesExpiredOnes(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))
	key := storetest.NewKey("ada", tarsy.ScopeRead)
	require.NoError(t, accounts.CreateKey(t.Context(), key, []byte("key")))

	for i, name := range []string{"first", "second", "third"} {
		begin := storetest.Epoch().Add(time.Duration(i) * time.Minute)
		require.NoError(t, accounts.CreateBrowserSession(t.Context(), []byte(name), key.ID, "token", begin, begin.Add(90*time.Second), 0))
	}

	var left int

	require.NoError(t, f.Admin.QueryRow(t.Context(), `SELECT count(*) FROM browser_sessions`).Scan(&left))
	require.Equal(t, 2, left)
}

func TestBrowserSessionOverKeyLimitEndsOldest(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))
	key, other := storetest.NewKey("ada", tarsy.ScopeRead), storetest.NewKey("bob", tarsy.ScopeRead)

	for _, k := range []tarsy.APIKey{other, key} {
		require.NoError(t, accounts.CreateKey(t.Context(), k, []byte(k.Name)))

		for i, name := range []string{"1", "2", "3"} {
			at := storetest.Epoch().Add(time.Duration(i) * time.Second)
			require.NoError(t, accounts.CreateBrowserSession(t.Context(), []byte(k.Name+name), k.ID, "token", at, at.Add(time.Hour), 2))
		}
	}

	for name, want := range map[string]bool{"ada1": false, "ada2": true, "ada3": true, "bob1": false, "bob2": true, "bob3": true} {
		found, err := accounts.BrowserSession(t.Context(), []byte(name), storetest.Epoch().Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, want, found != nil, name)
	}
}
