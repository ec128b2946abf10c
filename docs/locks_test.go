package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// npm leaves packages for other platforms, or their integrity, out of a lock file if it does not find them on the machine
// that writes it. On those platforms it would then install them unverified.
func TestPackageLocksCoverEveryPlatform(t *testing.T) {
	t.Parallel()

	locks, err := filepath.Glob("../scripts/*/package-lock.json")
	require.NoError(t, err)

	for _, file := range append(locks, "../web/package-lock.json") {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)

		var lock struct {
			Packages map[string]struct {
				Integrity            string
				Link                 bool
				OptionalDependencies map[string]string
			}
		}

		require.NoError(t, json.Unmarshal(raw, &lock))
		require.NotEmpty(t, lock.Packages, file)

		for place, entry := range lock.Packages {
			require.True(t, place == "" || entry.Link || entry.Integrity != "", "%s: %s has no integrity", file, place)

			for name := range entry.OptionalDependencies {
				_, own := lock.Packages[place+"/node_modules/"+name]
				_, shared := lock.Packages["node_modules/"+name]
				require.True(t, own || shared, "%s: %s of %s is missing", file, name, place)
			}
		}
	}
}
