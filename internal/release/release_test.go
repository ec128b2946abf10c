package release_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/release"
)

const (
	root      = "../../"
	changelog = root + "CHANGELOG.md"
)

// heading matches the heading of a release, such as 1.2.3 - 2026-11-19.
var heading = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$`)

func read(t *testing.T, path string) string {
	t.Helper()

	raw, err := os.ReadFile(path)
	require.NoError(t, err)

	return string(raw)
}

func TestVersionIsNewestReleaseOfChangelog(t *testing.T) {
	t.Parallel()

	newest := heading.FindStringSubmatch(read(t, changelog))
	require.NotNil(t, newest, "%s has no release", changelog)
	require.Equal(t, release.Version, newest[1], "internal/release must have the version of %s", changelog)
}

// Each file repeats the version because the program that reads it looks nowhere else.
func TestFilesHaveVersionOfRelease(t *testing.T) {
	t.Parallel()

	for path, pattern := range map[string]string{
		"deploy/helm/tarsy/Chart.yaml": `(?m)^(?:version: |appVersion: ")([^"\n]+)`,
		"Dockerfile":                   `org\.opencontainers\.image\.version="([^"]+)"`,
		"docs/openapi.json":            `"title": "TARSy",\s+"version": "([^"]+)"`,
	} {
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, root+path), -1)
		require.NotEmpty(t, found, "%s has no version", path)

		for _, version := range found {
			require.Equal(t, release.Version, version[1], "%s has another version than %s", path, changelog)
		}
	}
}

func TestChangelogListsOperatorActions(t *testing.T) {
	t.Parallel()

	text := read(t, changelog)
	require.True(t, strings.Index(text, "\n## Unreleased\n") < heading.FindStringIndex(text)[0] && strings.Contains(text, "\n## Unreleased\n"),
		"what comes after a release is under Unreleased, above it")

	starts := heading.FindAllStringIndex(text, -1)
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}

		section := regexp.MustCompile(`(?m)^### (.+)$`).FindStringSubmatch(text[start[0]:end])
		require.NotNil(t, section, "%s has no sections", text[start[0]:start[1]])
		require.Equal(t, "What an operator must do", section[1], "the first section of %s", text[start[0]:start[1]])
	}
}
