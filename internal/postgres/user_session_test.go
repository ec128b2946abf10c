package postgres_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres"
)

func TestUserSessionHasNoKeyAndEndsWithItsTime(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	user := postgres.BrowserUser{Issuer: "https://id.example", Subject: "1", Name: "ada", Groups: []string{"a", "b"}, Teams: []string{}}
	end := epoch().Add(time.Hour)

	require.NoError(t, db.CreateUserSession(t.Context(), []byte("one"), user, "token", epoch(), end, 0))

	found, err := db.BrowserSession(t.Context(), []byte("one"), end.Add(-time.Microsecond))
	require.NoError(t, err)
	requireSame(t, &postgres.BrowserSession{User: &user, CSRFToken: "token", EndsAt: end}, found)

	active, err := db.ActiveLogins(t.Context(), nil, [][]byte{[]byte("one")}, end.Add(-time.Microsecond))
	require.NoError(t, err)
	require.Equal(t, []string{hex.EncodeToString([]byte("one"))}, active)

	active, err = db.ActiveLogins(t.Context(), nil, [][]byte{[]byte("one")}, end)
	require.NoError(t, err)
	require.Empty(t, active)

	found, err = db.BrowserSession(t.Context(), []byte("one"), end)
	require.NoError(t, err)
	require.Nil(t, found)

	user.Name = ""
	require.Error(t, db.CreateUserSession(t.Context(), []byte("two"), user, "token", epoch(), end, 0), "a session belongs to somebody")
}

func TestUserKeepsTheNewestSessions(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)

	for i, name := range []string{"1", "2", "3"} {
		for _, subject := range []string{"ada", "bob"} {
			at := epoch().Add(time.Duration(i) * time.Second)
			user := postgres.BrowserUser{Issuer: "https://id.example", Subject: subject, Name: "the same"}
			require.NoError(t, db.CreateUserSession(t.Context(), []byte(subject+name), user, "token", at, at.Add(time.Hour), 2))
		}
	}

	for name, want := range map[string]bool{"ada1": false, "ada2": true, "ada3": true, "bob1": false, "bob2": true, "bob3": true} {
		found, err := db.BrowserSession(t.Context(), []byte(name), epoch().Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, want, found != nil, name)
	}
}
