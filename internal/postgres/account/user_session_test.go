package account_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func TestUserSessionHasNoKeyAndEndsWithItsTime(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))
	user := account.BrowserUser{Issuer: "https://id.example", Subject: "1", Name: "ada", Groups: []string{"a", "b"}, Teams: []string{}}
	end := storetest.Epoch().Add(time.Hour)

	require.NoError(t, accounts.CreateUserSession(t.Context(), []byte("one"), user, "token", storetest.Epoch(), end, 0))

	found, err := accounts.BrowserSession(t.Context(), []byte("one"), end.Add(-time.Microsecond))
	require.NoError(t, err)
	storetest.RequireSame(t, &account.BrowserSession{User: &user, CSRFToken: "token", EndsAt: end}, found)

	active, err := accounts.ActiveLogins(t.Context(), nil, [][]byte{[]byte("one")}, end.Add(-time.Microsecond))
	require.NoError(t, err)
	require.Equal(t, []string{hex.EncodeToString([]byte("one"))}, active)

	active, err = accounts.ActiveLogins(t.Context(), nil, [][]byte{[]byte("one")}, end)
	require.NoError(t, err)
	require.Empty(t, active)

	found, err = accounts.BrowserSession(t.Context(), []byte("one"), end)
	require.NoError(t, err)
	require.Nil(t, found)

	user.Name = ""
	require.Error(t, accounts.CreateUserSession(t.Context(), []byte("two"), user, "token", storetest.Epoch(), end, 0), "a session belongs to somebody")
}

func TestUserKeepsTheNewestSessions(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	accounts := account.New(f.Server(t))

	for i, name := range []string{"1", "2", "3"} {
		for _, subject := range []string{"ada", "bob"} {
			at := storetest.Epoch().Add(time.Duration(i) * time.Second)
			user := account.BrowserUser{Issuer: "https://id.example", Subject: subject, Name: "the same"}
			require.NoError(t, accounts.CreateUserSession(t.Context(), []byte(subject+name), user, "token", at, at.Add(time.Hour), 2))
		}
	}

	for name, want := range map[string]bool{"ada1": false, "ada2": true, "ada3": true, "bob1": false, "bob2": true, "bob3": true} {
		found, err := accounts.BrowserSession(t.Context(), []byte(name), storetest.Epoch().Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, want, found != nil, name)
	}
}
