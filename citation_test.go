package tarsy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestCallLabelNamesStageAgentAndPosition(t *testing.T) {
	t.Parallel()

	require.Equal(t, "1.2.3", tarsy.CallNumber(1, 2, 3))
	require.Equal(t, []string{"12.1.40"}, tarsy.CitedCalls("so it is "+tarsy.CallMark(tarsy.CallNumber(12, 1, 40))), "what is written is what is read")
}

func TestCitationMarksAreParsedAsModelsWriteThem(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one":                        {"The disk is full [call 1.2.3].", []string{"1.2.3"}},
		"several in a mark":          {"[call 1.2.3, 1.2.5]", []string{"1.2.3", "1.2.5"}},
		"two joined by a word":       {"[calls 1.1.1 and 1.1.2]", []string{"1.1.1", "1.1.2"}},
		"a list with a last word":    {"[calls 1.1.1, 1.1.2, and 1.1.3]", []string{"1.1.1", "1.1.2", "1.1.3"}},
		"any case":                   {"[CALL 1.1.1] [Calls 1.1.2 AND 1.1.3]", []string{"1.1.1", "1.1.2", "1.1.3"}},
		"spaces":                     {"[ call  1.1.1 ,1.1.2 ]", []string{"1.1.1", "1.1.2"}},
		"a wrapped line":             {"[call\n1.1.1,\n1.1.2]", []string{"1.1.1", "1.1.2"}},
		"each once, as they appear":  {"[call 2.1.9] [call 1.1.1] [call 2.1.9, 1.1.2]", []string{"2.1.9", "1.1.1", "1.1.2"}},
		"one after the other":        {"[call 1.1.1][call 1.1.2]", []string{"1.1.1", "1.1.2"}},
		"a mark within brackets":     {"[[call 1.1.1]]", []string{"1.1.1"}},
		"a mark after a broken one":  {"[call 1.1.1, [call 1.1.2]", []string{"1.1.2"}},
		"emphasised":                 {"**[call 1.1.1]**", []string{"1.1.1"}},
		"none":                       {"All is well.", nil},
		"no text":                    {"", nil},
		"no brackets":                {"call 1.1.1 said so", nil},
		"another word":               {"[step 1.1.1] [recall 1.1.1]", nil},
		"no word":                    {"[1.1.1]", nil},
		"not a call's number":        {"[call 1.1] [call 1.1.1.1] [call 0.1.1] [call 01.1.1] [call 1.1.0] [call a.b.c]", nil},
		"a number beyond all bounds": {"[call 1.1.12345678901234567890]", nil},
		"a range":                    {"[call 1.1.1-1.1.3]", nil},
		"a word that is not one":     {"[call 1.1.1 and1.1.2] [call 1.1.1and 1.1.2] [call 1.1.1,, 1.1.2] [call 1.1.1,]", nil},
		"no space between":           {"[call1.1.1] [calls1.1.1] [callss 1.1.1]", nil},
		"numbers without a comma":    {"[call 1.1.1 1.1.2]", nil},
		"other letters":              {"[callſ 1.1.1] [CALLS 1.1.2]", []string{"1.1.2"}},
		"words besides the calls":    {"[call 1.1.1 says so]", nil},
		"no end":                     {"[call 1.1.1", nil},
		"a link":                     {"[call 1.1.1](https://evil.example)", nil},
		"other digits":               {"[call １.１.１]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, tarsy.CitedCalls(c.text))
		})
	}
}

func TestCitationMarksInFencedCodeAreIgnored(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"fenced":                    {"[call 1.1.1]\n```\n[call 6.6.6]\n```\n[call 1.1.2]", []string{"1.1.1", "1.1.2"}},
		"with a language":           {"```text\n[call 6.6.6]\n```\n[call 1.1.1]", []string{"1.1.1"}},
		"tildes":                    {"~~~\n[call 6.6.6]\n~~~\n[call 1.1.1]", []string{"1.1.1"}},
		"in a list":                 {"- a\n\n      ```\n      [call 6.6.6]\n      ```\n- [call 1.1.1]", []string{"1.1.1"}},
		"a shorter fence within":    {"````\n```\n[call 6.6.6]\n```\n[call 6.6.7]\n````\n[call 1.1.1]", []string{"1.1.1"}},
		"another fence within":      {"```\n~~~\n[call 6.6.6]\n```\n[call 1.1.1]", []string{"1.1.1"}},
		"what looks like a closing": {"```\n``` no\n[call 6.6.6]\n```\n[call 1.1.1]", []string{"1.1.1"}},
		"never closed":              {"[call 1.1.1]\n```\n[call 6.6.6]", []string{"1.1.1"}},
		"code within a line":        {"```x``` [call 1.1.1]\n[call 1.1.2]", []string{"1.1.1", "1.1.2"}},
		"parted by a fence":         {"[call\n```\n```\n1.1.1]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, tarsy.CitedCalls(c.text))
		})
	}
}

func TestHostileTextIsParsedInBoundedTimeAndMemory(t *testing.T) {
	t.Parallel()

	const size = 1 << 20

	var distinct strings.Builder
	for i := 1; distinct.Len() < size; i++ {
		fmt.Fprintf(&distinct, "[call 1.%d.%d]", 1+i%1000, 1+i/1000)
	}

	for name, c := range map[string]struct {
		text string
		most int
	}{
		"brackets":          {strings.Repeat("[", size), 0},
		"beginnings":        {strings.Repeat("[call ", size/6), 0},
		"spaces":            {"[call " + strings.Repeat(" ", size), 0},
		"spaces and marks":  {strings.Repeat("[ ", size/2), 0},
		"a list that never": {"[call 1.1.1" + strings.Repeat(", 1.1.1", size/7), 0},
		"digits":            {"[call 1.1." + strings.Repeat("1", size) + "]", 0},
		"the same mark":     {strings.Repeat("[call 1.1.1]", size/12), 1},
		"a long list":       {"[call 1.1.1" + strings.Repeat(", 1.1.1", size/7) + "]", 1},
		"distinct marks":    {distinct.String(), 200},
		"fences":            {strings.Repeat("```\n", size/4), 0},
		"backticks":         {strings.Repeat("`", size), 0},
		"no UTF-8":          {strings.Repeat("[call \xff", size/7), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// A parser that rescans the text from each mark would take quadratic time and never finish.
			require.Len(t, tarsy.CitedCalls(c.text), c.most)
		})
	}
}

func TestWithoutMarksRemovesCallMarks(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"":                                  "",
		"It leaks [call 1.1.1].":            "It leaks.",
		"It [Call 1.1.1] leaks":             "It leaks",
		"[call 1.1.1]":                      "",
		"A [calls 1.1.1 and 1.2.1] B [x] C": "A B [x] C",
		"[call 1.1] [call 1.1.1":            "[call 1.1] [call 1.1.1",
		"[call 1.1.1](https://example.org)": "[call 1.1.1](https://example.org)",
		"[[call 1.1.1]]":                    "[]",
		"pods[0] is [OOMKilled]":            "pods[0] is [OOMKilled]",
	} {
		require.Equal(t, want, tarsy.WithoutMarks(text), text)
	}

	require.Len(t, tarsy.WithoutMarks(strings.Repeat("[ ", 1<<20)), 1<<21-1, "in linear time")
}
