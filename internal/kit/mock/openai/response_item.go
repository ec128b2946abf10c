package openai

import (
	"strconv"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// kind is the type of an output item.
type kind byte

const (
	kindMessage kind = iota
	kindReasoning
	kindCall
	kindSearch
	kindCode
	// kindCustom is a call whose input is text, kindRun a call of a tool that the provider describes.
	kindCustom
	kindRun
)

// item is one output item: a message, reasoning, a tool call, a search, or code that was run.
type item struct {
	kind kind
	id   []byte
	// text is the text of a message or of reasoning, the arguments of a call, or the code.
	text string
	call llm.ToolCall
	// namespace is the namespace of the called tool, run the format of a kindRun call.
	namespace string
	run       runForm
	// sources are the annotations of a message, or the results of a search.
	sources []llm.Source
	queries []string
	result  string
	// secret is the encrypted content of reasoning, as a JSON string.
	secret []byte
}

// prefix returns the prefix of the item's ID.
func (i *item) prefix() string {
	return [...]string{"msg_", "rs_", "fc_", "ws_", "ci_", "ctc_", i.run.prefix}[i.kind]
}

// include selects the parts of items that are shown only on request.
type include struct {
	secrets, outputs, sources bool
}

// append appends the item, either just started (status in_progress, and empty) or finished.
func (i *item) append(buf []byte, show include, status string) []byte {
	done := status != statusInProgress

	buf = append(buf, `{"id":"`...)
	buf = append(buf, i.id...)

	switch i.kind {
	case kindReasoning:
		return i.appendReasoning(buf, show, done)
	case kindCall, kindCustom, kindRun:
		return i.appendCall(buf, status)
	case kindSearch:
		return i.appendSearch(buf, show, status)
	case kindCode:
		return i.appendCode(buf, show, status)
	default:
		buf = append(buf, `","type":"message","status":"`...)
		buf = append(buf, status...)
		buf = append(buf, `","content":[`...)

		if done {
			buf = i.appendPart(buf)
		}

		return append(buf, `],"role":"assistant"}`...)
	}
}

// appendPart appends the only part of a message's content.
func (i *item) appendPart(buf []byte) []byte {
	buf = append(buf, `{"type":"output_text","annotations":[`...)

	for n, source := range i.sources {
		buf = append(buf, separator(n, "")...)
		buf = i.appendCitation(buf, source)
	}

	buf = append(buf, `],"logprobs":[],"text":`...)
	buf = exchange.AppendString(buf, i.text)

	return append(buf, '}')
}

func (i *item) appendCitation(buf []byte, source llm.Source) []byte {
	buf = append(buf, `{"type":"url_citation","start_index":0,"end_index":`...)
	buf = strconv.AppendInt(buf, int64(utf8.RuneCountInString(i.text)), 10)

	return append(appendSource(buf, source), '}')
}

func (i *item) appendReasoning(buf []byte, show include, done bool) []byte {
	buf = append(buf, `","type":"reasoning"`...)

	if show.secrets {
		buf = append(buf, `,"encrypted_content":`...)
		buf = append(buf, i.secret...)
	}

	buf = append(buf, `,"summary":[`...)

	if done && len(i.text) > 0 {
		buf = append(buf, `{"type":"summary_text","text":`...)
		buf = exchange.AppendString(buf, i.text)
		buf = append(buf, '}')
	}

	return append(buf, "]}"...)
}

func (i *item) appendSearch(buf []byte, show include, status string) []byte {
	buf = append(buf, `","type":"web_search_call","status":"`...)
	buf = append(buf, status...)
	buf = append(buf, `","action":{"type":"search"`...)

	if status != statusInProgress {
		buf = append(buf, `,"queries":[`...)
		for n, query := range i.queries {
			buf = append(buf, separator(n, "")...)
			buf = exchange.AppendString(buf, query)
		}

		buf = append(buf, `],"query":`...)
		buf = exchange.AppendString(buf, first(i.queries))

		if show.sources {
			buf = append(buf, `,"sources":[`...)

			for n, source := range i.sources {
				buf = append(buf, separator(n, "")...)
				buf = append(buf, `{"type":"url","url":`...)
				buf = exchange.AppendString(buf, source.URL)
				buf = append(buf, '}')
			}

			buf = append(buf, ']')
		}
	}

	return append(buf, "}}"...)
}

func (i *item) appendCode(buf []byte, show include, status string) []byte {
	done := status != statusInProgress

	buf = append(buf, `","type":"code_interpreter_call","status":"`...)
	buf = append(buf, status...)
	buf = append(buf, `","code":`...)
	buf = appendDone(buf, done, i.text)
	buf = append(buf, `,"container_id":"cntr_`...)
	buf = append(buf, i.id[len(i.prefix()):]...)
	buf = append(buf, `","outputs":`...)

	if !done || !show.outputs {
		return append(buf, "null}"...)
	}

	buf = append(buf, `[{"type":"logs","logs":`...)
	buf = exchange.AppendString(buf, i.result)

	return append(buf, "}]}"...)
}

// derive sets an encrypted content of reasoning that depends only on its text.
func (i *item) derive() {
	sum := uint64(fnvOffset)
	for n := range len(i.text) {
		sum = (sum ^ uint64(i.text[n])) * fnvPrime
	}

	i.secret = append(seed(sum).appendID(append(i.secret[:0], '"'), "gAAAAAB", 0), '"')
}

func appendDone(buf []byte, done bool, text string) []byte {
	if !done {
		return append(buf, `""`...)
	}

	return exchange.AppendString(buf, text)
}

func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}

	return texts[0]
}
