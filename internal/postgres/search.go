package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// A search is answered in one of two ways. Most searches match few sessions: the index finds all of them, and they are sorted. If
// many match, finding all would take long, but the newest ones soon have enough matches: those are scanned first.
const (
	// fewMatches is the maximum number of expected matches for which the index is asked for all of them.
	fewMatches = 5000
	// newestScanned is how many of the newest sessions are scanned for a frequent word.
	newestScanned = 2000
	// snippetSource bounds how much of a text is searched for what matched; no more of it is indexed.
	snippetSource = 32768
)

// Tiers of relevance: a session whose title, alert type, cause, summary or error matches comes before one whose alert or analysis
// does. Within a tier the newest comes first.
const (
	tierTitle = iota
	tierText
	tiers
)

// search returns a page of the sessions that match a search, with snippets of what matched.
func (db *DB) search(ctx context.Context, f tarsy.SessionFilter) ([]tarsy.SessionItem, error) {
	plan, err := db.planSearch(ctx, parseSearch(f.Search))
	if err != nil {
		return nil, fmt.Errorf("plan search: %w", err)
	}

	if len(plan.tokens) == 0 {
		return nil, nil
	}

	places, err := db.findPlaces(ctx, plan, f)
	if err != nil {
		return nil, fmt.Errorf("search sessions: %w", err)
	}

	items, err := db.matches(ctx, plan, places)
	if err != nil {
		return nil, fmt.Errorf("read matches: %w", err)
	}

	return items, nil
}

// searchWords are the words of a search, in the form that the database's search_query takes.
type searchWords struct {
	words    []string
	prefixes []bool
}

// parseSearch splits a search into words. The last word may be incomplete, so it also matches words that begin with it, as does
// every word that ends with a star. Quoted words match exactly.
func parseSearch(text string) searchWords {
	var s searchWords

	for i, part := range strings.Split(text, `"`) {
		quoted := i%2 == 1

		for word := range strings.FieldsSeq(part) {
			s.words = append(s.words, word)
			s.prefixes = append(s.prefixes, !quoted && strings.HasSuffix(word, "*"))
		}
	}

	if n := len(s.words); n > 0 && !strings.HasSuffix(strings.TrimSpace(text), `"`) {
		s.prefixes[n-1] = true
	}

	return s
}

// searchPlan is a search as the database parses it.
type searchPlan struct {
	// query matches all words of a session, title only those of its title, alert type, cause, summary and error.
	query, title string
	tokens       []searchToken
	// expected is how many matches the planner expects.
	expected float64
}

// searchToken is a word or an identifier that a match contains.
type searchToken struct {
	Token  string
	Prefix bool
}

func (db *DB) planSearch(ctx context.Context, s searchWords) (searchPlan, error) {
	var (
		plan  searchPlan
		batch pgx.Batch
	)

	batch.Queue(`SELECT search_query($1, $2, '')::text, search_query($1, $2, '^')::text`, s.words, s.prefixes).
		QueryRow(func(row pgx.Row) error { return row.Scan(&plan.query, &plan.title) })
	QueueRows(&batch, &plan.tokens, `
SELECT t.token, w.prefix AND t.place = cardinality(search_tokens(w.word)) AS prefix
FROM unnest($1::text[], $2::boolean[]) AS w (word, prefix), unnest(search_tokens(w.word)) WITH ORDINALITY AS t (token, place)`, s.words, s.prefixes)
	batch.Queue(`EXPLAIN (FORMAT JSON) SELECT session_id FROM session_list WHERE words @@ search_query($1, $2, '')`, s.words, s.prefixes).
		QueryRow(func(row pgx.Row) (err error) {
			plan.expected, err = expectedRows(row)

			return err
		})

	if err := db.readers.SendBatch(ctx, &batch).Close(); err != nil {
		return searchPlan{}, err
	}

	return plan, nil
}

// hit is a session that matches, with its tier.
type hit struct {
	SessionID string
	Tier      int
}

// findPlaces returns up to f.Limit matching sessions, in order of relevance.
func (db *DB) findPlaces(ctx context.Context, plan searchPlan, f tarsy.SessionFilter) ([]hit, error) {
	q := newListQuery(f)
	q.args["query"], q.args["title"], q.args["now"] = plan.query, plan.title, db.clock.Now()

	q.where = append(q.where, q.statuses(f))
	if q.visible != nil {
		q.where = append(q.where, q.visibleTeams())
	}

	if len(q.either) > 0 {
		q.where = append(q.where, "("+strings.Join(q.either, " OR ")+")")
	}

	first := tierTitle

	if f.After != nil {
		first = orZero(f.After.Tier)
		q.args["after_at"], q.args["after_id"], q.args["after_tier"] = f.After.CreatedAt, f.After.ID, first
	}

	if plan.expected <= fewMatches {
		return Collect[hit](ctx, db.readers, q.allMatches(f), q.args)
	}

	var found []hit

	for tier := first; tier < tiers && len(found) < f.Limit; tier++ {
		places, err := db.findInTier(ctx, q, f, tier, f.Limit-len(found), f.After != nil && tier == first)
		if err != nil {
			return nil, err
		}

		found = append(found, places...)
	}

	return found, nil
}

// statuses is the condition that a session is in one of the groups.
func (q *listQuery) statuses(f tarsy.SessionFilter) string {
	statuses := make([]string, 0, len(q.groups))
	for _, g := range q.groups {
		statuses = append(statuses, g.status)
	}

	q.args["statuses"] = statuses

	listed := "l.status = ANY(@statuses::text[])"

	if len(f.Outcomes) > 0 {
		listed += " AND l.outcome = ANY(@outcomes::text[])"
		q.args["outcomes"] = f.Outcomes
	}

	if len(f.Handling) > 0 {
		listed += " AND l.handling = ANY(@handling::text[])"
		q.args["handling"] = f.Handling
	}

	if len(f.Statuses) == 0 || !slices.Contains(statuses, "") {
		return listed
	}

	q.args["open"] = f.Statuses

	return listed + " AND (l.status <> '' OR EXISTS (SELECT FROM sessions o WHERE o.id = l.session_id AND o.status = ANY(@open::text[])))"
}

// allMatches is the statement that finds all matches and sorts them.
func (q *listQuery) allMatches(f tarsy.SessionFilter) string {
	after := ""
	if f.After != nil {
		after = `WHERE tier > @after_tier OR tier = @after_tier AND (created_at, session_id) < (@after_at, @after_id::uuid)`
	}

	return `
SELECT session_id, tier FROM (
    SELECT l.session_id, l.created_at, CASE WHEN l.words @@ @title::tsquery THEN 0 ELSE 1 END AS tier
    FROM session_list l WHERE l.words @@ @query::tsquery AND ` + strings.Join(q.where, " AND ") + `
) AS found ` + after + ` ORDER BY tier, created_at DESC, session_id DESC LIMIT ` + strconv.Itoa(f.Limit)
}

// findInTier returns up to limit matches of a tier: from the newest sessions if those have enough, otherwise from all.
func (db *DB) findInTier(ctx context.Context, q listQuery, f tarsy.SessionFilter, tier, limit int, after bool) ([]hit, error) {
	match := "l.words @@ @title::tsquery"
	if tier == tierText {
		match = "l.words @@ @query::tsquery AND NOT l.words @@ @title::tsquery"
	}

	where, bounds := strings.Join(q.where, " AND "), "true"
	if after {
		bounds = "(l.created_at, l.session_id) < (@after_at, @after_id::uuid)"
	}

	if f.CreatedBefore != nil {
		bounds += " AND l.created_at < @created_before"
	}

	newest, err := Collect[hit](ctx, db.readers, `
SELECT l.session_id, `+strconv.Itoa(tier)+` AS tier
FROM (SELECT `+listColumns+` FROM session_list l WHERE `+bounds+` ORDER BY l.created_at DESC, l.session_id DESC LIMIT `+strconv.Itoa(newestScanned)+`) AS l
WHERE `+match+` AND `+where+` ORDER BY l.created_at DESC, l.session_id DESC LIMIT `+strconv.Itoa(limit), q.args)
	if err != nil || len(newest) == limit {
		return newest, err
	}

	// Ordering by an expression keeps the planner from walking an index from the newest session to the oldest.
	return Collect[hit](ctx, db.readers, `
SELECT l.session_id, `+strconv.Itoa(tier)+` AS tier FROM session_list l
WHERE `+match+` AND `+bounds+` AND `+where+`
ORDER BY l.created_at + interval '0' DESC, l.session_id DESC LIMIT `+strconv.Itoa(limit), q.args)
}

// foundSession is a session with the texts that may have matched.
type foundSession struct {
	tarsy.SessionItem

	AlertData     string
	FinalAnalysis string
}

// matches reads the sessions at places and adds snippets of what matched.
func (db *DB) matches(ctx context.Context, plan searchPlan, places []hit) ([]tarsy.SessionItem, error) {
	ids := make([]string, len(places))
	for i, p := range places {
		ids[i] = p.SessionID
	}

	found, err := Collect[foundSession](ctx, db.readers, itemSQL("$3")+`, left(s.alert_data, $2) AS alert_data, left(s.final_analysis, $2) AS final_analysis
FROM unnest($1::uuid[]) WITH ORDINALITY AS page (session_id, number) JOIN sessions s ON s.id = page.session_id AND s.deleted_at IS NULL`+itemJoin+`
ORDER BY page.number`, ids, snippetSource, db.clock.Now())
	if err != nil {
		return nil, err
	}

	tiers := make(map[string]int, len(places))
	for _, p := range places {
		tiers[p.SessionID] = p.Tier
	}

	items := make([]tarsy.SessionItem, len(found))

	for i, f := range found {
		items[i] = f.SessionItem
		items[i].Match = snippet(plan.tokens, []field{
			{"title", f.Title}, {"cause", f.Cause}, {"executive_summary", f.ExecutiveSummary}, {"error_message", f.ErrorMessage}, {"alert_data", f.AlertData},
			{"final_analysis", f.FinalAnalysis}, {"alert_type", f.AlertType},
		})
		items[i].Match.Tier = tiers[f.ID]
	}

	return items, nil
}

// expectedRows reads the planner's estimate of the number of rows from the output of EXPLAIN.
func expectedRows(row pgx.Row) (float64, error) {
	var (
		explained   []byte
		explanation []struct {
			Plan struct {
				Rows float64 `json:"Plan Rows"`
			} `json:"Plan"`
		}
	)

	if err := row.Scan(&explained); err != nil {
		return 0, err
	}

	if err := json.Unmarshal(explained, &explanation); err != nil || len(explanation) != 1 {
		return 0, fmt.Errorf("read the explanation of a search: %w", err)
	}

	return explanation[0].Plan.Rows, nil
}
