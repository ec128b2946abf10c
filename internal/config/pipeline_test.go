package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestSettingsOfNotes(t *testing.T) {
	t.Parallel()

	c, err := config.Load(config.Source{})
	require.NoError(t, err)
	require.Equal(t, config.NotePipeline{
		ConfidenceThreshold: 0.7, DuplicateThreshold: 0.5, RatePerMinute: 120, MaxAttempts: 5, Timeout: 90 * time.Second,
		Concurrency: config.NoteConcurrency{Extract: 4, Organize: 2, Reprocess: 1},
	}, c.NotePipeline)

	for text, problem := range map[string]string{
		"confidence_threshold: 0":    "notes.confidence_threshold",
		"duplicate_threshold: 1.5":   "notes.duplicate_threshold",
		"rate_per_minute: -1":        "notes.rate_per_minute",
		"max_attempts: 0":            "notes.max_attempts",
		"timeout: 1ms":               "notes.timeout",
		"concurrency: {extract: 0}":  "notes.concurrency.extract",
		"concurrency: {organise: 1}": "notes.concurrency.organise",
		"llm_provider: nobody":       "notes.llm_provider",
	} {
		_, err := config.Load(config.Source{Files: []config.File{{Name: "tarsy.yaml", Text: []byte("notes: {" + text + "}\n")}}})
		require.ErrorContains(t, err, problem, text)
	}
}
