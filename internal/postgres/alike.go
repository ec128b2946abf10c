package postgres

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// Sessions are alike if one has at least half of the labels or words of the other.
const (
	// maxLikeWords is how many labels or words are compared.
	maxLikeWords = 24
	// leastLikeWords is how many words texts must share; one may be there by chance.
	leastLikeWords = 2
	// A word is common if more sessions than commonSessions have it, and more than one in commonShare.
	commonSessions = 1000
	commonShare    = 20
	// shortestWord is how many characters a word has that is compared.
	shortestWord = 3
	// longestNumbered is how long a word with digits may be, such as 502 or http2; longer ones are hashes, times and other numbers.
	longestNumbered = 5
)

// likeQuery finds sessions with at least half of some words.
type likeQuery struct {
	words []string
	// least is how many words a session must have, whatever half of them is.
	least int
	// rare leaves out words that many sessions have.
	rare bool
	// name is a word that a session must have, and alertType its alert type; empty if any will do.
	name, alertType string
}

// findAlike adds what a query finds, newest first. Like a search, it asks the index if few sessions can match, and otherwise looks
// through the newest sessions only: its cost is bounded, however many sessions there are.
func (db *DB) findAlike(ctx context.Context, found *likenesses, why tarsy.Likeness, q likeQuery) error {
	q.words = q.words[:min(len(q.words), maxLikeWords)]
	if found.missing() == 0 || len(q.words) < q.least {
		return nil
	}

	expected, all, err := db.expectMatches(ctx, lexemes(q.words))
	if err != nil {
		return err
	}

	words := slices.Clone(q.words)
	if q.rare {
		words = slices.DeleteFunc(words, func(word string) bool {
			return expected[lexeme(word)] > max(commonSessions, all/commonShare)
		})
	}

	least := max(q.least, (len(words)+1)/2)
	if len(words) < least {
		return nil
	}

	// What has that many of the words has one of the rarest: no more of them are needed than leave too few.
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(expected[lexeme(a)], expected[lexeme(b)]) })
	query := strings.Join(lexemes(words[:len(words)-least+1]), " | ")

	if q.name != "" {
		query = lexeme(q.name) + " & (" + query + ")"
	}

	estimates, _, err := db.expectMatches(ctx, []string{query})
	if err != nil {
		return err
	}

	places, err := collect[struct{ SessionID string }](ctx, db.readers, alikeSQL(estimates[query] <= fewMatches, found.missing()), pgx.NamedArgs{
		"query": query, "words": lexemes(words), "least": least, "alert_type": q.alertType, "seen": found.seen(), "visible": found.visible.Values(),
	})
	if err != nil {
		return err
	}

	for _, place := range places {
		found.add(place.SessionID, why)
	}

	return nil
}

// alikeSQL is the statement of a likeQuery: on all sessions, by the index, or on the newest ones.
func alikeSQL(all bool, limit int) string {
	from := "session_list l"
	// Ordered by an expression, so that no index in that order is walked from the newest session to the oldest.
	at := "l.created_at + interval '0'"

	if !all {
		from = `(SELECT session_id, status, alert_type, team, created_at, words FROM session_list ORDER BY created_at DESC, session_id DESC LIMIT ` +
			strconv.Itoa(newestScanned) + `) AS l`
		at = "l.created_at"
	}

	return `
SELECT l.session_id FROM ` + from + `
WHERE l.words @@ @query::tsquery AND l.status <> '' AND (@alert_type = '' OR l.alert_type = @alert_type) AND l.session_id <> ALL(@seen::uuid[])
    AND ` + visibleSQL("l", "@visible") + `
    AND (SELECT count(*) FROM unnest(@words::text[]::tsquery[]) AS w (word) WHERE l.words @@ w.word) >= @least
ORDER BY ` + at + ` DESC, l.session_id DESC LIMIT ` + strconv.Itoa(limit)
}

// expectMatches returns how many sessions the database expects to match each query, and how many there are. It reads statistics only.
func (db *DB) expectMatches(ctx context.Context, queries []string) (expected map[string]float64, all float64, err error) {
	var batch pgx.Batch

	expected = make(map[string]float64, len(queries))

	explain := func(sql string, into func(rows float64), args ...any) {
		batch.Queue(`EXPLAIN (FORMAT JSON) `+sql, args...).QueryRow(func(row pgx.Row) error {
			rows, err := expectedRows(row)
			into(rows)

			return err
		})
	}

	explain(`SELECT session_id FROM session_list`, func(rows float64) { all = rows })

	for _, query := range queries {
		explain(`SELECT session_id FROM session_list WHERE words @@ $1::tsquery`, func(rows float64) { expected[query] = rows }, query)
	}

	return expected, all, db.readers.SendBatch(ctx, &batch).Close()
}

// fillWords are frequent words that tell nothing. Statistics find such words only where there are many sessions.
const fillWords = " the and for are was were not has have had this that with from into than then over since but its our you your all any been being " +
	"can could did does how may more most now off once only out should some such there they too under until very what when where which while who " +
	"why will would after again before below above during "

// likeWords adds words of a text that tell what it is about, each once. Identifiers are there as a whole and in parts: the parts
// count, because names of pods and hosts end with something that is unique.
func likeWords(words, text []string) []string {
	for _, word := range text {
		numbered := strings.ContainsFunc(word, unicode.IsDigit)

		if len(words) < maxLikeWords && !strings.ContainsAny(word, "._-") && utf8.RuneCountInString(word) >= shortestWord &&
			(!numbered || len(word) <= longestNumbered) && !strings.Contains(fillWords, " "+word+" ") && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}

	return words
}
