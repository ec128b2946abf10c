package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/eventschema"
)

var (
	shownByTest    = regexp.MustCompile("^`(Test[A-Z]\\w+)` in `([a-z0-9/-]+)`$")
	shownByPage    = regexp.MustCompile("^`(web/[\\w./-]+\\.test\\.tsx?)`$")
	shownByCommand = regexp.MustCompile("^`make ([a-z][a-z0-9-]*)`$")
)

const (
	featureTable = "internals/features.md" // every feature with its tests
	featurePage  = "features.md"           // what readers see
)

// feature is a row of the table.
type feature struct{ what, shown string }

func features(t *testing.T) []feature {
	t.Helper()

	var rows []feature

	for line := range strings.Lines(read(t, featureTable)) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| feature |") || strings.HasPrefix(line, "| ---") {
			continue
		}

		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		require.Len(t, cells, 2, line)
		rows = append(rows, feature{strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])})
	}

	require.NotEmpty(t, rows)

	return rows
}

func TestEveryFeatureNamesAnExistingTest(t *testing.T) {
	t.Parallel()

	packages, makefile := testsByPackage(t), read(t, "../Makefile")

	for _, row := range features(t) {
		assert.NotEmpty(t, row.what)

		for shown := range strings.SplitSeq(row.shown, "; ") {
			test, command := shownByTest.FindStringSubmatch(shown), shownByCommand.FindStringSubmatch(shown)
			page := shownByPage.FindStringSubmatch(shown)

			switch {
			case page != nil:
				assert.FileExists(t, "../"+page[1], row.what)
			case test != nil:
				assert.True(t, packages[test[2]][test[1]], "%s: there is no %s in %s", row.what, test[1], test[2])
			case command != nil:
				assert.Regexp(t, `(?m)^`+command[1]+`:`, makefile, row.what)
			default:
				assert.Fail(t, "a feature is shown by tests or commands", "%s: %s", row.what, shown)
			}
		}
	}
}

func TestFeaturesAreOnePage(t *testing.T) {
	t.Parallel()

	assert.LessOrEqual(t, strings.Count(read(t, featurePage), "\n"), 90, "move details to %s", featureTable)
}

func TestFeaturesNameEveryStatusAndEvent(t *testing.T) {
	t.Parallel()

	var names []string

	for _, s := range tarsy.SessionStatuses() {
		names = append(names, string(s))
	}

	for _, k := range eventschema.Kinds() {
		names = append(names, k.Type)
	}

	for _, s := range eventschema.Timeline() {
		names = append(names, string(s.Type))
	}

	text := read(t, featureTable)
	for _, name := range names {
		assert.True(t, strings.Contains(text, "`"+name+"`"), "%s does not mention %s", featureTable, name) //nolint:testifylint // shows no book
	}
}

// TestNotYetListsTheKeysWithoutEffect checks that the section lists exactly the keys without effect, with at least one in each item.
func TestNotYetListsTheKeysWithoutEffect(t *testing.T) {
	t.Parallel()

	idle := map[string]bool{"label_maps": true, "action": true} // a separate section, and a value

	marked := regexp.MustCompile("(?m)^\\| `[^`]*?([a-z_]+)` .*has no effect yet")
	for _, found := range marked.FindAllStringSubmatch(read(t, "configuration.md"), -1) {
		idle[found[1]] = true
	}

	_, section, found := strings.Cut(read(t, featurePage), "## Not yet")
	require.True(t, found)

	key := regexp.MustCompile("`([a-z_]+)`")
	listed := map[string]bool{}

	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "- ") {
			continue
		}

		names := key.FindAllStringSubmatch(line, -1)
		assert.NotEmpty(t, names, "no key without effect: %s", line)

		for _, name := range names {
			assert.True(t, idle[name[1]], "%s has an effect: %s", name[1], line)
			listed[name[1]] = true
		}
	}

	assert.Equal(t, idle, listed)
}
