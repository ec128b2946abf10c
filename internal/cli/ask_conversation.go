package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/internal/cli/chat"
	"tarsy.dev/tarsy/internal/cli/prompt"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

// longestPart is the most text that is held back while a paragraph is incomplete, in UTF-16 units.
const longestPart = 4000

// converse runs ask without a question.
func (i *inquiry) converse(ctx context.Context, c *client.Client, id string) error {
	detail, err := i.finished(ctx, c, id)
	if err != nil {
		return err
	}

	conversation := &conversation{inquiry: i, client: c, id: id}

	if i.isTerminal(i.Stdin) && i.isTerminal(i.Stdout) && !i.dumb() && !i.json() {
		return conversation.runEditor(ctx, detail)
	}

	return conversation.runPiped(ctx)
}

// finished waits until the session has ended and questions can be asked.
func (i *inquiry) finished(ctx context.Context, c *client.Client, id string) (tarsy.SessionDetail, error) {
	detail, err := c.Session(ctx, id)
	if err != nil || detail.Status.Terminal() {
		return detail, err
	}

	i.infof("The session is %s. Questions can be asked when it has ended; Ctrl-C stops waiting.", readable(string(detail.Status)))

	lines, _ := i.lines(i.Stderr, detail)

	for update, err := range c.Follow(ctx, id, 0) {
		if err != nil {
			return detail, err
		}

		i.printConnection(update)
		lines.Take(update)
	}

	return c.Session(ctx, id)
}

// conversation is a series of questions and answers. It ends when the user leaves or at the end of stdin.
type conversation struct {
	*inquiry

	client *client.Client
	id     string

	// Only the flow's goroutines write these, one message at a time.
	questions  int
	refused    bool
	unanswered string // the status of the last answer that did not complete
}

// The senders of messages on the console.
const (
	fromAnswer = "answer" // text of an answer
	fromTool   = "tool"
	fromStatus = "status" // progress; not printed
	fromNotice = "notice"
	fromError  = "error"
	fromEnd    = "end" // the answer has ended; the text says why, if it did not complete
	fromResult = "result"
)

// runEditor runs a conversation in a terminal, with a line editor.
func (c *conversation) runEditor(ctx context.Context, detail tarsy.SessionDetail) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	earlier, err := c.showEarlier(ctx, detail)
	if err != nil {
		return err
	}

	answers := c.newChat()
	editor := prompt.New(prompt.Config{
		In: c.Stdin, Out: c.Stdout, Env: c.Env, Columns: c.columns(c.Stdout), Palette: c.palette(c.Stdout), History: earlier,
		Interrupt: func(number int) { answers.Cancel(ctx, number) },
	})
	painter := &painter{conversation: c, editor: editor}

	built, err := c.build(answers, console.Config{In: editor, Out: painter, Render: painter.render}, streamed)
	if err != nil {
		return err
	}

	var (
		running sync.WaitGroup
		failed  error
	)

	running.Go(func() {
		failed = built.Run(ctx)
		editor.Quit()
	})

	err = editor.Run(ctx)
	cancel(nil) // an unfinished answer continues on the server
	running.Wait()

	if err != nil {
		return err
	}

	return failed
}

// runPiped runs a conversation whose questions are the lines of stdin.
func (c *conversation) runPiped(ctx context.Context) error {
	if c.isTerminal(c.Stdin) {
		c.infof("Type a question and press Enter. Ctrl-D ends the conversation.")
	}

	built, err := c.build(c.newChat(), console.Config{In: c.Stdin, Out: c.Stdout, Err: c.Stderr, Render: c.render}, whole)
	if err != nil {
		return err
	}

	err = built.Run(ctx)

	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		c.infof("\nAn answer in progress continues. Follow it with: %s watch %s", c.Name, short(c.id))

		return context.Cause(ctx)
	case c.questions == 0:
		return usageError{errNoQuestion}
	case c.unanswered != "":
		return notCompletedError{c.unanswered}
	case c.refused:
		return errShown
	}

	return nil
}

func (c *conversation) newChat() *chat.Chat {
	return chat.New(chat.Config{
		Client: c.client, SessionID: c.id, Window: chat.Paragraphs(longestPart),
		Explain: func(err error) string {
			_, text := explain(context.Background(), c.hint(err, c.id))

			return text
		},
	})
}

// delivery selects whether an answer is printed as it is written or once it is complete.
type delivery bool

const (
	streamed delivery = true
	whole    delivery = false
)

// build declares the flow of a conversation: lines become questions, and the output of the chat becomes messages.
func (c *conversation) build(answers *chat.Chat, config console.Config, how delivery) (*flow.Flow, error) {
	people := console.New(config)

	return flow.Build([]*flow.Branch{people.Branch, answers.Branch},
		flow.Route(people.Lines, answers.Questions, func(_ context.Context, line console.Line) (chat.Question, error) {
			c.questions++

			return chat.Question{Text: line.Text}, nil
		}),
		flow.Route(answers.Texts, people.Messages, func(_ context.Context, text chat.Text) (console.Message, error) {
			if how == whole {
				return console.Message{}, flow.ErrSkip
			}

			return console.Message{Sender: fmt.Sprint(fromAnswer, text.Block), Text: text.Text}, nil
		}),
		flow.Route(answers.Tools, people.Messages, toolMessage),
		flow.Route(answers.Notices, people.Messages, func(_ context.Context, notice chat.Notice) (console.Message, error) {
			return console.Message{Sender: fromNotice, Text: notice.Text, Error: true}, nil
		}),
		flow.Route(answers.Refusals, people.Messages, func(_ context.Context, refused chat.Refused) (console.Message, error) {
			c.refused = true

			return console.Message{Sender: fromError, Text: refused.Reason, Error: true}, nil
		}),
		flow.Route(answers.Ends, people.Messages, func(_ context.Context, ended chat.Ended) (console.Message, error) {
			return c.endMessage(ended.Answer, how)
		}),
	)
}

func toolMessage(_ context.Context, tool chat.Tool) (console.Message, error) {
	text := "→ " + tool.Name
	if tool.Arguments != "" {
		text += " (" + terminal.Truncate(tool.Arguments, argumentsWidth) + ")"
	}

	message := console.Message{Sender: fromTool, Text: text + " …", Error: true}

	switch {
	case tool.Result == "":
		message.Sender = fromStatus
	case tool.Result != "ok":
		message.Text += " " + tool.Result
	}

	if tool.Took != "" {
		message.Text += " " + tool.Took
	}

	return message, nil
}

// argumentsWidth limits how much of a tool's arguments is shown.
const argumentsWidth = 60

// endMessage reports how an answer ended. In a pipe, the message is the answer itself if there is one.
func (c *conversation) endMessage(a client.Answer, how delivery) (console.Message, error) {
	completed := a.Stage.Status == tarsy.StatusCompleted
	if !completed {
		c.unanswered = string(a.Stage.Status)
	}

	if how == whole && c.format.value == formatJSON {
		text, err := encodeJSON(a, "")

		return console.Message{Sender: fromResult, Text: string(text)}, err
	}

	if how == whole && completed {
		return console.Message{Sender: fromResult, Text: strings.TrimSpace(terminal.Clean(a.Answer))}, nil
	}

	message := console.Message{Sender: fromEnd, Error: !completed}

	switch {
	case a.Stage.Status == tarsy.StatusCancelled:
		message.Text = "Answer cancelled."
	case !completed:
		message.Text = "No answer: it " + ending(a.Stage) + "."
	default:
		message.Text = " " // the console drops an empty message
	}

	return message, nil
}

// render returns the text of a message when the output is not a terminal.
func (c *conversation) render(message console.Message) string {
	switch message.Sender {
	case fromStatus:
		return ""
	case fromResult:
		return message.Text
	case fromError:
		return "tarsy: " + terminal.Line(message.Text)
	default:
		return strings.TrimSpace(terminal.Line(message.Text))
	}
}
