// Package console provides a branch for a terminal: it produces the lines that are typed and prints messages. It works with any
// reader and writers, so a test or another program can replace the terminal. It does not know who answers.
package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxLine is the maximum length of an input line in bytes.
const maxLine = 1 << 20

// Config is the configuration of a console.
type Config struct {
	// Name is the name of the branch; "console" by default.
	Name string
	// In is the source of lines; the input of the branch ends with it.
	In io.Reader
	// Out receives messages, Err those that report an error; Err is Out if it is nil.
	Out, Err io.Writer
	// Sender is the author of the lines; "user" by default.
	Sender string
	// Shatter splits long messages; nil prints them whole.
	Shatter flow.Shatter
	// Render returns the text to print for a message, or for a part of one; an empty text is not printed. It must clean text
	// written by others, including escape sequences. Nil prints the sender in brackets and the cleaned text.
	Render func(message Message) string
}

// Line is a typed line. Blank lines are not produced.
type Line struct {
	Sender string `json:"sender"`
	Text   string `json:"text"`
}

// Message is a message to print.
type Message struct {
	Sender string `json:"sender"`
	Text   string `json:"text"`
	// Error prints the message to the error writer.
	Error bool `json:"error,omitempty"`
}

// Printed is a message, or a part of one, as printed.
type Printed struct {
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"`
}

// Console is a branch.
type Console struct {
	*flow.Branch

	Lines    flow.Out[Line]
	Messages flow.In[Message]

	config  Config
	printed flow.Log[Printed]
}

// New returns a console. It reads nothing until its flow starts.
func New(config Config) *Console {
	config.Name = cmp.Or(config.Name, "console")
	config.Sender = cmp.Or(config.Sender, "user")

	if config.Err == nil {
		config.Err = config.Out
	}

	if config.Shatter == nil {
		config.Shatter = flow.ShatterNone
	}

	if config.Render == nil {
		config.Render = renderPlain
	}

	c := &Console{Branch: flow.NewBranch(config.Name), config: config}
	c.Lines = flow.Produces[Line](c.Branch)
	c.Messages = flow.Consumes(c.Branch, c.print)
	c.printed = flow.Logs[Printed](c.Branch)
	c.Input(config.Name+" input", c.read)

	return c
}

// read produces lines until the reader ends. Each line is produced before the next one is read. A read cannot be cancelled:
// when the flow stops, the goroutine below ends at the next line, at the end of the input or, if the reader has deadlines,
// immediately.
func (c *Console) read(ctx context.Context, ready func()) error {
	ended := make(chan error, 1)

	go func() { ended <- c.scan(ctx) }()

	ready()

	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		if reader, ok := c.config.In.(interface{ SetReadDeadline(t time.Time) error }); ok {
			_ = reader.SetReadDeadline(time.Now()) // not every file supports deadlines
		}

		return context.Cause(ctx)
	}
}

func (c *Console) scan(ctx context.Context) error {
	scanner := bufio.NewScanner(c.config.In)
	scanner.Buffer(nil, maxLine)

	for scanner.Scan() {
		err := c.produce(ctx, scanner.Text())
		if err != nil {
			return err
		}
	}

	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d bytes", maxLine)
	}

	return scanner.Err()
}

func (c *Console) produce(ctx context.Context, text string) error {
	text = strings.TrimRight(plaintext.Clean(text), "\r")
	if strings.TrimSpace(text) == "" {
		return nil
	}

	return c.Lines.Send(ctx, Line{Sender: c.config.Sender, Text: text})
}

func (c *Console) print(ctx context.Context, message Message) error {
	writer := c.config.Out
	if message.Error {
		writer = c.config.Err
	}

	for _, part := range c.config.Shatter(message.Text) {
		message.Text = part

		printed := Printed{Text: c.config.Render(message), Error: message.Error}
		if printed.Text == "" {
			continue
		}

		_, err := fmt.Fprintln(writer, printed.Text)
		if err != nil {
			return fmt.Errorf("print a message: %w", err)
		}

		err = c.printed.Append(ctx, printed)
		if err != nil {
			return err
		}
	}

	return nil
}

func renderPlain(message Message) string {
	text := strings.Trim(message.Text, "\r\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}

	return fmt.Sprintf("[%s]: %s", terminal.Line(message.Sender), terminal.Clean(text))
}
