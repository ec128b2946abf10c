package store

import (
	"context"
	"math"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// SimilarEntity is an entity with the similarity of its words to those of another, from 0 to 1.
type SimilarEntity struct {
	tarsy.Entity

	Score float64
}

// wordsSQL returns the words of entities, each word once, rarest first as far as the statistics of the table tell.
const wordsSQL = `
	WITH common AS (
		SELECT c.word, c.frequency
		FROM pg_stats s, unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS c (word, frequency)
		WHERE s.schemaname = current_schema() AND s.tablename = 'entities' AND s.attname = 'words' AND c.word IS NOT NULL
	)
	SELECT e.id::text AS id, array_agg(w.word ORDER BY coalesce(c.frequency, 0), w.word) AS words
	FROM entities e CROSS JOIN LATERAL (SELECT DISTINCT unnest(e.words) AS word) w LEFT JOIN common c ON c.word = w.word
	WHERE e.id = ANY($1)
	GROUP BY e.id`

// Words returns the words of entities by id, each word once, the rarest first. Entities without words are left out.
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

// similarSQL finds entities that share one of the words in $2 and compares all words, $3. Entities of the same note, $4, count only if
// they are older, so that of two that are the same only one refers to the other.
var similarSQL = `
	WITH scored AS MATERIALIZED (
		SELECT ` + postgres.ColumnList[tarsy.Entity]("e") + `, word_similarity(e.words, $3) AS score
		FROM entities e
		WHERE e.words && $2 AND cardinality(e.words) >= $5 AND e.state IN ('proposed', 'accepted') AND e.status IN ('open', 'in_progress')
			AND e.id <> $1 AND (e.note_id IS DISTINCT FROM $4 OR e.id < $1)
	)
	SELECT ` + postgres.ColumnList[tarsy.Entity]("s") + `, s.score FROM scored s WHERE s.score >= $6 ORDER BY s.score DESC, s.id LIMIT $7`

// Similar returns the open entities whose words are most similar to those of an entity, best first. Words are those of Words; the
// threshold is above zero.
//
// Two lists with a similarity of at least t share at least t times the words of the longer one. One that shares so many with n words has one
// of any n - ⌈tn⌉ + 1 of them, so the index is asked for that many, the rarest: common words alone would match most of the table.
func Similar(ctx context.Context, q Querier, entity tarsy.Entity, words []string, threshold float64, limit int) ([]SimilarEntity, error) {
	if len(words) == 0 {
		return nil, nil
	}

	sql, args := similarQuery(entity, words, threshold, limit)

	return collect[SimilarEntity](ctx, q, sql, args...)
}

func similarQuery(entity tarsy.Entity, words []string, threshold float64, limit int) (string, []any) {
	// A product such as 0.7 × 10 is a little more than it should be.
	shared := max(int(math.Ceil(threshold*float64(len(words))-1e-9)), 1)

	return similarSQL, []any{entity.ID, words[:len(words)-shared+1], words, entity.NoteID, shared, threshold, limit}
}

// WordSimilarity compares the words of a text with those of an entity.
func WordSimilarity(ctx context.Context, q Querier, entityID, title, content string) (score float64, err error) {
	err = q.QueryRow(ctx, `SELECT word_similarity(e.words, search_tokens(left($2 || ' ' || $3, 32768))) FROM entities e WHERE e.id = $1`,
		entityID, title, content).Scan(&score)

	return score, err
}
