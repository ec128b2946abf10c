package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	settingRow  = regexp.MustCompile("(?m)^\\| `([a-z_]+[^` ]*)` \\|")
	placeholder = regexp.MustCompile(`<[^>]*>`)
	item        = regexp.MustCompile(`\[\d*\]`)
	metricRow   = regexp.MustCompile("(?m)^\\| `(tarsy_[a-z_]+)` \\|")
	metricName  = regexp.MustCompile("`(tarsy_[a-z_]+?)(?:_bucket|_sum|_count)?[`{]")
)

// The reference in configuration.md is generated from the program, so a setting that it lacks does not exist.
func TestDocumentsNameOnlyExistingSettings(t *testing.T) {
	t.Parallel()

	known, sections := map[string]bool{}, map[string]bool{}

	for _, row := range settingRow.FindAllStringSubmatch(read(t, "configuration.md"), -1) {
		key := shape(row[1])
		section, _, _ := strings.Cut(key, ".")
		sections[section] = true

		for known[key] = true; strings.Contains(key, "."); known[key] = true {
			key = key[:strings.LastIndex(key, ".")]
		}
	}

	require.True(t, known["alerts.receivers.*.mapping.title"], "the reference of configuration.md is not read")

	for _, document := range currentDocuments(t) {
		for _, span := range ticked.FindAllStringSubmatch(strings.Join(prose(read(t, document)), "\n"), -1) {
			section, _, dotted := strings.Cut(span[1], ".")
			if !dotted || !sections[section] || strings.ContainsAny(span[1], " :/…") {
				continue
			}

			assert.True(t, isSetting(known, shape(span[1])), "%s names the setting %s", document, span[1])
		}
	}
}

// metrics.md lists every metric, so one that it lacks does not exist.
func TestDocumentsNameOnlyListedMetrics(t *testing.T) {
	t.Parallel()

	listed := map[string]bool{"tarsy_login": true, "tarsy_session": true} // cookies
	for _, row := range metricRow.FindAllStringSubmatch(read(t, "metrics.md"), -1) {
		listed[row[1]] = true
	}

	for _, document := range currentDocuments(t) {
		for _, name := range metricName.FindAllStringSubmatch(read(t, document), -1) {
			assert.True(t, listed[name[1]], "%s names the metric %s", document, name[1])
		}
	}
}

// currentDocuments returns the documents that describe the product as it is now.
func currentDocuments(t *testing.T) []string {
	t.Helper()

	all, err := filepath.Glob("*.md")
	require.NoError(t, err)

	return append(all, "../README.md", "../ARCHITECTURE.md", "../CONTRIBUTING.md", "../SECURITY.md")
}

// shape replaces the user-chosen names in a setting by *, and removes the indexes of items.
func shape(setting string) string {
	return item.ReplaceAllString(placeholder.ReplaceAllString(setting, "*"), "")
}

// isSetting reports whether a setting is known, as it is or with one part, a user-chosen name, replaced by *.
func isSetting(known map[string]bool, setting string) bool {
	if known[setting] {
		return true
	}

	parts := strings.Split(setting, ".")

	for i, part := range parts {
		if part == "*" {
			continue
		}

		parts[i] = "*"
		if known[strings.Join(parts, ".")] {
			return true
		}

		parts[i] = part
	}

	return false
}
