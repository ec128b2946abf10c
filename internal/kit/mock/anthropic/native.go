package anthropic

import (
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// native is a call of a tool that the API runs itself: two blocks of the answer.
type native struct {
	id, name string
	// input is the JSON of the call's input, result that of the result block.
	input, result []byte
}

// natives returns the calls in a chunk.
func (e *encoder) natives(chunk llm.Chunk) []native {
	switch c := chunk.(type) {
	case llm.CodeExecutionChunk:
		return []native{e.codeExecution(c)}
	case llm.GroundingChunk:
		if c.Kind == "url_context" {
			return e.fetches(c)
		}

		return e.searches(c)
	default:
		return nil
	}
}

func (e *encoder) newNative(name, argument, value string) native {
	e.nativeCount++
	n := native{id: string(e.id.append(nil, "srvtoolu_", e.nativeCount)), name: name}
	n.input = exchange.AppendString(append(n.input, '{'), argument)
	n.input = exchange.AppendString(append(n.input, ':'), value)
	n.input = append(n.input, '}')

	return n
}

// begin starts the result block; its content follows.
func (n *native) begin(kind string) {
	n.result = append(n.result, `{"type":"`+kind+`","tool_use_id":"`+n.id+`","content":`...)
}

// searches returns one call per query; the last one has the pages.
func (e *encoder) searches(c llm.GroundingChunk) []native {
	queries := c.Queries
	if len(queries) == 0 {
		queries = []string{""}
	}

	calls := make([]native, 0, len(queries))

	for i, query := range queries {
		n := e.newNative("web_search", "query", query)
		n.begin("web_search_tool_result")
		n.result = append(n.result, '[')

		if i == len(queries)-1 {
			n.result = appendPages(n.result, c.Sources)
		}

		n.result = append(n.result, `],"caller":{"type":"direct"}}`...)
		calls = append(calls, n)
	}

	e.searched += len(calls)

	return calls
}

func appendPages(buf []byte, sources []llm.Source) []byte {
	for i, source := range sources {
		if i > 0 {
			buf = append(buf, ',')
		}

		buf = append(buf, `{"type":"web_search_result","title":`...)
		buf = exchange.AppendString(buf, source.Title)
		buf = append(buf, `,"url":`...)
		buf = exchange.AppendString(buf, source.URL)
		buf = append(buf, `,"encrypted_content":"`...)
		buf = append(buf, derive(source.URL)...)
		buf = append(buf, `","page_age":null}`...)
	}

	return buf
}

// fetches returns one call per page.
func (e *encoder) fetches(c llm.GroundingChunk) []native {
	calls := make([]native, 0, len(c.Sources))

	for _, source := range c.Sources {
		n := e.newNative("web_fetch", "url", source.URL)
		n.begin("web_fetch_tool_result")
		n.result = append(n.result, `{"type":"web_fetch_result","url":`...)
		n.result = exchange.AppendString(n.result, source.URL)
		n.result = append(n.result, `,"content":{"type":"document","source":{"type":"text","media_type":"text/plain","data":""},"title":`...)
		n.result = exchange.AppendString(n.result, source.Title)
		n.result = append(n.result, `},"retrieved_at":null},"caller":{"type":"direct"}}`...)
		calls = append(calls, n)
	}

	e.fetched += len(calls)

	return calls
}

// codeExecution uses the tool version that the caller requested: the first runs Python, later ones a shell.
func (e *encoder) codeExecution(c llm.CodeExecutionChunk) native {
	name, argument := "bash_code_execution", "command"
	if e.firstCode {
		name, argument = "code_execution", "code"
	}

	n := e.newNative(name, argument, c.Code)
	n.begin(name + "_tool_result")
	n.result = append(n.result, `{"type":"`+name+`_result","stdout":`...)
	n.result = exchange.AppendString(n.result, c.Result)
	n.result = append(n.result, `,"stderr":"","return_code":0,"content":[]}}`...)

	return n
}

// runsPython reports whether a request asks for the first version of code execution.
func (r *request) runsPython() bool {
	for _, t := range r.Tools {
		if strings.HasPrefix(t.Type, "code_execution_") {
			return t.Type == "code_execution_20250522"
		}
	}

	return false
}
