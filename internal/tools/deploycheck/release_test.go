package deploycheck_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
	"github.com/stretchr/testify/require"
)

// Loading is strict: a key unknown to GoReleaser is an error.
func TestReleaseIsStaticForEachPlatformWithChecksumsAndSBOM(t *testing.T) {
	t.Parallel()

	project, err := config.Load(filepath.Join(root, ".goreleaser.yaml"))
	require.NoError(t, err)
	require.Equal(t, 2, project.Version)

	require.Len(t, project.Builds, 1)
	build := project.Builds[0]
	require.Equal(t, []string{"CGO_ENABLED=0"}, build.Env)
	require.ElementsMatch(t, []string{"linux", "darwin"}, []string(build.Goos))
	require.ElementsMatch(t, []string{"amd64", "arm64"}, []string(build.Goarch))
	require.Contains(t, build.Flags, "-trimpath")
	require.DirExists(t, filepath.Join(root, build.Main))

	require.Equal(t, "sha256", project.Checksum.Algorithm)
	require.Equal(t, "archive", project.SBOMs[0].Artifacts)
	require.Equal(t, "source", project.SBOMs[1].Artifacts)

	for _, archive := range project.Archives {
		require.True(t, slices.ContainsFunc(archive.Files, func(f config.File) bool { return filepath.Base(f.Source) == licences && f.StripParent }))

		for _, file := range archive.Files {
			found, err := filepath.Glob(filepath.Join(root, file.Source))
			require.NoError(t, err)
			require.NotEmpty(t, found, file.Source)
		}
	}
}
