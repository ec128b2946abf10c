package agent

import (
	"context"
	"errors"
	"iter"
	"strings"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/llm"
)

// stream turns the chunks of one response into entries.
type stream struct {
	agent    *Agent
	meta     Meta
	prompt   string
	window   *flow.Windower
	thoughts *flow.Windower
	text     strings.Builder
	index    int
}

func newStream(a *Agent, meta Meta, prompt string) *stream {
	return &stream{
		agent: a, meta: meta, prompt: prompt,
		window: flow.NewWindower(a.config.Window), thoughts: flow.NewWindower(a.config.ThoughtWindow),
	}
}

// read reads one answer of the model. The first error is the model's, the second one the journal's.
func (s *stream) read(ctx context.Context, chunks iter.Seq2[llm.Chunk, error]) (message llm.Message, failure, err error) {
	message.Role = llm.RoleAssistant
	s.meta.Model = s.agent.config.Model // each answer of a response can come from a different model

	for chunk, err := range chunks {
		if err != nil {
			return message, err, nil
		}

		switch c := chunk.(type) {
		case ModelChunk:
			s.meta.Model = c.Model
		case llm.TextChunk:
			message.Content += c.Text
			err = s.addText(ctx, c.Text)
		case llm.ThinkingChunk:
			err = s.addThought(ctx, c.Text)
		case llm.ToolCallChunk:
			message.ToolCalls = append(message.ToolCalls, c.Call)
		case llm.EndChunk:
			message.Signature = c.Signature
		case llm.ErrorChunk:
			return message, errors.New(c.Message), nil
		}

		if err != nil {
			return message, nil, err
		}
	}

	return message, nil, nil
}

func (s *stream) addText(ctx context.Context, text string) error {
	s.text.WriteString(text)

	err := s.flushThoughts(ctx) // thoughts come before the text
	if err != nil {
		return err
	}

	err = s.agent.chunks.Append(ctx, Chunk{Meta: s.meta, Text: text})
	if err != nil {
		return err
	}

	for _, part := range s.window.Add(text) {
		err := s.respond(ctx, part, false)
		if err != nil {
			return err
		}
	}

	return nil
}

func (s *stream) addThought(ctx context.Context, text string) error {
	err := s.agent.thoughtChunks.Append(ctx, ThoughtChunk{Meta: s.meta, Text: text})
	if err != nil {
		return err
	}

	for _, part := range s.thoughts.Add(text) {
		err := s.agent.Thoughts.Send(ctx, Thought{Meta: s.meta, Text: part})
		if err != nil {
			return err
		}
	}

	return nil
}

func (s *stream) flushThoughts(ctx context.Context) error {
	thought := s.thoughts.Flush()
	if thought == "" {
		return nil
	}

	return s.agent.Thoughts.Send(ctx, Thought{Meta: s.meta, Text: thought})
}

func (s *stream) respond(ctx context.Context, text string, last bool) error {
	response := Response{Meta: s.meta, Text: text, Index: s.index, Last: last}
	s.index++

	return s.agent.Responses.Send(ctx, response)
}

// finish passes on the text that the windows held back. A failed response is not marked as completed, so it does not become
// part of the history.
func (s *stream) finish(ctx context.Context, complete bool) error {
	err := s.flushThoughts(ctx)
	if err != nil {
		return err
	}

	rest := s.window.Flush()
	if complete || rest != "" || s.index > 0 {
		err := s.respond(ctx, rest, true)
		if err != nil {
			return err
		}
	}

	if !complete {
		return nil
	}

	return s.agent.completed.Append(ctx, StreamCompleted{Meta: s.meta, Prompt: s.prompt, Text: s.text.String()})
}
