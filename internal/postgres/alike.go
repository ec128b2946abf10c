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

// Two sessions are alike if one has at least half of the labels or words of the other.
const (
	// maxComparedWords is the maximum number of labels or words compared.
	maxComparedWords = 24
	// minSharedWords is the minimum number of words that two texts must share; a single one can be a coincidence.
	minSharedWords = 2
	// A word is common if more than commonSessions sessions, and more than one in commonShare, have it.
	commonSessions = 1000
	commonShare    = 20
	// shortestWord is the minimum length, in characters, of a word that is compared.
	shortestWord = 3
	// longestNumbered is the maximum length of a word with digits, such as 502 or http2; longer ones are hashes, times and other numbers.
	longestNumbered = 5
)

// similarityQuery finds sessions that have at least half of a list of words.
type similarityQuery struct {
	words []string
	// least is the minimum number of matching words, even if half of them is fewer.
	least int
	// rare ignores common words.
	rare bool
	// name is a word that a session must have, alertType the alert type that it must have; empty matches any.
	name, alertType string
}

// findAlike adds the sessions that a query finds, newest first. Like a search, it uses the index if few sessions can match, and
// otherwise scans only the newest sessions: its cost is bounded, however many sessions there are.
func (db *DB) findAlike(ctx context.Context, found *likenesses, why tarsy.Likeness, q similarityQuery) error {
	q.words = q.words[:min(len(q.words), maxComparedWords)]
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

	// A match has at least one of the len(words)-least+1 rarest words, so the index is asked for those only.
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(expected[lexeme(a)], expected[lexeme(b)]) })
	query := strings.Join(lexemes(words[:len(words)-least+1]), " | ")

	if q.name != "" {
		query = lexeme(q.name) + " & (" + query + ")"
	}

	estimates, _, err := db.expectMatches(ctx, []string{query})
	if err != nil {
		return err
	}

	places, err := Collect[struct{ SessionID string }](ctx, db.readers, alikeSQL(estimates[query] <= fewMatches, found.missing()), pgx.NamedArgs{
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

// alikeSQL is the statement of a similarityQuery, over all sessions by index or over the newest ones.
func alikeSQL(all bool, limit int) string {
	from := "session_list l"
	// Ordering by an expression keeps the planner from walking an index from the newest session to the oldest.
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

// expectMatches returns the planner's estimates of how many sessions match each query and how many there are. It reads statistics only.
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

// stopWords are frequent words without meaning. Statistics reveal such words only if there are many sessions.
const stopWords = " the and for are was were not has have had this that with from into than then over since but its our you your all any been being " +
	"can could did does how may more most now off once only out should some such there they too under until very what when where which while who " +
	"why will would after again before below above during "

// likeWords adds the significant words of a text, each once. The text has identifiers both whole and in parts; only the parts are
// used, because names of pods and hosts end in something unique.
func likeWords(words, text []string) []string {
	for _, word := range text {
		numbered := strings.ContainsFunc(word, unicode.IsDigit)

		if len(words) < maxComparedWords && !strings.ContainsAny(word, "._-") && utf8.RuneCountInString(word) >= shortestWord &&
			(!numbered || len(word) <= longestNumbered) && !strings.Contains(stopWords, " "+word+" ") && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}

	return words
}
