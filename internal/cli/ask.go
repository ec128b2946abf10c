package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

// inquiry is one run of the ask command.
type inquiry struct {
	*remote

	noWait bool
}

func askCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ask SESSION [QUESTION|-]", Short: "Ask follow-up questions about a session", GroupID: groupClient, Args: namedArgs,
		Long: `Asks a follow-up question about a finished session, from the command line or from stdin (-), waits for the answer and prints
it. Progress is printed to stderr. The agent knows the whole investigation and all earlier questions, and has the same tools.
A session answers one question at a time.

Without QUESTION it is a conversation: it shows the last questions and answers, reads a question, and prints the answer paragraph by
paragraph, with the tool calls. ↑ and ↓ recall earlier questions. Ctrl-C cancels the answer in progress, and the conversation goes on;
on an empty line Ctrl-C, Ctrl-D or /exit ends it. If the session is still running, it prints the progress and waits for the end.
If stdin or stdout is not a terminal, or the terminal is dumb, each line of stdin is a question, and only the answers are printed
to stdout; with -o json one JSON object per line for each.

With --no-wait it prints the id of the stage that answers and exits. Except in a conversation on a terminal, Ctrl-C stops waiting but not the
answer; use tarsy sessions cancel to stop the answer. The exit code is 5 if the answer fails, times out or is cancelled.`,
		Example: `  tarsy ask 5f3a9c21
  tarsy ask 5f3a9c21 "why did it happen at night?"
  tarsy ask 5f3a9c21 - < question.md > answer.md
  tarsy ask 5f3a9c21 < questions.txt
  tarsy ask 5f3a9c21 "is it still happening?" -o json | jq -r .answer`,
	}
	i := &inquiry{remote: newRemote(t, cmd)}
	cmd.Flags().BoolVar(&i.noWait, "no-wait", false, "print the ids and do not wait for the answer")

	i.onSession(cmd, func(ctx context.Context, c *client.Client, id string, args []string) error {
		if len(args) == 0 && !i.noWait {
			return i.converse(ctx, c, id)
		}

		question, err := i.question(args)
		if err != nil {
			return err
		}

		return i.send(ctx, c, id, question)
	})

	return cmd
}

var errNoQuestion = errors.New(`no question given: write it after the session, in quotes, or use - for stdin`)

func (i *inquiry) question(args []string) (string, error) {
	question := strings.Join(args, " ")

	if question == "-" {
		// One byte over the limit, so that the server rejects a question that is too long.
		text, err := io.ReadAll(io.LimitReader(i.Stdin, tarsy.MaxQuestionBytes+1))
		if err != nil {
			return "", fmt.Errorf("read the question from stdin: %w", err)
		}

		question = string(text)
	}

	if strings.TrimSpace(question) == "" {
		return "", usageError{errNoQuestion}
	}

	return question, nil
}

func (i *inquiry) send(ctx context.Context, c *client.Client, id, question string) error {
	// Later events belong to the answer, or to an earlier question.
	detail, err := c.Session(ctx, id)
	if err != nil {
		return err
	}

	asked, err := client.Call(ctx, c, client.Ask, client.Question{Content: question}, id)
	if err != nil {
		return i.hint(err, id)
	}

	if !i.noWait {
		return i.wait(ctx, c, detail, asked)
	}

	return i.report(asked, asked.StageID, "Question sent. Follow the answer with: %s watch %s", i.Name, id)
}

// hint adds advice to a problem that the server returned.
func (i *inquiry) hint(err error, id string) error {
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok {
		return err
	}

	hinted := *problem

	switch problem.Code {
	case tarsy.CodeChatBusy:
		hinted.Detail += fmt.Sprintf("; follow it with %s watch %s, or stop it with %s sessions cancel %s", i.Name, short(id), i.Name, short(id))
	case tarsy.CodeSessionNotOver:
		hinted.Detail += fmt.Sprintf("; follow it with %s watch %s", i.Name, short(id))
	default:
	}

	return &hinted
}

// wait follows the answer and prints it.
func (i *inquiry) wait(ctx context.Context, c *client.Client, detail tarsy.SessionDetail, asked client.Asked) error {
	i.infof("Question sent. Ctrl-C stops waiting; the answer continues.")

	if err := i.follow(ctx, c, detail, asked); err != nil {
		if ctx.Err() != nil {
			i.infof("\nThe answer continues. Follow it with: %s watch %s", i.Name, short(detail.ID))
			i.infof("Cancel it with: %s sessions cancel %s", i.Name, short(detail.ID))
		}

		return err
	}

	a, err := c.Answer(ctx, detail.ID, asked)
	if err != nil {
		return err
	}

	if i.json() {
		err = i.printJSON(a)
	} else if a.Answer != "" {
		err = i.printMarkdown(a.Answer)
	}

	if err == nil && a.Stage.Status != tarsy.StatusCompleted {
		i.infof("No answer: it %s.", ending(a.Stage))

		return notCompletedError{string(a.Stage.Status)}
	}

	return err
}

// ending describes how an incomplete answer ended.
func ending(stage tarsy.StageDetail) string {
	text := readable(string(stage.Status))
	if stage.Status == tarsy.StatusCancelled {
		return "was cancelled"
	}

	if stage.ErrorMessage != "" {
		text += ": " + strings.TrimRight(terminal.Line(stage.ErrorMessage), ".")
	}

	return text
}

// follow prints progress until the stage has ended or the question is refused.
func (i *inquiry) follow(ctx context.Context, c *client.Client, detail tarsy.SessionDetail, asked client.Asked) error {
	lines, session := i.lines(i.Stderr, detail)
	lines.Work = true

	for update, err := range c.FollowOn(ctx, detail.ID, detail.Version) {
		if err != nil {
			return err
		}

		i.printConnection(update)

		if update.Reloaded != nil {
			session.Apply(update) // the session was reloaded: Take would print it from the beginning
		} else {
			lines.Take(update)
		}

		if reason := session.Refusal(asked.MessageID); reason != "" {
			i.infof("There is no answer: %s", terminal.Line(reason))

			return notCompletedError{string(tarsy.RequestRefused)}
		}

		if session.StageStatus(asked.StageID).Terminal() {
			return nil
		}
	}

	return nil
}
