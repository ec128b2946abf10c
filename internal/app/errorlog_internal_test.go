package app

import (
	"log/slog"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/corpus"
	"tarsy.dev/tarsy/internal/mask"
)

func TestLoggedErrorsAreShownWithoutSecrets(t *testing.T) {
	t.Parallel()

	masker, err := mask.New(mask.Config{Default: mask.DefaultRules()})
	require.NoError(t, err)

	for _, sample := range corpus.Samples(7) {
		kept := &errorLog{}
		log := slog.New(errorHandler{Handler: slog.DiscardHandler, log: kept})
		log.Error("a call failed", "error", sample.Text)
		log.With("output", sample.Text).Error("a program failed")

		lines := kept.masked(masker)
		require.Len(t, lines, 2)

		for _, line := range lines {
			for _, secret := range sample.Secrets {
				require.NotContains(t, line.Text, secret, "%s in %s", sample.Kind, sample.Context)
			}
		}
	}
}

func TestLastErrorsAreKept(t *testing.T) {
	t.Parallel()

	kept := &errorLog{}
	log := slog.New(errorHandler{Handler: slog.DiscardHandler, log: kept})

	log.Warn("not an error")

	for i := range maxErrors + 5 {
		log.Error("error " + strconv.Itoa(i))
	}

	lines := kept.all()
	require.Len(t, lines, maxErrors)
	require.Equal(t, "error 5", lines[0].text)
}
