package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// firstWords is the last schema with the search functions of the migration that introduced search.
const firstWords = 12

// Sessions that were indexed before are not indexed again, so their words must be those that a search uses today. The only
// difference is that words lost the punctuation around them.
func TestSearchTokenizationMatchesFirstReleaseWithSearch(t *testing.T) {
	t.Parallel()

	before, now := wordsOf(t, firstWords), wordsOf(t, postgres.Migrations())

	same := func(t require.TestingT, title, alert, analysis string) {
		want := trimmed(before(t, title, alert, analysis))
		require.Equal(t, want, now(t, title, alert, analysis), "%q, %q, %q", title, alert, analysis)
	}

	for _, text := range []string{
		"", " ", ".", "-._", "a", "a.b", "a- -b", "a. --dry-run", "..a..b..", "a..b--c__d", "- item one\n- item-two.\n\n* three", "_x_ -y- .z.",
		`{"pod":"checkout-7d9f","ip":"10.0.3.12:8080","msg":"it's \"down\""}`, "10.0.3.12, db.prod.local; /var/log/app_1.log (ann@example.org)",
		"Größe «groß»—Ende. ÀÉÎ ǅ ß ẞ İI ıi Σίσυφος", "漢字-𠜎𠜱。日本、語　全角", "e\u0301 a\u00a0b\u2028c\u200bd\ufeffe", "a\x01b\x1fc\x7f\u0085d\te\rf",
		"^mark ^ a^b", `'\"` + "`", strings.Repeat("x", 256), strings.Repeat("x", 257), strings.Repeat("x", 4000) + " end", strings.Repeat("漢", 85), strings.Repeat("漢", 86),
		strings.Repeat("𠜎", 64), strings.Repeat("𠜎", 65), strings.Repeat("a-", 200), strings.Repeat("ab ", 20_000), strings.Repeat("- . ", 9_000) + "z",
		strings.Repeat("漢 ", 32_768) + "beyond", strings.Repeat("y", 32_767) + "-z",
	} {
		same(t, text, text, text)
		same(t, "", text, "")
		same(t, "title", "", text)
	}

	words := rapid.StringOfN(rapid.RuneFrom([]rune("aBß漢İ𠜎019.-_ .-_ \n\t\",:/=()'^\\\u00a0\u2014\u3001\x01")), 0, 80, -1)

	rapid.Check(t, func(rt *rapid.T) {
		same(rt, words.Draw(rt, "title"), words.Draw(rt, "alert"), words.Draw(rt, "analysis"))
	})
}

// wordsOf creates a database of a version and returns a function that returns the words it finds in the texts of a session.
func wordsOf(t *testing.T, version int) func(t require.TestingT, title, alert, analysis string) []string {
	t.Helper()

	address := emptyDatabase(t)
	require.NoError(t, postgres.MigrateTo(t.Context(), address, version))

	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })

	return func(rt require.TestingT, title, alert, analysis string) []string {
		var words []string

		err := conn.QueryRow(t.Context(), `SELECT tsvector_to_array(session_words($1, $2, $3))`, title, alert, analysis).Scan(&words)
		require.NoError(rt, err)
		slices.Sort(words)

		return words
	}
}

// trimmed removes the punctuation around words, and words that are then empty.
func trimmed(words []string) []string {
	found := make([]string, 0, len(words))

	for _, word := range words {
		mark := ""
		if strings.HasPrefix(word, "^") {
			mark = "^"
		}

		if word = strings.Trim(word[len(mark):], "._-"); word != "" {
			found = append(found, mark+word)
		}
	}

	slices.Sort(found)

	return slices.Compact(found)
}

func TestSearchFindsIdentifierAfterPunctuation(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	id := f.alertOf(t, db, "Retry it. --dry-run first")

	for _, search := range []string{"dry-run", "--dry-run", `"dry-run"`} {
		require.Equal(t, []string{id}, listed(t, db, tarsy.SessionFilter{Search: search}), search)
	}
}
