package auth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/ident"
)

func TestIssuedKeyCarriesItsPrefixAndMatchesItsHash(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)

	issued, err := auth.Issue("  ci  ", []tarsy.Scope{tarsy.ScopeAdmin, tarsy.ScopeRead, tarsy.ScopeRead}, now)
	require.NoError(t, err)

	require.Equal(t, "ci", issued.Key.Name)
	require.Equal(t, []tarsy.Scope{tarsy.ScopeRead, tarsy.ScopeAdmin}, issued.Key.Scopes)
	require.Equal(t, now, issued.Key.CreatedAt)
	require.True(t, ident.Valid(issued.Key.ID))
	require.True(t, auth.ValidPrefix(issued.Key.Prefix))
	require.True(t, strings.HasPrefix(issued.Secret, "tarsy_"+issued.Key.Prefix+"_"))
	require.True(t, auth.MayBeSecret(issued.Secret))
	require.Equal(t, auth.Hash(issued.Secret), issued.Hash)
	require.NotContains(t, string(issued.Hash), issued.Secret)
}

func TestTwoKeysShareNothing(t *testing.T) {
	t.Parallel()

	first, err := auth.Issue("a", []tarsy.Scope{tarsy.ScopeRead}, time.Now())
	require.NoError(t, err)

	second, err := auth.Issue("a", []tarsy.Scope{tarsy.ScopeRead}, time.Now())
	require.NoError(t, err)

	require.NotEqual(t, first.Key.ID, second.Key.ID)
	require.NotEqual(t, first.Key.Prefix, second.Key.Prefix)
	require.NotEqual(t, first.Secret, second.Secret)
}

func TestBadNameOrScopeIssuesNoKey(t *testing.T) {
	t.Parallel()

	read := []tarsy.Scope{tarsy.ScopeRead}

	for name, c := range map[string]struct {
		keyName string
		scopes  []tarsy.Scope
		code    tarsy.Code
		field   string
	}{
		"no name":           {" \x00", read, tarsy.CodeMissingField, "name"},
		"long name":         {strings.Repeat("ä", 101), read, tarsy.CodeInvalidField, "name"},
		"control character": {"a\nb", read, tarsy.CodeInvalidField, "name"},
		"no scope":          {"a", nil, tarsy.CodeMissingField, "scopes"},
		"unknown scope":     {"a", []tarsy.Scope{"read", "root"}, tarsy.CodeInvalidField, "scopes[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := auth.Issue(c.keyName, c.scopes, time.Now())

			var refused *tarsy.Error

			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.code, refused.Code)
			require.Equal(t, c.field, refused.Field)
		})
	}
}

func TestAdminIncludesWriteAndWriteIncludesRead(t *testing.T) {
	t.Parallel()

	allowed := map[tarsy.Scope][]bool{ // read, write, admin
		tarsy.ScopeRead:  {true, false, false},
		tarsy.ScopeWrite: {true, true, false},
		tarsy.ScopeAdmin: {true, true, true},
	}

	for has, want := range allowed {
		for i, needed := range auth.Scopes() {
			require.Equal(t, want[i], auth.Allows([]tarsy.Scope{has}, needed), "%s for %s", has, needed)
		}
	}

	require.False(t, auth.Allows(nil, tarsy.ScopeRead))
	require.False(t, auth.Allows([]tarsy.Scope{"root"}, tarsy.ScopeRead))
	require.False(t, auth.Allows([]tarsy.Scope{tarsy.ScopeAdmin}, "root"))
}

func TestMalformedSecretIsRejected(t *testing.T) {
	t.Parallel()

	for _, s := range []string{
		"", "tarsy_", "tarsy_abcdefgh", "tarsy_abcdefgh_", "tarsy_abc_def", "abcdefgh_xyz", "tarsy_abcdefgh_x\x00", "tarsy_ABCDEFGH_x",
	} {
		require.False(t, auth.MayBeSecret(s), "%q", s)
	}
}
