package corpus_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/mask/corpus"
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
