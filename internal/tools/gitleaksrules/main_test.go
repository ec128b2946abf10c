package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/mask/gitleaks"
)

func TestEmbeddedRulesMatchGenerator(t *testing.T) {
	t.Parallel()

	want, err := generate(t.Context())
	if errors.Is(err, errDownload) {
		t.Skip("the gitleaks module cannot be downloaded here:", err)
	}

	require.NoError(t, err)

	got, err := os.ReadFile(filepath.Join("..", "..", "mask", "gitleaks", "rules.json"))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got), "rules.json is out of date: run go generate ./internal/mask/gitleaks")
}

func TestConvertKeepsRulesForAnyText(t *testing.T) {
	t.Parallel()

	file, err := convert([]byte(`
title = "rules"
[allowlist]
paths = ['go\.sum']
regexes = ['^null$']
[[rules]]
id = "vendor-key"
regex = 'vk_([a-z]{8})'
secretGroup = 1
entropy = 3.5
keywords = ["VK_"]
[[rules.allowlists]]
condition = "AND"
regexTarget = "line"
regexes = ['example']
stopwords = ["Sample", "sample", "demo"]
[[rules.allowlists]]
condition = "AND"
paths = ['_test\.go']
regexes = ['never applies']
[[rules]]
id = "of-a-file"
path = '\.p12$'
[[rules]]
id = "everywhere"
regex = 'x'
[[rules]]
id = "private-key"
regex = 'BEGIN'
keywords = ["begin"]
`))
	require.NoError(t, err)
	assert.Equal(t, gitleaks.File{
		Allowlist: gitleaks.Allowlist{Regexes: []string{"^null$"}, StopWords: []string{}},
		Rules: []gitleaks.Rule{{
			ID: "vendor-key", Keywords: []string{"vk_"}, Regex: `vk_([a-z]{8})`, SecretGroup: 1, Entropy: 3.5,
			Allowlists: []gitleaks.Allowlist{{All: true, Target: "line", Regexes: []string{"example"}, StopWords: []string{"demo", "sample"}}},
		}},
	}, file)
}

func TestConvertRefusesUnknownKeys(t *testing.T) {
	t.Parallel()

	_, err := convert([]byte("[[rules]]\nid = \"new\"\nwithin_lines = 3\n"))
	require.ErrorContains(t, err, "within_lines")
}

func TestRunRefusesUnknownFlags(t *testing.T) {
	t.Parallel()

	var out, problems bytes.Buffer

	assert.Equal(t, 2, run(t.Context(), []string{"-nonsense"}, &out, &problems))
	assert.Empty(t, out.String())
}
