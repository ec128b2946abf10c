package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/release"
)

const (
	releasesFile = "testdata/releases"
	// unreleased is the version of the build before the first release.
	unreleased = "unreleased"
)

// listedRelease is a line of the file.
type listedRelease struct{ version, commit string }

// listedReleases returns the releases that tests run next to this version, oldest first.
func listedReleases(t *testing.T) []listedRelease {
	t.Helper()

	raw, err := os.ReadFile(releasesFile)
	require.NoError(t, err)

	var releases []listedRelease

	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			require.Len(t, fields, 2, "%s: %q", releasesFile, line)
			require.Regexp(t, `^[0-9a-f]{40}$`, fields[1], releasesFile)
			releases = append(releases, listedRelease{version: fields[0], commit: fields[1]})
		}
	}

	require.NotEmpty(t, releases)

	return releases
}

// Without its line, the upgrade tests would not run the previous release.
func TestEachReleaseOfChangelogIsListed(t *testing.T) {
	t.Parallel()

	changelog, err := os.ReadFile("../CHANGELOG.md")
	require.NoError(t, err)

	want := []string{unreleased}

	headings := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) - `).FindAllStringSubmatch(string(changelog), -1)
	for _, heading := range slices.Backward(headings) {
		want = append(want, heading[1])
	}

	var listed []string
	for _, r := range listedReleases(t) {
		listed = append(listed, r.version)
	}

	if listed[len(listed)-1] != release.Version {
		listed = append(listed, release.Version) // its commit is known only once it is tagged
	}

	require.Equal(t, want, listed, "%s must have each release of CHANGELOG.md; the newest may be missing until it is tagged", releasesFile)
}
