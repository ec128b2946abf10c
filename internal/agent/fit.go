package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
)

// detail is how much of a section of a context is shown to a model.
type detail int

const (
	// detailFull gives everything.
	detailFull detail = iota
	// detailShort omits thinking and shortens long texts.
	detailShort
	// detailResult gives only the section's results: analyses, answers, questions and errors.
	detailResult
	// detailBrief gives the beginning and the end of the results.
	detailBrief
	// detailNone omits the section.
	detailNone
)

// Limits of a text in a section, in estimated tokens.
const (
	shortTokens = 500
	briefTokens = 250
)

// Sizes of a context, in estimated tokens.
const (
	// leastContextTokens is the size for a model whose results are limited to very little.
	leastContextTokens = 4_000
	// tightShare divides the size after a provider refused a prompt for its length.
	tightShare = 4
	// earlierShare divides the size to give the limit for the results of earlier stages.
	earlierShare = 4
)

// contextTokens returns how much of others' work an agent gets. It follows the model's limit of tool results, which indicates the size
// of its context window.
func (s Spec) contextTokens() int {
	if s.MaxResultTokens > 0 {
		return max(s.MaxResultTokens, leastContextTokens)
	}

	return resultTokens
}

// section is a part of a context: the work of one agent, or the result of one stage.
type section interface {
	render(d detail) string
}

// fit joins an introduction and sections, the oldest first, into a text of at most the given number of estimated tokens. If they do not
// fit, it reduces the detail of all sections level by level, starting with the oldest. It also returns how many sections were reduced.
// It is a pure function, so every server builds the same prompt.
func fit(intro string, sections []section, tokens int) (text string, shortened int) {
	const separator = "\n\n"

	limit := tokens * quote.BytesPerToken
	levels := make([]detail, len(sections))
	rendered := make([]string, len(sections))
	size := len(intro)

	for i, s := range sections {
		rendered[i] = s.render(detailFull)
		size += len(separator) + len(rendered[i])
	}

	for level := detailShort; level <= detailNone; level++ {
		for i, s := range sections {
			// The newest section is never omitted.
			if size <= limit || level == detailNone && i == len(sections)-1 {
				break
			}

			size -= len(rendered[i])
			levels[i], rendered[i] = level, s.render(level)
			size += len(rendered[i])
		}
	}

	parts := []string{intro}

	for i := range sections {
		if levels[i] > detailFull {
			shortened++
		}

		if rendered[i] != "" {
			parts = append(parts, rendered[i])
		}
	}

	return strings.Join(parts, separator), shortened
}

// work is the work of an agent, or events that belong to no agent.
type work struct {
	header, block string
	events        []tarsy.TimelineEvent
}

func (w work) render(d detail) string {
	if d == detailNone {
		return ""
	}

	events := make([]tarsy.TimelineEvent, 0, len(w.events))
	left := 0

	for _, e := range w.events {
		if e.EventType == tarsy.EventResponse && isAnalysis(w.events, e) {
			continue // shown once, as the analysis
		}

		if e, kept := reduce(e, d); kept {
			events = append(events, e)
		} else {
			left++
		}
	}

	text := formatEvents(events)
	if d == detailBrief {
		text = quote.Truncate(text, briefTokens)
	}

	if left > 0 {
		text += fmt.Sprintf("\n\n[cut: %d of %d events left out]", left, left+len(events))
	}

	return w.header + "\n\n" + quote.Block(w.block, text)
}

// reduce returns what a level of detail shows of an event, and whether it shows it.
func reduce(e tarsy.TimelineEvent, d detail) (tarsy.TimelineEvent, bool) {
	switch e.EventType {
	case tarsy.EventFinalAnalysis, tarsy.EventUserQuestion, tarsy.EventExecutiveSummary, tarsy.EventError:
		return e, true
	case tarsy.EventThinking:
		return e, d == detailFull
	default:
	}

	if d > detailFull {
		e.Content = quote.Truncate(e.Content, shortTokens)
		e.Metadata = withShortInput(e)
	}

	return e, d < detailResult
}

// withShortInput shortens the arguments of a call, or the code that was run.
func withShortInput(e tarsy.TimelineEvent) tarsy.Metadata {
	switch e.EventType {
	case tarsy.EventToolCall:
		call := tarsy.MetadataAs[tarsy.ToolCallMetadata](e.Metadata)
		if quote.Tokens(string(call.Arguments)) <= shortTokens {
			return e.Metadata
		}

		arguments, err := json.Marshal(quote.Truncate(string(call.Arguments), shortTokens))
		if err != nil {
			panic("agent: a string does not marshal: " + err.Error())
		}

		call.Arguments = arguments

		return tarsy.NewMetadata(call)
	case tarsy.EventCodeExecution:
		code := tarsy.MetadataAs[tarsy.CodeExecutionMetadata](e.Metadata).Code

		return tarsy.NewMetadata(tarsy.CodeExecutionMetadata{Code: quote.Truncate(code, shortTokens)})
	default:
		return e.Metadata
	}
}

// render implements section.
func (s StageResult) render(d detail) string {
	const short, result = 8 * shortTokens, 2 * shortTokens

	text := s.FinalAnalysis

	switch d {
	case detailFull:
	case detailShort:
		text = quote.Truncate(text, short)
	case detailResult:
		text = quote.Truncate(text, result)
	case detailBrief:
		text = quote.Truncate(text, briefTokens)
	case detailNone:
		return ""
	}

	return fmt.Sprintf("### Stage %s\n\n%s", s.StageName, text)
}
