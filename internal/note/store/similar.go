package store

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/notebook"
)

// SimilarEntity is an entity with its word similarity to another one, from 0 to 1.
type SimilarEntity struct {
	notebook.Entity

	Score float64
}

// wordsSQL returns the words of entities, each word once, rarest first according to the statistics of the table.
const wordsSQL = `
	WITH common AS (
		SELECT c.word, c.frequency
		FROM pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS c (word, frequency)
		WHERE s.schemaname = current_schema() AND s.tablename = 'entities' AND s.attname = 'words' AND c.word IS NOT NULL
	)
	SELECT e.id::text AS id, array_agg(w.word ORDER BY coalesce(c.frequency, 0), w.word) AS words
	FROM entities e CROSS JOIN LATERAL unnest(e.words) AS w (word) LEFT JOIN common c ON c.word = w.word
	WHERE e.id = ANY($1)
	GROUP BY e.id`

// Words returns the words of entities by ID, each word once, rarest first. Entities without words are left out.
func Words(ctx context.Context, q Querier, ids []string) (map[string][]string, error) {
	type row struct {
		ID    string
		Words []string
	}

	rows, err := collect[row](ctx, q, wordsSQL, ids)
	if err != nil {
		return nil, err
	}

	words := make(map[string][]string, len(rows))
	for _, r := range rows {
		words[r.ID] = r.Words
	}

	return words, nil
}

// similarSQL finds entities that share one of the words in $2 or all in $9, and compares all words ($3). Entities of the same note ($4)
// count only if they are older, so that of two duplicates only one refers to the other. Entities of other teams do not count: a reader who
// sees an entity may see what it is compared with. IS TRUE hides the conditions that other indexes have from the planner: one of those
// looks cheaper while the table is small, and the plan is kept as it grows.
var similarSQL = `
	WITH counted AS MATERIALIZED (
		SELECT ` + postgres.ColumnsOf[notebook.Entity]().Of("e") + `, cardinality(e.words) AS size, ` + sharedSQL("$3") + ` AS shared
		FROM entities e
		WHERE (e.words && $2 OR e.words @> $9) AND cardinality(e.words) BETWEEN $5 AND $6 AND (e.state IN ('proposed', 'accepted')) IS TRUE
			AND (e.status IN ('open', 'in_progress')) IS TRUE AND e.id <> $1 AND ((e.note_id = $4) IS NOT TRUE OR e.id < $1)
			AND e.team IN ('', (SELECT o.team FROM entities o WHERE o.id = $1))
	), scored AS (
		SELECT ` + postgres.ColumnsOf[notebook.Entity]().Of("c") + `, ` + jaccardSQL("c.shared", "c.size", "cardinality($3::text[])") + ` AS score FROM counted c
	)
	SELECT ` + postgres.ColumnsOf[notebook.Entity]().Of("s") + `, s.score FROM scored s WHERE s.score >= $7 ORDER BY s.score DESC, s.id LIMIT $8`

// sharedSQL counts the words of an entity e that are in a list without repetitions. Comparing all pairs is faster than any set function for
// lists as short as these.
func sharedSQL(list string) string {
	return `(SELECT count(*) FROM unnest(` + list + `::text[]) AS w (word) WHERE w.word = ANY(e.words))`
}

// jaccardSQL returns the Jaccard index of two sets: the share of all their words that are in both, from 0 to 1.
func jaccardSQL(shared, size, otherSize string) string {
	return fmt.Sprintf(`%[1]s::double precision / greatest(%[2]s + %[3]s - %[1]s, 1)`, shared, size, otherSize)
}

// Search is a search for entities that are similar to Entity.
type Search struct {
	Entity notebook.Entity
	// Words are the entity's words, as returned by the function Words.
	Words []string
}

// Similar returns for each search the open entities with the most similar words, best first. The threshold must be above zero.
//
// Two lists with a similarity of at least t share at least m = ⌈tn⌉ of the n words. A list that shares m of them contains one of the n - m
// rarest, or else all of the others. So the index is queried for exactly that: common words, each of which matches much of the table, are
// only looked up together.
func Similar(ctx context.Context, q Querier, threshold float64, limit int, searches ...Search) ([][]SimilarEntity, error) {
	var (
		batch pgx.Batch
		found = make([][]SimilarEntity, len(searches))
	)

	for i, s := range searches {
		if len(s.Words) > 0 {
			sql, args := s.query(threshold, limit)
			into(&batch, &found[i], sql, args...)
		}
	}

	if batch.Len() == 0 {
		return found, nil
	}

	return found, q.SendBatch(ctx, &batch).Close()
}

func (s Search) query(threshold float64, limit int) (string, []any) {
	// Compensates for products such as 0.7 × 10 that are slightly too large.
	const inexact = 1e-9

	words := s.Words
	n := float64(len(words))
	shared := max(int(math.Ceil(threshold*n-inexact)), 1)
	longest := int(n/threshold + inexact)

	rare, common := words[:len(words)-shared], words[len(words)-shared:]

	return similarSQL, []any{s.Entity.ID, rare, words, s.Entity.NoteID, shared, longest, threshold, limit, common}
}

// WordSimilarity compares the words of a text with those of an entity.
func WordSimilarity(ctx context.Context, q Querier, entityID, title, content string) (score float64, err error) {
	err = q.QueryRow(ctx, `SELECT `+jaccardSQL(sharedSQL("o.words"), "cardinality(e.words)", "cardinality(o.words)")+`
		FROM entities e, search_set($2 || ' ' || $3) AS o (words) WHERE e.id = $1`, entityID, title, content).Scan(&score)

	return score, err
}
