// Package console is the branch of a terminal: it produces the lines that somebody types and prints messages. It works on
// any reader and writers, so a test or another program can take the place of the terminal. It knows nothing of who
// answers.
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

// maxLine is the longest line that is read, in bytes.
const maxLine = 1 << 20

// Config is the configuration of a console.
type Config struct {
	// Name of the branch; "console" by default.
	Name string
	// In is where lines are read from; its end ends the input of the branch.
	In io.Reader
	// Out takes messages, Err takes those that report an error; Err is Out if it is nil.
	Out, Err io.Writer
	// Sender is the author of the lines; "user" by default.
	Sender string
	// Shatter divides long messages; nil prints them whole.
	Shatter flow.Shatter
	// Render makes of a message, or of a part of one, the text that is printed; an empty text is not printed. It must clean
	// what others wrote, with escape sequences in mind. Nil prints the sender in brackets and the cleaned text.
	Render func(message Message) string
}

// Line is a line that was typed. Lines without text are not produced.
type Line struct {
	Sender string `json:"sender"`
	Text   string `json:"text"`
}

// Message is something to print.
type Message struct {
	Sender string `json:"sender"`
	Text   string `json:"text"`
	// Error sends the message to the error stream.
	Error bool `json:"error,omitempty"`
}

// Printed is a message, or a part of one, as it was written.
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

// New returns a console. It reads nothing before its flow is started.
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

// read produces lines until the reader ends. A line is produced before the next one is read. A read cannot be cancelled:
// when the flow stops, the goroutine below ends with the next line, with the end of the input or, where the reader has
// deadlines, at once.
func (c *Console) read(ctx context.Context, ready func()) error {
	ended := make(chan error, 1)

	go func() { ended <- c.scan(ctx) }()

	ready()

	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		if reader, ok := c.config.In.(interface{ SetReadDeadline(t time.Time) error }); ok {
			_ = reader.SetReadDeadline(time.Now()) // not every file has deadlines
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
