package web_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/web"
)

func TestThereIsAPageWhetherItWasBuiltOrNot(t *testing.T) {
	t.Parallel()

	text, err := fs.ReadFile(web.Files(), web.Index)
	require.NoError(t, err)
	require.Contains(t, string(text), `<meta property="csp-nonce" content="__CSP_NONCE__"`, "the server puts the nonce there")
}

// What the policy of the page forbids would only be seen in a browser's console.
func TestThePageHasNothingInlineAndNothingFromOutside(t *testing.T) {
	t.Parallel()

	for name, files := range map[string]fs.FS{"the page": web.Files(), "the placeholder": web.Placeholder()} {
		text, err := fs.ReadFile(files, web.Index)
		require.NoError(t, err, name)

		for _, forbidden := range []string{`<style`, `\sstyle=`, `<script>`, `\son\w+=`, `(?:src|href)="(?:https?:)?//`, `javascript:`} {
			require.NotRegexp(t, "(?i)"+forbidden, string(text), name)
		}

		for _, link := range regexp.MustCompile(`(?:src|href)="/([^"]+)"`).FindAllSubmatch(text, -1) {
			if strings.HasPrefix(string(link[1]), "api/") {
				continue // the server answers it
			}

			_, err := fs.Stat(files, string(link[1]))
			require.NoError(t, err, "%s refers to a file that is not there", name)
		}
	}
}

func TestThePlaceholderSaysHowToGetThePage(t *testing.T) {
	t.Parallel()

	text, err := fs.ReadFile(web.Placeholder(), web.Index)
	require.NoError(t, err)
	require.Contains(t, string(text), "make web")
}
