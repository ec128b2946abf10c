package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	quotedText = regexp.MustCompile(`"([^"]+)"`)
	// joined matches the concatenation between the parts of a string that spans several lines.
	joined = regexp.MustCompile("[\"`] \\+\\s*[\"`]")
)

// People search a page for the message that they see, so what troubleshooting.md quotes must occur in the program; …
// replaces text that varies.
func TestTroubleshootingQuotesProgram(t *testing.T) {
	t.Parallel()

	var sources strings.Builder

	for _, file := range files(t, func(name string) bool {
		kind := filepath.Ext(name)

		return (kind == ".go" || kind == ".tsx" || kind == ".ts") && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, ".test.")
	}) {
		sources.WriteString(read(t, file) + "\n")
	}

	program := joined.ReplaceAllString(sources.String(), "")

	for _, line := range prose(read(t, "troubleshooting.md")) {
		text := linkText.ReplaceAllString(codeSpan.ReplaceAllString(line, ""), "")

		for _, quoted := range quotedText.FindAllStringSubmatch(text, -1) {
			for part := range strings.SplitSeq(quoted[1], "…") {
				assert.True(t, strings.Contains(program, strings.TrimSpace(part)), "troubleshooting.md quotes %q", quoted[1]) //nolint:testifylint // shows no book
			}
		}
	}
}
