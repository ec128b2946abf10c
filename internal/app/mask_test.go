package app

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mask"
)

func TestDataMaskingBlockAddsToDefaults(t *testing.T) {
	t.Parallel()

	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "tarsy.yaml", Text: []byte(`
mcp_servers:
  plain: {transport: {type: http, url: "http://a"}}
  enabled: {transport: {type: http, url: "http://a"}, data_masking: {enabled: true}}
  custom: {transport: {type: http, url: "http://a"}, data_masking: {custom_patterns: [{pattern: 'card-\d+', replacement: '[CARD]'}]}}
  more: {transport: {type: http, url: "http://a"}, data_masking: {pattern_groups: [basic], patterns: [email]}}
  fewer: {transport: {type: http, url: "http://a"}, data_masking: {disabled_groups: [gitleaks, security, kubernetes]}}
  off: {transport: {type: http, url: "http://a"}, data_masking: {enabled: false}}
`)}}})
	require.NoError(t, err)

	options := Options{Config: cfg, Env: func(string) (string, bool) { return "", false }}
	masker, err := options.masker()
	require.NoError(t, err)

	const text = "DB_PASSWORD=Xk29fLq8Zt71 card-99 ada@example.com"

	for server, want := range map[string]string{
		"plain":   "DB_PASSWORD=[MASKED_PASSWORD] card-99 ada@example.com",
		"enabled": "DB_PASSWORD=[MASKED_PASSWORD] card-99 ada@example.com",
		"custom":  "DB_PASSWORD=[MASKED_PASSWORD] [CARD] ada@example.com",
		"more":    "DB_PASSWORD=[MASKED_PASSWORD] card-99 [MASKED_EMAIL]",
		"fewer":   text,
		"off":     text,
	} {
		masked, err := masker.Result(server, text)
		require.NoError(t, err)
		assert.Equal(t, want, masked, server)
	}
}

func TestDatabasePasswordsAreMaskedByValue(t *testing.T) {
	t.Parallel()

	cfg, err := config.Load(config.Source{})
	require.NoError(t, err)

	for address, password := range map[string]string{
		"postgres://app:correct-horse-db@db/orders":           "correct-horse-db",
		"postgres://app@db/orders?password=correct-horse-db2": "correct-horse-db2",
		"postgres://app@db/orders":                            "correct-horse-env",
	} {
		options := Options{Config: cfg, DatabaseURL: address, Env: func(name string) (string, bool) {
			return "correct-horse-env", name == "PGPASSWORD"
		}}
		masker, err := options.masker()
		require.NoError(t, err)

		text, err := masker.Text("connecting with " + password + " now")
		require.NoError(t, err)
		assert.Equal(t, "connecting with [MASKED_SECRET] now", text)

		result, err := masker.Result("any", password)
		require.NoError(t, err)
		assert.Equal(t, "[MASKED_SECRET]", result)
	}
}

func TestPartlyMaskedTextRaisesWarning(t *testing.T) {
	t.Parallel()

	masker, err := mask.New(mask.Config{Limit: time.Nanosecond, Alerts: mask.DefaultRules()})
	require.NoError(t, err)

	var log bytes.Buffer

	a := &App{logger: slog.New(slog.NewTextHandler(&log, nil)), clock: clockwork.NewFakeClock()}
	maskText := a.textMasker(masker.Text)

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

func TestUnmaskableTextRaisesWarning(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	a := &App{logger: slog.New(slog.NewTextHandler(&log, nil)), clock: clockwork.NewFakeClock()}
	maskText := a.textMasker(func(text string) (string, error) { return text, errors.New("out of order") })

	assert.Equal(t, "a question", maskText("a question"), "what people wrote is kept")

	raised := a.warnings.list()
	require.Len(t, raised, 1)
	assert.Equal(t, categoryMasking, raised[0].Category)
	assert.Contains(t, raised[0].Details, "stored without masking")
	assert.Contains(t, log.String(), "out of order")
}
