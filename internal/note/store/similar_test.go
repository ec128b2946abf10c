package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/notebook"
)

func openWithPool(t testing.TB) (*store.DB, *pgxpool.Pool) {
	t.Helper()

	pool, err := pgxpool.New(t.Context(), pgtest.New(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	db, err := store.Open(t.Context(), store.Config{Write: pool, Read: pool})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })

	return db, pool
}

// addTask stores an open task without a note.
func addTask(t testing.TB, db *store.DB, title string) notebook.EntityDetail {
	t.Helper()

	e := notebook.EntityDetail{Entity: notebook.Entity{
		ID: ident.New(), Type: notebook.EntityTask, Title: title, Status: notebook.EntityOpen, State: notebook.EntityAccepted, CreatedBy: "ana",
		CreatedAt: db.Now(), UpdatedAt: db.Now(), Version: 1,
	}}
	require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) error {
		store.InsertEntity(tx, e)

		return nil
	}))

	return e
}

func similar(t testing.TB, db *store.DB, e notebook.EntityDetail, threshold float64, limit int) []store.SimilarEntity {
	t.Helper()

	words, err := store.Words(t.Context(), db.Reader(), []string{e.ID})
	require.NoError(t, err)

	found, err := store.Similar(t.Context(), db.Reader(), threshold, limit, store.Search{Entity: e.Entity, Words: words[e.ID]})
	require.NoError(t, err)

	return found[0]
}

// The index is queried for only some of the words. No pair above the threshold may be missed, whichever words it shares.
func TestSimilarFindsEveryPairAboveThreshold(t *testing.T) {
	t.Parallel()

	db, _ := openWithPool(t)
	letters := strings.Split("abcdefgh", "")
	wanted := addTask(t, db, strings.Join(letters, " "))

	// Every subset of the words, with zero or two other words.
	expected := map[string]float64{}

	for subset := 1; subset < 1<<len(letters); subset++ {
		var words []string

		for i, letter := range letters {
			if subset&(1<<i) != 0 {
				words = append(words, letter)
			}
		}

		for _, others := range [][]string{nil, {"x", "y"}} {
			shared := float64(len(words))

			id := addTask(t, db, strings.Join(slices.Concat(words, others), " ")).ID
			if score := shared / float64(len(letters)+len(others)); score >= 0.7 {
				expected[id] = score
			}
		}
	}

	found := similar(t, db, wanted, 0.7, 1000)
	got := map[string]float64{}

	for _, s := range found {
		got[s.ID] = s.Score
	}

	require.Equal(t, expected, got)
	require.True(t, slices.IsSortedFunc(found, func(a, b store.SimilarEntity) int { return int(1000 * (b.Score - a.Score)) }))
	require.Len(t, similar(t, db, wanted, 0.7, 3), 3)
}

func TestSimilarityCountsRepeatedWordsOnce(t *testing.T) {
	t.Parallel()

	db, _ := openWithPool(t)
	wanted := addTask(t, db, "Fix, fix, FIX the login")
	other := addTask(t, db, "the login, THE bug")
	empty := addTask(t, db, "!!!")

	require.Empty(t, similar(t, db, empty, 0.5, 5))

	found := similar(t, db, wanted, 0.5, 5)
	require.Len(t, found, 1)
	require.Equal(t, other.ID, found[0].ID)
	require.InDelta(t, 0.5, found[0].Score, 0)

	score, err := store.WordSimilarity(t.Context(), db.Reader(), wanted.ID, "Fix", "the bug")
	require.NoError(t, err)
	require.InDelta(t, 0.5, score, 0)
}

// loadTasks stores tasks with a realistic word distribution: a few words are in most titles, most words are rare.
func loadTasks(t testing.TB, pool *pgxpool.Pool, count int) {
	t.Helper()

	_, err := pool.Exec(t.Context(), `
		INSERT INTO entities (id, type, title, state, created_by, created_at, updated_at)
		SELECT gen_random_uuid(), 'task', 'fix the ' || string_agg('w' || floor(power(20000, random()))::int, ' ') || ' on the server', 'accepted', 'ana', now(), now()
		FROM generate_series(1, $1) AS n, generate_series(1, 8) AS w GROUP BY n`, count)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `VACUUM ANALYZE entities`)
	require.NoError(t, err)
}

const loadedTitle = "fix the w2 w31 w150 w7001 w8002 w12003 w15004 w19005 on the server"

func TestSimilarReadsIndex(t *testing.T) {
	t.Parallel()

	db, pool := openWithPool(t)
	loadTasks(t, pool, 3_000)

	wanted, same := addTask(t, db, loadedTitle), addTask(t, db, strings.Replace(loadedTitle, "w150", "w151", 1))

	words, err := store.Words(t.Context(), db.Reader(), []string{wanted.ID})
	require.NoError(t, err)
	require.Len(t, words[wanted.ID], 12)
	// The order comes from the statistics of the table.
	require.Subset(t, words[wanted.ID][:6], []string{"w7001", "w8002", "w12003", "w15004", "w19005"})
	require.Subset(t, words[wanted.ID][8:], []string{"fix", "the", "on", "server"})

	found := similar(t, db, wanted, 0.5, 5)
	require.NotEmpty(t, found)
	require.Equal(t, same.ID, found[0].ID)

	plan, err := store.SimilarPlan(t.Context(), db.Reader(), 0.5, 5, store.Search{Entity: wanted.Entity, Words: words[wanted.ID]})
	require.NoError(t, err)
	require.Contains(t, plan, "Bitmap Index Scan on entities_words")
	require.NotContains(t, plan, "Seq Scan on entities")
}

// BenchmarkSimilarOf100000Entities measures the search for the duplicates of one entity.
func BenchmarkSimilarOf100000Entities(b *testing.B) {
	db, pool := openWithPool(b)
	loadTasks(b, pool, 100_000)

	wanted := addTask(b, db, loadedTitle)

	words, err := store.Words(b.Context(), db.Reader(), []string{wanted.ID})
	require.NoError(b, err)

	plan, err := store.SimilarPlan(b.Context(), db.Reader(), 0.5, 5, store.Search{Entity: wanted.Entity, Words: words[wanted.ID]})
	require.NoError(b, err)
	require.Contains(b, plan, "Bitmap Index Scan on entities_words")
	b.Log(plan)

	for b.Loop() {
		similar(b, db, wanted, 0.5, 5)
	}
}
