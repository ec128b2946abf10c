package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"tarsy.dev/tarsy/internal/kit/corpus"
)

func TestReportPassesForProduct(t *testing.T) {
	t.Parallel()

	var out, problems bytes.Buffer

	assert.Equal(t, 0, run([]string{"-seed", "2"}, &out, &problems), "%s", &problems)
	assert.Equal(t, 0, run([]string{"-seed", "2", "-hard"}, &out, &problems), "%s", &problems)
	assert.Regexp(t, `(?m)^all +\d+ +\d+ +[01]\.\d{3} +\d+ +\d+ +[01]\.\d{3}$`, out.String())
	assert.Equal(t, 2, run([]string{"-nonsense"}, &out, &problems))
}

func TestReportFailsForBadMasker(t *testing.T) {
	t.Parallel()

	samples := []corpus.Sample{
		{Kind: "password", Text: "password=Xk29fLq8Zt71", Secrets: []string{"Xk29fLq8Zt71"}},
		{Kind: "benign", Text: "nothing to hide here"},
	}

	for name, c := range map[string]struct {
		masker func(string) (string, error)
		want   string
	}{
		"hides nothing":  {func(text string) (string, error) { return text, nil }, "wanted a recall"},
		"hides too much": {func(string) (string, error) { return "[MASKED_ALL]", nil }, "wanted a recall"},
		"leaves a part":  {func(string) (string, error) { return "password=[MASKED_PASSWORD]fLq8Zt71", nil }, "wanted a recall"},
		"fails":          {func(string) (string, error) { return "", errors.New("out of order") }, "out of order"},
	} {
		var out, problems bytes.Buffer

		assert.Equal(t, 1, report(samples, c.masker, true, &out, &problems), name)
		assert.Contains(t, problems.String(), c.want, name)
	}
}
