package licenses_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/licenses"
)

func TestPartsHaveLicenceAndTexts(t *testing.T) {
	t.Parallel()

	parts, err := licenses.Parts()
	require.NoError(t, err)

	kinds := map[string]int{}

	for _, p := range parts {
		require.NotEmpty(t, p.License, p.Name)
		require.NotEmpty(t, p.Texts, p.Name)

		for _, text := range p.Texts {
			require.Greater(t, len(text), 80, "%s has a text that is none: %q", p.Name, text)
		}

		kinds[p.Kind]++
	}

	require.Greater(t, kinds[licenses.KindGo], 50)
	require.Greater(t, kinds[licenses.KindNPM], 50)
	require.Equal(t, 1, kinds[licenses.KindData], "the rules of gitleaks")
	require.Len(t, kinds, 3)
}

func TestFormattedPartsAreParsed(t *testing.T) {
	t.Parallel()

	parts := []licenses.Part{
		{Kind: licenses.KindGo, Name: "Go standard library", Version: "-", License: "BSD-3-Clause", Texts: []string{"first\n\nparagraph", "second"}},
		{Kind: licenses.KindNPM, Name: "@scope/name", Version: "1.0.0", License: "Apache-2.0 AND MIT", Texts: []string{"second"}},
	}

	text, err := licenses.Format("About.", parts)
	require.NoError(t, err)

	parsed, err := licenses.Parse(text)
	require.NoError(t, err)
	require.Equal(t, parts, parsed)
}

func TestBrokenFileIsReported(t *testing.T) {
	t.Parallel()

	for _, file := range []string{"", "\n======== Contents\n\ngo  name\n", "\n======== Contents\n\ngo  name  v1  MIT  1\n"} {
		_, err := licenses.Parse(file)
		require.ErrorContains(t, err, licenses.File)
	}

	_, err := licenses.Format("", []licenses.Part{{Name: "hostile", Texts: []string{"a\n======== Text 1\n"}}})
	require.ErrorContains(t, err, "hostile")
}
