package account_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func TestKeyFromCreationToRevocation(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))

	has, err := accounts.HasKeys(t.Context())
	require.NoError(t, err)
	require.False(t, has)

	first, second := storetest.NewKey("first", tarsy.ScopeRead, tarsy.ScopeWrite), storetest.NewKey("second", tarsy.ScopeAdmin)
	second.CreatedAt = storetest.Epoch().Add(time.Second)
	require.NoError(t, accounts.CreateKey(t.Context(), second, []byte("two")))
	require.NoError(t, accounts.CreateKey(t.Context(), first, []byte("one")))

	keys, err := accounts.Keys(t.Context())
	require.NoError(t, err)
	storetest.RequireSame(t, []tarsy.APIKey{first, second}, keys)

	found, err := accounts.KeyByHash(t.Context(), []byte("one"))
	require.NoError(t, err)
	storetest.RequireSame(t, &first, found)

	used := storetest.Epoch().Add(time.Minute)
	require.NoError(t, accounts.TouchKey(t.Context(), first.ID, used))

	revokedAt := storetest.Epoch().Add(time.Hour)
	first.LastUsedAt, first.RevokedAt = &used, &revokedAt

	revoked, err := accounts.RevokeKey(t.Context(), first.Prefix, revokedAt)
	require.NoError(t, err)
	storetest.RequireSame(t, &first, revoked)

	revoked, err = accounts.RevokeKey(t.Context(), first.ID, revokedAt.Add(time.Hour))
	require.NoError(t, err)
	storetest.RequireSame(t, &first, revoked)

	found, err = accounts.KeyByHash(t.Context(), []byte("one"))
	require.NoError(t, err)
	storetest.RequireSame(t, &first, found)

	has, err = accounts.HasKeys(t.Context())
	require.NoError(t, err)
	require.True(t, has)

	_, err = accounts.RevokeKey(t.Context(), second.ID, revokedAt)
	require.NoError(t, err)

	has, err = accounts.HasKeys(t.Context())
	require.NoError(t, err)
	require.False(t, has, "revoked keys log nobody in")
}

func TestUnknownKeys(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))
	require.NoError(t, accounts.CreateKey(t.Context(), storetest.NewKey("key", tarsy.ScopeRead), []byte("hash")))

	for _, name := range []string{ident.New(), "tarsy_nobody", "", "%"} {
		_, err := accounts.RevokeKey(t.Context(), name, storetest.Epoch())
		require.Equal(t, tarsy.CodeKeyNotFound, tarsy.CodeOf(err), "revoke %q", name)
	}

	found, err := accounts.KeyByHash(t.Context(), []byte("other"))
	require.NoError(t, err)
	require.Nil(t, found)

	require.Error(t, accounts.CreateKey(t.Context(), storetest.NewKey("other", tarsy.ScopeRead), []byte("hash")), "a secret is one key's")
}

func TestExpiredKeyAndItsBrowserSessionsAreNotActive(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))
	end := storetest.Epoch().Add(time.Hour)
	temporary, lasting, revoked := storetest.NewKey("temporary", tarsy.ScopeRead), storetest.NewKey("lasting", tarsy.ScopeRead), storetest.NewKey("revoked", tarsy.ScopeRead)
	temporary.ExpiresAt = &end

	var ids []string

	for _, key := range []tarsy.APIKey{temporary, lasting, revoked} {
		require.NoError(t, accounts.CreateKey(t.Context(), key, []byte(key.Name)))
		require.NoError(t, accounts.CreateBrowserSession(t.Context(), []byte(key.Name), key.ID, "token", storetest.Epoch(), end.Add(time.Hour), 10))

		ids = append(ids, key.ID)
	}

	_, err := accounts.RevokeKey(t.Context(), revoked.ID, storetest.Epoch())
	require.NoError(t, err)

	found, err := accounts.KeyByHash(t.Context(), []byte("temporary"))
	require.NoError(t, err)
	storetest.RequireSame(t, &temporary, found)

	hashes := [][]byte{[]byte("temporary"), []byte("lasting"), []byte("revoked")}
	digits := func(name string) string { return hex.EncodeToString([]byte(name)) }

	active, err := accounts.ActiveLogins(t.Context(), ids, hashes, end.Add(-time.Microsecond))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{temporary.ID, lasting.ID, digits("temporary"), digits("lasting")}, active)

	active, err = accounts.ActiveLogins(t.Context(), ids, hashes, end)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{lasting.ID, digits("lasting")}, active)

	session, err := accounts.BrowserSession(t.Context(), []byte("temporary"), end)
	require.NoError(t, err)
	require.Nil(t, session)
}

func TestKeyKeepsItsTeams(t *testing.T) {
	t.Parallel()

	accounts := account.New(storetest.New(t).Server(t))

	for hash, teams := range map[string][]string{"one": {"payments", "storage"}, "two": {}} {
		key := tarsy.APIKey{ID: ident.New(), Name: "ci", Scopes: []tarsy.Scope{tarsy.ScopeRead}, CreatedAt: storetest.Epoch(), Teams: teams}
		key.Prefix = hash + "00000"
		require.NoError(t, accounts.CreateKey(t.Context(), key, []byte(hash)))

		found, err := accounts.KeyByHash(t.Context(), []byte(hash))
		require.NoError(t, err)
		require.Equal(t, teams, found.Teams)
	}
}
