package mask

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/corpus"
)

// seeds adds one sample of each kind.
func seeds(f *testing.F) {
	f.Helper()

	seen := map[string]bool{}

	for _, sample := range append(corpus.Samples(5), corpus.Hard(5)...) {
		if !seen[sample.Kind] {
			seen[sample.Kind] = true

			f.Add(sample.Text)
		}
	}

	for _, manifest := range manifestsUnderTest {
		f.Add(manifest)
	}
}

// FuzzText checks that for any text, masking succeeds, keeps UTF-8 valid, and finds nothing more when repeated.
func FuzzText(f *testing.F) {
	seeds(f)

	m := newMasker(f, Config{Alerts: Rules{Enabled: true, Groups: []string{"all", "gitleaks"}}})

	f.Fuzz(func(t *testing.T, text string) {
		failed := m.Failures()
		once := written(m, text)
		require.Equal(t, failed, m.Failures())
		require.True(t, utf8.ValidString(once) || !utf8.ValidString(text), "%q became %q", text, once)
		require.Equal(t, once, written(m, once), "%q", text)

		if !strings.Contains(once, markerStart) {
			require.Equal(t, text, once)
		}
	})
}

// FuzzKubernetes checks that what the structural masker leaves is in the text, in the same order.
func FuzzKubernetes(f *testing.F) {
	seeds(f)

	f.Fuzz(func(t *testing.T, text string) {
		masked := splice(text, kubernetesSpans(text))
		require.Equal(t, masked, splice(masked, kubernetesSpans(masked)), "%q", text)

		rest := text

		for piece := range strings.SplitSeq(masked, marker(secretData)) {
			_, after, ok := strings.Cut(rest, piece)
			require.True(t, ok, "%q became %q", text, masked)

			rest = after
		}
	})
}

// FuzzSecret checks that a configured value is masked, whatever surrounds it.
func FuzzSecret(f *testing.F) {
	f.Add("before ", " after", "Xk29fLq8Zt71")
	f.Add("s3cr", "t", "s3crs3crt")
	f.Add("{\"a\":\"", "\"}", "a \"quoted\" value")

	f.Fuzz(func(t *testing.T, before, after, secret string) {
		secret = strings.TrimSpace(secret)
		if len(secret) < shortestSecret || len(secret) > 1000 || ordinary(secret) || strings.Contains(marker("secret"), secret) {
			t.Skip("no value that is masked by match")
		}

		m := newMasker(t, Config{Secrets: []string{secret}})
		require.NotContains(t, written(m, before+secret+after), secret)
	})
}
