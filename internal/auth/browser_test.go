package auth_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/auth"
)

func TestBrowserSecretIsLongAndUnique(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}

	for range 100 {
		made := auth.NewBrowserSecret()
		require.True(t, auth.MayBeBrowserSecret(made.Secret))
		require.Equal(t, auth.Hash(made.Secret), made.Hash)
		require.NotContains(t, made.Secret, made.CSRFToken, "the token tells nothing of the secret")
		require.False(t, seen[made.Secret] || seen[made.CSRFToken])
		seen[made.Secret], seen[made.CSRFToken] = true, true
	}
}

func TestMalformedBrowserSecretIsRejected(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"", "a", strings.Repeat("a", 51), strings.Repeat("a", 53), strings.Repeat("A", 52), strings.Repeat("é", 26)} {
		require.False(t, auth.MayBeBrowserSecret(text), text)
	}
}

func TestTokenMustMatchExactly(t *testing.T) {
	t.Parallel()

	require.True(t, auth.SameToken("abc", "abc"))
	require.False(t, auth.SameToken("abd", "abc"))
	require.False(t, auth.SameToken("ab", "abc"))
	require.False(t, auth.SameToken("", "abc"))
	require.False(t, auth.SameToken("", ""), "a session without a token takes none")
}
