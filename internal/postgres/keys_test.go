package postgres_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

func newKey(name string, scopes ...tarsy.Scope) tarsy.APIKey {
	return tarsy.APIKey{ID: ident.New(), Name: name, Prefix: "tarsy_" + name, Scopes: scopes, CreatedAt: epoch()}
}

func TestKeyFromCreationToRevocation(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)

	has, err := db.HasKeys(t.Context())
	require.NoError(t, err)
	require.False(t, has)

	first, second := newKey("first", tarsy.ScopeRead, tarsy.ScopeWrite), newKey("second", tarsy.ScopeAdmin)
	second.CreatedAt = epoch().Add(time.Second)
	require.NoError(t, db.CreateKey(t.Context(), second, []byte("two")))
	require.NoError(t, db.CreateKey(t.Context(), first, []byte("one")))

	keys, err := db.Keys(t.Context())
	require.NoError(t, err)
	requireSame(t, []tarsy.APIKey{first, second}, keys)

	found, err := db.KeyByHash(t.Context(), []byte("one"))
	require.NoError(t, err)
	requireSame(t, &first, found)

	used := epoch().Add(time.Minute)
	require.NoError(t, db.TouchKey(t.Context(), first.ID, used))

	revokedAt := epoch().Add(time.Hour)
	first.LastUsedAt, first.RevokedAt = &used, &revokedAt

	revoked, err := db.RevokeKey(t.Context(), first.Prefix, revokedAt)
	require.NoError(t, err)
	requireSame(t, &first, revoked)

	revoked, err = db.RevokeKey(t.Context(), first.ID, revokedAt.Add(time.Hour))
	require.NoError(t, err)
	requireSame(t, &first, revoked)

	found, err = db.KeyByHash(t.Context(), []byte("one"))
	require.NoError(t, err)
	requireSame(t, &first, found)

	has, err = db.HasKeys(t.Context())
	require.NoError(t, err)
	require.True(t, has)

	_, err = db.RevokeKey(t.Context(), second.ID, revokedAt)
	require.NoError(t, err)

	has, err = db.HasKeys(t.Context())
	require.NoError(t, err)
	require.False(t, has, "revoked keys log nobody in")
}

func TestUnknownKeys(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	require.NoError(t, db.CreateKey(t.Context(), newKey("key", tarsy.ScopeRead), []byte("hash")))

	for _, name := range []string{ident.New(), "tarsy_nobody", "", "%"} {
		_, err := db.RevokeKey(t.Context(), name, epoch())
		require.Equal(t, tarsy.CodeKeyNotFound, tarsy.CodeOf(err), "revoke %q", name)
	}

	found, err := db.KeyByHash(t.Context(), []byte("other"))
	require.NoError(t, err)
	require.Nil(t, found)

	require.Error(t, db.CreateKey(t.Context(), newKey("other", tarsy.ScopeRead), []byte("hash")), "a secret is one key's")
}

func TestExpiredKeyAndItsBrowserSessionsAreNotActive(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	end := epoch().Add(time.Hour)
	temporary, lasting, revoked := newKey("temporary", tarsy.ScopeRead), newKey("lasting", tarsy.ScopeRead), newKey("revoked", tarsy.ScopeRead)
	temporary.ExpiresAt = &end

	var ids []string

	for _, key := range []tarsy.APIKey{temporary, lasting, revoked} {
		require.NoError(t, db.CreateKey(t.Context(), key, []byte(key.Name)))
		require.NoError(t, db.CreateBrowserSession(t.Context(), []byte(key.Name), key.ID, "token", epoch(), end.Add(time.Hour), 10))

		ids = append(ids, key.ID)
	}

	_, err := db.RevokeKey(t.Context(), revoked.ID, epoch())
	require.NoError(t, err)

	found, err := db.KeyByHash(t.Context(), []byte("temporary"))
	require.NoError(t, err)
	requireSame(t, &temporary, found)

	hashes := [][]byte{[]byte("temporary"), []byte("lasting"), []byte("revoked")}
	digits := func(name string) string { return hex.EncodeToString([]byte(name)) }

	active, err := db.ActiveLogins(t.Context(), ids, hashes, end.Add(-time.Microsecond))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{temporary.ID, lasting.ID, digits("temporary"), digits("lasting")}, active)

	active, err = db.ActiveLogins(t.Context(), ids, hashes, end)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{lasting.ID, digits("lasting")}, active)

	session, err := db.BrowserSession(t.Context(), []byte("temporary"), end)
	require.NoError(t, err)
	require.Nil(t, session)
}
