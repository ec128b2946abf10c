package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// The kinds of grounding.
const (
	kindSearch = "google_search"
	kindFetch  = "url_context"
)

// natives collects what the API ran itself. Calls and their results are separate blocks; consecutive searches are reported
// together. Its methods return the chunks to send now.
type natives struct {
	// code is what each call of code execution runs, by the id of the call.
	code map[string]string
	// pending is what was searched or fetched since the last block of another kind.
	pending llm.GroundingChunk
	// sent are the pages already sent, cited those that texts cite.
	sent, cited []llm.Source
}

// begin handles the start of a block.
func (n *natives) begin(b *block) []llm.Chunk {
	switch b.kind {
	case "server_tool_use", "web_search_tool_result", "web_fetch_tool_result":
		return nil
	default:
		return n.flush()
	}
}

// finish handles the end of a block.
func (n *natives) finish(b *block) []llm.Chunk {
	switch b.kind {
	case "server_tool_use":
		return n.call(b)
	case "web_search_tool_result":
		return n.searched(b)
	case "web_fetch_tool_result":
		return n.fetched(b)
	case "code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result":
		return []llm.Chunk{n.ran(b)}
	default:
		return nil
	}
}

// rest returns what remains at the end: pages that a text cites but no result contained.
func (n *natives) rest() []llm.Chunk {
	chunks := n.flush()

	var left []llm.Source

	for _, source := range n.cited {
		if !contains(n.sent, source.URL) && !contains(left, source.URL) {
			left = append(left, source)
		}
	}

	if len(left) > 0 {
		chunks = append(chunks, llm.GroundingChunk{Kind: kindSearch, Sources: left})
	}

	return chunks
}

func contains(sources []llm.Source, address string) bool {
	return slices.ContainsFunc(sources, func(s llm.Source) bool { return s.URL == address })
}

// cite records a page that a text cites.
func (n *natives) cite(citation citation) {
	if citation.URL != "" {
		n.cited = append(n.cited, llm.Source{Title: string(citation.Title), URL: string(citation.URL)})
	}
}

// gather sets the kind of the pending grounding, and returns what was pending of the other kind.
func (n *natives) gather(kind string) []llm.Chunk {
	if n.pending.Kind == kind {
		return nil
	}

	chunks := n.flush()
	n.pending.Kind = kind

	return chunks
}

func (n *natives) flush() []llm.Chunk {
	grounding := n.pending
	n.pending = llm.GroundingChunk{}

	if len(grounding.Queries)+len(grounding.Sources) == 0 {
		return nil
	}

	n.sent = append(n.sent, grounding.Sources...)

	return []llm.Chunk{grounding}
}

// call records the input of a tool call.
func (n *natives) call(b *block) []llm.Chunk {
	var input struct {
		Query   string `json:"query"`
		Code    string `json:"code"`
		Command string `json:"command"`
	}

	raw := b.input()
	_ = json.Unmarshal([]byte(raw), &input)

	switch b.name {
	case "web_search":
		chunks := n.gather(kindSearch)
		if input.Query != "" {
			n.pending.Queries = append(n.pending.Queries, input.Query)
		}

		return chunks
	case "code_execution":
		n.remember(b.id, input.Code)
	case "bash_code_execution":
		n.remember(b.id, input.Command)
	case "text_editor_code_execution":
		n.remember(b.id, raw)
	}

	return nil
}

func (n *natives) remember(id, code string) {
	if n.code == nil {
		n.code = map[string]string{}
	}

	n.code[id] = code
}

// searched records the pages that a search found. A failed search has an object instead of a list, and found none.
func (n *natives) searched(b *block) []llm.Chunk {
	var result struct {
		Content []struct {
			Title string `json:"title"`
			URL   string `json:"url"`
		} `json:"content"`
	}

	_ = json.Unmarshal(b.start, &result)
	chunks := n.gather(kindSearch)

	for _, page := range result.Content {
		if page.URL != "" {
			n.pending.Sources = append(n.pending.Sources, llm.Source{Title: page.Title, URL: page.URL})
		}
	}

	return chunks
}

// fetched records a fetched page.
func (n *natives) fetched(b *block) []llm.Chunk {
	var result struct {
		Content struct {
			URL     string `json:"url"`
			Content struct {
				Title string `json:"title"`
			} `json:"content"`
		} `json:"content"`
	}

	_ = json.Unmarshal(b.start, &result)
	chunks := n.gather(kindFetch)

	if page := result.Content; page.URL != "" {
		n.pending.Sources = append(n.pending.Sources, llm.Source{Title: page.Content.Title, URL: page.URL})
	}

	return chunks
}

// ran returns code that was run and its result: standard output and standard error, or an error of the tool itself.
func (n *natives) ran(b *block) llm.Chunk {
	var result struct {
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
	}

	_ = json.Unmarshal(b.start, &result)

	var output struct {
		Stdout    string `json:"stdout"`
		Stderr    string `json:"stderr"`
		ErrorCode string `json:"error_code"`
	}

	_ = json.Unmarshal(result.Content, &output)

	text := output.Stdout
	if output.Stderr != "" {
		text = strings.TrimPrefix(text+"\n"+output.Stderr, "\n")
	}

	switch {
	case output.ErrorCode != "":
		text = "error: " + output.ErrorCode
	case b.kind == "text_editor_code_execution_tool_result":
		text = string(result.Content)
	}

	return llm.CodeExecutionChunk{Code: n.code[result.ToolUseID], Result: text}
}
