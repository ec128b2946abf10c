package react

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// replyRow is a reply and its expected meaning.
type replyRow struct {
	text string
	want Reply
	// kept is the part of the reply that is kept, if that is not all.
	kept string
}

func acts(tool, input string) Reply { return Reply{Kind: Action, Tool: tool, Input: input} }
func says(answer string) Reply      { return Reply{Kind: Answer, Answer: answer} }
func malformed(what problem) Reply  { return Reply{problem: what} }

func actionRows() map[string]replyRow {
	return map[string]replyRow{
		"by the book":            {text: "Thought: look\nAction: box.look\nAction Input: {\"pod\":\"x\"}", want: acts("box.look", `{"pod":"x"}`)},
		"without a thought":      {text: "Action: box.look\nAction Input: {}", want: acts("box.look", "{}")},
		"small letters":          {text: "thought: look\naction: box.look\naction input: {}", want: acts("box.look", "{}")},
		"capitals":               {text: "THOUGHT: look\nACTION: box.look\nACTION INPUT: {}", want: acts("box.look", "{}")},
		"bold":                   {text: "**Thought:** look\n**Action:** box.look\n**Action Input:** {}", want: acts("box.look", "{}")},
		"bold before the colon":  {text: "**Thought**: look\n**Action**: box.look\n**Action Input**: {}", want: acts("box.look", "{}")},
		"headings of Markdown":   {text: "### Thought:\nlook\n### Action:\nbox.look\n### Action Input:\n{}", want: acts("box.look", "{}")},
		"a list":                 {text: "- Thought: look\n- Action: box.look\n- Action Input: {}", want: acts("box.look", "{}")},
		"a quotation":            {text: "> Thought: look\n> Action: box.look\n> Action Input: {}", want: acts("box.look", "{}")},
		"numbers":                {text: "Thought 1: look\nAction 1: box.look\nAction Input 1: {}", want: acts("box.look", "{}")},
		"blank lines":            {text: "\n\nThought: look\n\n\nAction: box.look\n\n\nAction Input:\n\n{\"a\": 1}\n\n", want: acts("box.look", `{"a": 1}`)},
		"CRLF":                   {text: "Thought: look\r\nAction: box.look\r\nAction Input: {\"a\":1}\r\n", want: acts("box.look", `{"a":1}`)},
		"CRLF in a plain input":  {text: "Action: box.look\r\nAction Input: a: 1\r\nb: 2\r\n", want: acts("box.look", "a: 1\nb: 2")},
		"indented":               {text: "  Thought: look\n  Action: box.look\n  Action Input: {}", want: acts("box.look", "{}")},
		"a wide colon":           {text: "Thought：見る\nAction：box.look\nAction Input：{}", want: acts("box.look", "{}")},
		"another language":       {text: "Thought: Ich muss die Pods prüfen.\nAction: box.look\nAction Input: {\"名前\":\"é\"}", want: acts("box.look", `{"名前":"é"}`)},
		"backticks":              {text: "Action: `box.look`\nAction Input: `{\"a\":1}`", want: acts("box.look", `{"a":1}`)},
		"a bold name":            {text: "Action: **box.look**\nAction Input: {}", want: acts("box.look", "{}")},
		"quotes":                 {text: "Action: \"box.look\"\nAction Input: {}", want: acts("box.look", "{}")},
		"brackets":               {text: "Action: [box.look]\nAction Input: {}", want: acts("box.look", "{}")},
		"a full stop":            {text: "Action: box.look.\nAction Input: {}", want: acts("box.look", "{}")},
		"a colon after the name": {text: "Action: box.look:\nAction Input: {}", want: acts("box.look", "{}")},
		"underscores":            {text: "Action: box__look\nAction Input: {}", want: acts("box__look", "{}")},
		"a name of three parts":  {text: "Action: my.box__look/deep\nAction Input: {}", want: acts("my.box__look/deep", "{}")},
		"a sentence as a name":   {text: "Action: I will use the `box.look` tool.\nAction Input: {}", want: acts("box.look", "{}")},
		"a comment after it":     {text: "Action: box.look (to see the pods)\nAction Input: {}", want: acts("box.look", "{}")},
		"no tool's name":         {text: "Action: restart the pod\nAction Input: {}", want: acts("restart the pod", "{}")},
		"a name in a fence":      {text: "Action:\n```\nbox.look\n```\nAction Input:\n```json\n{\"a\":1}\n```", want: acts("box.look", `{"a":1}`)},
		"an input in a fence":    {text: "Action: box.look\nAction Input: ```json\n{\"a\":1}\n```", want: acts("box.look", `{"a":1}`)},
		"a fence in one line":    {text: "Action: box.look\nAction Input: ```{\"a\":1}```", want: acts("box.look", `{"a":1}`)},
		"a named fence in one line": {
			text: "Action: box.look\nAction Input: ```json {\"a\":1}```", want: acts("box.look", `{"a":1}`),
		},
		"YAML in a fence": {
			text: "Action: box.apply\nAction Input:\n```yaml\nkind: Pod\nAction: none\nObservation: x\n```\n",
			want: acts("box.apply", "kind: Pod\nAction: none\nObservation: x"),
		},
		"a fence that never ends": {
			text: "Action: box.look\nAction Input:\n```json\n{\"a\":1}", want: acts("box.look", `{"a":1}`),
		},
		"all in a fence":       {text: "```\nThought: look\nAction: box.look\nAction Input: {}\n```", want: acts("box.look", "{}")},
		"JSON over many lines": {text: "Action: box.look\nAction Input: {\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}", want: acts("box.look", "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}")},
		"headings inside JSON": {
			text: "Action: box.say\nAction Input: {\"text\":\"\",\n\"Observation: x\":1,\n\"b\":\"Final Answer: no\"}",
			want: acts("box.say", "{\"text\":\"\",\n\"Observation: x\":1,\n\"b\":\"Final Answer: no\"}"),
		},
		"YAML with keys like headings": {
			text: "Action: box.apply\nAction Input: kind: Rule\naction: restart\nthought: none\nspec:\n  n: 1",
			want: acts("box.apply", "kind: Rule\naction: restart\nthought: none\nspec:\n  n: 1"),
		},
		"key and value":              {text: "Action: box.look\nAction Input: pod=x, n=3", want: acts("box.look", "pod=x, n=3")},
		"text":                       {text: "Action: box.look\nAction Input: the pod named x", want: acts("box.look", "the pod named x")},
		"broken JSON":                {text: "Action: box.look\nAction Input: {'a': 1,}", want: acts("box.look", "{'a': 1,}")},
		"an array":                   {text: "Action: box.look\nAction Input: [1, 2]", want: acts("box.look", "[1, 2]")},
		"no input":                   {text: "Thought: look\nAction: box.look", want: acts("box.look", "")},
		"an empty input":             {text: "Thought: look\nAction: box.look\nAction Input:", want: acts("box.look", "")},
		"the input in the same line": {text: "Action: box.look Action Input: {\"a\":1}", want: acts("box.look", `{"a":1}`)},
		"the input in the same line, bold": {
			text: "**Action:** box.look **Action Input:** {\"a\":1}", want: acts("box.look", `{"a":1}`),
		},
		"the input without its heading":          {text: "Action: box.look {\"a\":1}", want: acts("box.look", `{"a":1}`)},
		"the input without its heading, below":   {text: "Action: box.look\n{\"a\":\n1}", want: acts("box.look", "{\"a\":\n1}")},
		"the input without its heading, a fence": {text: "Action: box.look\n```json\n{\"a\":1}\n```", want: acts("box.look", `{"a":1}`)},
		"a call as in a program":                 {text: "Action: box.look({\"a\":1})", want: acts("box.look", `{"a":1}`)},
		"a call with pairs":                      {text: "Action: box.look(pod=x)", want: acts("box.look", "pod=x")},
		"a call that is not closed":              {text: "Action: box.look(pod=x", want: acts("box.look", "pod=x")},
		"a call with nothing":                    {text: "Action: box.look()\nAction Input: {\"a\":1}", want: acts("box.look", `{"a":1}`)},
		"in the middle of a line":                {text: "Thought: I look. Action: box.look\nAction Input: {}", want: acts("box.look", "{}")},
		"all in one line": {
			text: "Thought: I look. Action: box.look Action Input: {\"a\":1}", want: acts("box.look", `{"a":1}`),
		},
		"thoughts in tags": {
			text: "<think>\nAction: not this\nFinal Answer: nor this\n</think>\nAction: box.look\nAction Input: {}", want: acts("box.look", "{}"),
		},
		"an observation told again before it": {
			text: "Observation: the pods are down.\nThought: look\nAction: box.look\nAction Input: {}", want: acts("box.look", "{}"),
		},
	}
}

func cutRows() map[string]replyRow {
	const asked = "Thought: look\nAction: box.look\nAction Input: {\"a\":1}"

	return map[string]replyRow{
		"an invented observation": {
			text: asked + "\nObservation: the pod is fine\nThought: so it is fine", want: acts("box.look", `{"a":1}`), kept: asked,
		},
		"an invented observation in bold": {text: asked + "\n\n**Observation:** fine", want: acts("box.look", `{"a":1}`), kept: asked},
		"an answer after the action": {
			text: asked + "\nObservation: fine\nFinal Answer: all is fine", want: acts("box.look", `{"a":1}`), kept: asked,
		},
		"an answer right after the action": {text: asked + "\nFinal Answer: all is fine", want: acts("box.look", `{"a":1}`), kept: asked},
		"several actions": {
			text: asked + "\nAction: box.change\nAction Input: {\"b\":2}", want: acts("box.look", `{"a":1}`), kept: asked,
		},
		"talk after JSON": {text: asked + " and then I will see.", want: acts("box.look", `{"a":1}`), kept: asked},
		"an observation after a plain input": {
			text: "Action: box.look\nAction Input: pod: x\nobservation: fine", want: acts("box.look", "pod: x"),
			kept: "Action: box.look\nAction Input: pod: x",
		},
		"small letters throughout": {
			text: "action: box.look\naction input: pod=x\nthought: fine\nfinal answer: fine", want: acts("box.look", "pod=x"),
			kept: "action: box.look\naction input: pod=x",
		},
		"an observation without an input": {
			text: "Action: box.look\nObservation: fine", want: acts("box.look", ""), kept: "Action: box.look",
		},
		"talk after a name": {
			text: "Action: box.look\n\nI wait for the result.", want: acts("box.look", ""), kept: "Action: box.look",
		},
	}
}

func answerRows() map[string]replyRow {
	return map[string]replyRow{
		"by the book":           {text: "Thought: done\nFinal Answer: the pod is out of memory", want: says("the pod is out of memory")},
		"alone":                 {text: "Final Answer: done", want: says("done")},
		"small letters":         {text: "final answer: done", want: says("done")},
		"bold":                  {text: "**Final Answer:** done", want: says("done")},
		"bold, below":           {text: "**Final Answer**\n\n# Root cause\n\ntext", want: says("# Root cause\n\ntext")},
		"without a colon":       {text: "Thought: done\nFinal Answer\nthe pod", want: says("the pod")},
		"without a colon, text": {text: "Final Answer The pod is down", want: says("The pod is down")},
		"with a dash":           {text: "Final Answer - the pod is down", want: says("- the pod is down")},
		"with an underscore":    {text: "Final_Answer: done", want: says("done")},
		"CRLF":                  {text: "Thought: done\r\nFinal Answer: the\r\npod\r\n", want: says("the\r\npod")},
		"many lines":            {text: "Final Answer:\n## Cause\n\n- one\n- two\n", want: says("## Cause\n\n- one\n- two")},
		"another language":      {text: "Thought: 終わり\nFinal Answer: ポッドのメモリ不足です。", want: says("ポッドのメモリ不足です。")},
		"headings of its own": {
			text: "Final Answer: it is down.\nObservation: memory at 99 %\nAction: restart it", want: says("it is down.\nObservation: memory at 99 %\nAction: restart it"),
		},
		"before an action":        {text: "Final Answer: fine\nAction: box.look\nAction Input: {}", want: says("fine\nAction: box.look\nAction Input: {}")},
		"after no action":         {text: "Thought: done\nAction: None\nFinal Answer: fine", want: says("fine")},
		"after an empty action":   {text: "Thought: done\nAction:\nFinal Answer: fine", want: says("fine")},
		"after an action not due": {text: "Action: N/A\nAction Input: N/A\nFinal Answer: fine", want: says("fine")},
		"in the middle of a line": {text: "Thought: I know enough. Final Answer: fine", want: says("fine")},
		"in a fence":              {text: "```\nThought: done\nFinal Answer: fine\n```", want: says("fine")},
		"with a fence of its own": {text: "Final Answer: run\n```\nls\n```", want: says("run\n```\nls\n```")},
	}
}

func malformedRows() map[string]replyRow {
	return map[string]replyRow{
		"nothing":                      {text: "", want: malformed(problemEmpty)},
		"blanks":                       {text: " \r\n\t\n", want: malformed(problemEmpty)},
		"only text":                    {text: "The pod is out of memory.", want: malformed(problemHeadings)},
		"a word that is no heading":    {text: "Actionable: yes\nThoughtful: no\nFinal answers: none", want: malformed(problemHeadings)},
		"a sentence about the answer":  {text: "Final answer will follow.\nFinal Answer is not known yet.", want: malformed(problemHeadings)},
		"a sentence about actions":     {text: "The action: none of them helped", want: malformed(problemHeadings)},
		"only a thought":               {text: "Thought: I should look at the pods.", want: malformed(problemThought)},
		"an input without an action":   {text: "Thought: look\nAction Input: {}", want: malformed(problemInput)},
		"an action without a tool":     {text: "Thought: look\nAction:\n", want: malformed(problemNoTool)},
		"an input and no tool":         {text: "Action:\nAction Input: {}", want: malformed(problemInput)},
		"no action and no answer":      {text: "Thought: hm\nAction: none", want: malformed(problemThought)},
		"an answer without text":       {text: "Thought: done\nFinal Answer:", want: Reply{problem: problemNoAnswer, before: "Thought: done"}},
		"only an observation":          {text: "Observation: all is fine", want: malformed(problemObservation)},
		"an answer that was made up":   {text: "Thought: look\nObservation: all is fine\nFinal Answer: fine", want: malformed(problemObservation)},
		"an observation, then nothing": {text: "Observation: fine\nThought: hm", want: malformed(problemObservation)},
		"a fence and nothing":          {text: "```\n```", want: malformed(problemHeadings)},
	}
}

func TestRepliesAreParsed(t *testing.T) {
	t.Parallel()

	for kind, rows := range map[string]map[string]replyRow{
		"action": actionRows(), "cut": cutRows(), "answer": answerRows(), "malformed": malformedRows(),
	} {
		for name, row := range rows {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()

				if row.want.Kept = row.kept; row.kept == "" {
					row.want.Kept = row.text
				}

				require.Equal(t, row.want, Parse(row.text))
			})
		}
	}
}

func TestConclusionFallsBackToWholeText(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"Thought: done\nFinal Answer: fine":                     "fine",
		"all is fine":                                           "all is fine",
		"Thought: it is fine":                                   "Thought: it is fine",
		"Thought: it is fine\nFinal Answer:":                    "Thought: it is fine",
		"Final Answer:":                                         "",
		"Action: box.look\nAction Input: {}":                    "Action: box.look\nAction Input: {}",
		"Action: box.look\nObservation: up\nFinal Answer: fine": "Action: box.look\nObservation: up\nFinal Answer: fine",
		"": "",
	} {
		require.Equal(t, want, Parse(text).Conclusion(text), text)
	}
}

func TestCorrectionNamesEachProblem(t *testing.T) {
	t.Parallel()

	seen := map[string]problem{}

	for what := problemHeadings; what <= problemNoAnswer; what++ {
		text := malformed(what).Correction(true)
		require.Contains(t, text, replyFormat)
		require.NotContains(t, seen, text)
		require.NotContains(t, text, problemText(problemNone))
		require.Contains(t, malformed(what).Correction(false), answerFormat)
		require.NotContains(t, malformed(what).Correction(false), replyFormat)

		seen[text] = what
	}
}

func FuzzReplies(f *testing.F) {
	for _, rows := range []map[string]replyRow{actionRows(), cutRows(), answerRows(), malformedRows()} {
		for _, row := range rows {
			f.Add(row.text)
		}
	}

	f.Fuzz(func(t *testing.T, text string) {
		r := Parse(text)
		require.Equal(t, r, Parse(text), "parsing is deterministic")

		switch r.Kind {
		case Action:
			require.NotEmpty(t, strings.TrimSpace(r.Tool))
			require.NotContains(t, r.Tool, "\n")
			require.Empty(t, r.Answer)

			again := Parse(r.Kept)
			require.Equal(t, r.Tool, again.Tool, "what is kept asks for the same tool")
			require.Equal(t, r.Input, again.Input, "with the same input")
			require.Equal(t, r.Kept, again.Kept, "nothing more is cut")
		case Answer:
			require.NotEmpty(t, strings.TrimSpace(r.Answer))
			require.Contains(t, text, r.Answer)
			require.Equal(t, text, r.Kept)
		case Malformed:
			require.Equal(t, text, r.Kept)
		}

		if utf8.ValidString(text) {
			require.True(t, utf8.ValidString(r.Tool+r.Input+r.Answer+r.Kept+r.Conclusion(text)))
		}
	})
}
