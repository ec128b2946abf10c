package cli

import (
	"context"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/prompt"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

const (
	// earlierShown is how many earlier questions are shown, and earlierLines how many lines of each answer.
	earlierShown = 3
	earlierLines = 4
)

// showEarlier prints the end of the chat so far and returns all questions, for the history.
func (c *conversation) showEarlier(ctx context.Context, detail tarsy.SessionDetail) ([]string, error) {
	out := c.palette(c.Stdout)
	head := fmt.Sprintf("Session %s, %s. Ask about it; Ctrl-D ends.", short(c.id), terminal.Line(detail.TitleOr(detail.AlertType)))

	if err := c.printf("%s\n", out.Paint(terminal.Dim, head)); err != nil || detail.Chat == nil {
		return nil, err
	}

	timeline, err := c.client.Timeline(ctx, c.id)
	if err != nil {
		return nil, err
	}

	earlier := client.Exchanges(detail, timeline.Events)
	questions := make([]string, len(earlier))

	for i, exchange := range earlier {
		questions[i] = exchange.Question
	}

	if left := len(earlier) - earlierShown; left > 0 {
		earlier = earlier[left:]

		questions := "questions"
		if left == 1 {
			questions = "question"
		}

		if err := c.printf("%s\n", out.Paint(terminal.Dim, fmt.Sprintf("… %d earlier %s; see %s sessions show %s", left, questions, c.Name, short(c.id)))); err != nil {
			return nil, err
		}
	}

	for _, exchange := range earlier {
		if err := c.printf("%s\n", strings.Join(c.shortened(exchange), "\n")); err != nil {
			return nil, err
		}
	}

	return questions, nil
}

// shortened returns the lines of an earlier question and the beginning of its answer.
func (c *conversation) shortened(exchange client.Exchange) []string {
	out, width := c.palette(c.Stdout), min(c.columns(c.Stdout), textWidth)
	question := terminal.Truncate(terminal.Line(exchange.Question), width-len(prompt.Mark)-1)
	lines := []string{prompt.Mark + out.Paint(terminal.Bold, question)}

	if exchange.Answer == "" {
		return append(lines, out.Paint(terminal.Dim, "(no answer)"))
	}

	answer := out.Markdown(strings.TrimSpace(terminal.Clean(exchange.Answer)), width, terminal.Plain)
	if len(answer) > earlierLines {
		answer = append(answer[:earlierLines-1], out.Paint(terminal.Dim, fmt.Sprintf("… %d more lines", len(answer)-earlierLines+1)))
	}

	return append(lines, answer...)
}
