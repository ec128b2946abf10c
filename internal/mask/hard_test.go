package mask

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"tarsy.dev/tarsy/internal/kit/corpus"
)

// The patterns were developed with only the first half: no sample of the other half was looked at.
func TestHardCorpusIsMasked(t *testing.T) {
	t.Parallel()

	m := newMasker(t, Config{Alerts: DefaultRules()})
	halves := map[bool][]corpus.Sample{}

	for _, sample := range corpus.Hard(1) {
		halves[sample.HeldOut()] = append(halves[sample.HeldOut()], sample)
	}

	for held, samples := range halves {
		all, _ := corpus.Judge(samples, func(text string) string { return written(m, text) })
		t.Logf("held back %v: %d samples, recall %.3f, precision %.3f", held, len(samples), all.Recall(), all.Precision())

		assert.GreaterOrEqual(t, all.Recall(), 0.97, "held back: %v", held)
		assert.GreaterOrEqual(t, all.Precision(), 0.98, "held back: %v", held)
	}

	assert.Zero(t, m.Failures())
}

// At most one line in a hundred may have something hidden, including where lines of different programs meet.
func TestOrdinaryLinesAreLeftAlone(t *testing.T) {
	t.Parallel()

	const lines = 10000

	m := newMasker(t, Config{Alerts: DefaultRules()})
	texts := corpus.Ordinary(1, lines)
	wrong := 0

	for _, text := range texts {
		masked := written(m, text)
		wrong += strings.Count(masked, markerStart)

		if masked != text {
			t.Logf("%s\nbecame\n%s", text, masked)
		}
	}

	joined := strings.Count(written(m, strings.Join(texts, "\n")), markerStart)
	t.Logf("%d markers in single texts, %d in one text of them all", wrong, joined)

	assert.LessOrEqual(t, wrong, lines/100)
	assert.LessOrEqual(t, joined, lines/100)
}
