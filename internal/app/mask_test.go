package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/mask"
)

func TestTextThatIsNotFullyMaskedRaisesAWarning(t *testing.T) {
	t.Parallel()

	masker, err := mask.New(mask.Config{Limit: time.Nanosecond, Alerts: mask.DefaultRules()})
	require.NoError(t, err)

	var log bytes.Buffer

	a := &App{logger: slog.New(slog.NewTextHandler(&log, nil)), clock: clockwork.NewFakeClock()}
	maskText := a.textMasker(masker)

	assert.Equal(t, "DB_PASSWORD=[MASKED_PASSWORD]", maskText("DB_PASSWORD=Xk29fLq8Zt71"))
	assert.Empty(t, a.warnings.list())
	assert.Empty(t, log.String())

	masked := maskText("DB_PASSWORD=Xk29fLq8Zt71\n" + strings.Repeat("key=3f8a9c2e-7b1d-4e6f-9a0c-5d2b8e4f1a7c\n", 1000))
	assert.True(t, strings.HasPrefix(masked, "DB_PASSWORD=[MASKED_PASSWORD]\n"))

	raised := a.warnings.list()
	require.Len(t, raised, 1)
	assert.Equal(t, categoryMasking, raised[0].Category)
	assert.Contains(t, raised[0].Details, "took too long")
	assert.Contains(t, log.String(), "not fully checked for secrets")
	assert.NotContains(t, log.String(), "Xk29")
}
