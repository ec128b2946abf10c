package corpus_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/corpus"
)

func TestCorpusIsLargeAndLabelled(t *testing.T) {
	t.Parallel()

	kinds, benign := map[string]int{}, map[string]bool{}

	for _, s := range corpus.Samples(1) {
		if len(s.Secrets) == 0 {
			benign[s.Text] = true

			continue
		}

		kinds[s.Kind]++

		for _, secret := range s.Secrets {
			require.GreaterOrEqual(t, len(secret), 8, "%s in %s: %q", s.Kind, s.Context, secret)
			require.Contains(t, s.Text, secret, "%s in %s", s.Kind, s.Context)
		}
	}

	assert.GreaterOrEqual(t, len(kinds), 60)
	assert.GreaterOrEqual(t, len(benign), 300)

	several := 0

	for _, contexts := range kinds {
		if contexts >= 3 {
			several++
		}
	}

	assert.GreaterOrEqual(t, several, 60)
	t.Logf("%d kinds, %d harmless texts", len(kinds), len(benign))
}

func TestCorpusDependsOnlyOnSeed(t *testing.T) {
	t.Parallel()

	text := func(seed uint64) string {
		var b strings.Builder
		for _, s := range corpus.Samples(seed) {
			b.WriteString(s.Text)
		}

		return b.String()
	}
	first, again := text(7), text(7)
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, text(8))
}

func TestHardCorpusIsLabelledAndHalved(t *testing.T) {
	t.Parallel()

	held := 0
	samples := corpus.Hard(1)

	for _, s := range samples {
		require.NotEmpty(t, s.Secrets, "%s in %s", s.Kind, s.Context)

		for _, secret := range s.Secrets {
			require.GreaterOrEqual(t, len(secret), 8, "%s in %s: %q", s.Kind, s.Context, secret)
			require.Contains(t, s.Text, secret, "%s in %s", s.Kind, s.Context)
		}

		if s.HeldOut() {
			held++
		}
	}

	assert.GreaterOrEqual(t, len(samples), 5000)
	assert.InDelta(t, 0.5, float64(held)/float64(len(samples)), 0.05)
	assert.Equal(t, samples, corpus.Hard(1), "the same seed gives the same corpus")
	assert.NotEqual(t, samples, corpus.Hard(2))
}

func TestOrdinaryLinesDependOnlyOnSeed(t *testing.T) {
	t.Parallel()

	texts := corpus.Ordinary(1, 10000)
	lines := strings.Split(strings.Join(texts, "\n"), "\n")
	different := map[string]bool{}

	for _, line := range lines {
		different[line] = true
	}

	assert.GreaterOrEqual(t, len(lines), 10000)
	assert.GreaterOrEqual(t, len(different), 4000)
	assert.Equal(t, texts, corpus.Ordinary(1, 10000))
}
