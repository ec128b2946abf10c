package cli

import (
	"strings"

	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/internal/cli/prompt"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// painter turns the messages of a conversation into lines on a terminal. Only the console calls it, for one message at a time.
type painter struct {
	*conversation

	editor *prompt.Editor
	stream *terminal.MarkdownStream
	sender string // that stream belongs to
	ended  bool   // printing this message lets the user enter the next question
}

// Write implements io.Writer. It prints a rendered message.
func (p *painter) Write(text []byte) (int, error) {
	n, err := p.editor.Write(text)

	if p.ended {
		p.ended = false
		p.editor.Done()
	}

	return n, err
}

// render returns the text to print above the line that is being typed. It shows progress in the editor's status.
func (p *painter) render(message console.Message) string {
	out := p.palette(p.Stdout)
	line := strings.TrimSpace(terminal.Line(message.Text))

	switch message.Sender {
	case fromStatus:
		p.editor.Status(line)

		return ""
	case fromTool:
		p.editor.Status("")

		return out.Paint(terminal.Dim, terminal.Truncate(line, p.columns(p.Stdout)-1))
	case fromNotice:
		return p.wrapped("! "+line, terminal.Yellow)
	case fromError:
		p.stream, p.ended = nil, true

		return p.wrapped("✗ "+line, terminal.Red)
	case fromEnd:
		p.stream, p.ended = nil, true

		if line == "" {
			return " " // an empty line before the next question
		}

		return p.wrapped(line, terminal.Yellow)
	}

	if p.sender != message.Sender || p.stream == nil {
		p.sender, p.stream = message.Sender, out.Stream(min(p.columns(p.Stdout)-1, textWidth), terminal.Plain)
	}

	return strings.Join(p.stream.Add(terminal.Clean(message.Text)), "\n")
}

func (p *painter) wrapped(text string, style terminal.Style) string {
	width := min(p.columns(p.Stdout)-1, textWidth)

	return strings.Join(p.palette(p.Stdout).Wrap([]terminal.Span{{Text: text, Style: style}}, width, "", ""), "\n")
}
