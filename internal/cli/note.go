package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/notebook"
)

// noteEvery is how often --wait checks whether a note is processed.
const noteEvery = 300 * time.Millisecond

type capture struct {
	*remote

	session string
	from    string
	key     string
	wait    bool
}

func noteCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "note [TEXT|-]", Short: "Capture a note", GroupID: groupClient, Args: namedArgs,
		Long: `Captures a note from the command line or from stdin (-, or a pipe), and prints its id. The server extracts tasks, decisions,
questions, risks and insights from it and files them under projects; what it is not sure of waits for review.

With --from-session it keeps the final analysis of a finished session as a note. With --wait it waits until the note is processed, prints
the entities and review items, and exits with code 5 if the processing failed.

If the connection fails, it tries again, at most twice; the note is stored once.`,
		Example: `  tarsy note "Ana rotates the API keys by Friday"
  tarsy note --session 5f3a9c21 "The cache needs a limit" --wait
  pbpaste | tarsy note -
  tarsy note --from-session 5f3a9c21 -o json`,
	}
	c := &capture{remote: newRemote(t, cmd)}
	flags := cmd.Flags()
	flags.StringVar(&c.session, "session", "", "the session that the note is about")
	flags.StringVar(&c.from, "from-session", "", "keep the final analysis of this session")
	flags.StringVar(&c.key, "idempotency-key", "", "capture once per key: repeating the command returns the same note")
	flags.BoolVarP(&c.wait, "wait", "w", false, "wait until the note is processed and print what was extracted")
	cmd.MarkFlagsMutuallyExclusive("session", "from-session")
	c.completeFromServer(cmd, "session", newestSessions)
	c.completeFromServer(cmd, "from-session", newestSessions)

	c.run(cmd, c.capture)

	return cmd
}

var (
	errNoNote   = errors.New("no note given: pass the text, use - for stdin, or keep a session's analysis with --from-session")
	errTwoNotes = errors.New("the note is given twice: as text and with --from-session")
)

func (c *capture) capture(ctx context.Context, server *client.Client, args []string) error {
	note := client.NewNote{Source: notebook.NoteFromCLI}

	var err error

	if note.Content, err = c.text(args); err != nil {
		return err
	}

	if about := c.session + c.from; about != "" {
		if note.SessionID, err = server.Resolve(ctx, about); err != nil {
			return err
		}
	}

	if c.from != "" {
		note.Source = notebook.NoteFromSession
	}

	captured, err := client.Create(ctx, server, client.CaptureNote, c.key, note)
	if err != nil {
		return err
	}

	if c.wait {
		return c.follow(ctx, server, captured.Note)
	}

	return c.report(captured.Note, captured.Note.ID, "Captured. See it in the browser: %s", server.NotePage(captured.Note.ID))
}

// text returns the given text of the note; empty with --from-session.
func (c *capture) text(args []string) (string, error) {
	switch {
	case c.from != "" && len(args) > 0:
		return "", usageError{errTwoNotes}
	case c.from != "":
		return "", nil
	case len(args) > 0 && args[0] != "-":
		return args[0], nil
	case len(args) == 0 && c.isTerminal(c.Stdin):
		return "", usageError{errNoNote}
	}

	// One byte over the limit, so that the server rejects a note that is too long.
	text, err := io.ReadAll(io.LimitReader(c.Stdin, notebook.MaxNoteBytes+1))
	if err != nil {
		return "", fmt.Errorf("read the note from stdin: %w", err)
	}

	if strings.TrimSpace(string(text)) == "" {
		return "", usageError{errNoNote}
	}

	return string(text), nil
}

// follow waits until the note is processed and prints the result.
func (c *capture) follow(ctx context.Context, server *client.Client, note notebook.Note) error {
	c.infof("Note %s. Ctrl-C stops waiting; the note is processed all the same.", note.ID)

	tick := time.NewTicker(noteEvery)
	defer tick.Stop()

	for {
		detail, err := client.Call(ctx, server, client.GetNote, nil, note.ID)
		if err != nil {
			return err
		}

		if detail.Status == notebook.NoteDone || detail.Status == notebook.NoteFailed {
			return c.printNote(detail)
		}

		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// printNote prints what was extracted from a note.
func (c *capture) printNote(detail notebook.NoteDetail) error {
	if c.json() {
		if err := c.printJSON(detail); err != nil {
			return err
		}
	} else if err := c.printExtracted(detail); err != nil {
		return err
	}

	if detail.Status == notebook.NoteFailed {
		c.infof("The note could not be processed: %s", terminal.Line(detail.ProcessingError))

		return notCompletedError{string(detail.Status)}
	}

	return nil
}

func (c *capture) printExtracted(detail notebook.NoteDetail) error {
	if len(detail.Entities) == 0 {
		c.infof("Nothing was extracted from the note.")
	} else {
		rows := make([][]string, len(detail.Entities))

		for i, e := range detail.Entities {
			due := ""
			if e.DueOn != nil {
				due = e.DueOn.String()
			}

			rows[i] = []string{short(e.ID), string(e.Type), string(e.State), e.Owner, due, e.Title}
		}

		columns := []column{{name: "ID"}, {name: "TYPE"}, {name: "STATE"}, {name: "OWNER", cut: true}, {name: "DUE"}, {name: "TITLE", cut: true}}
		if err := c.table(columns, rows); err != nil {
			return err
		}
	}

	open := 0

	for _, item := range detail.ReviewItems {
		if item.Status == notebook.ReviewOpen {
			open++

			c.infof("Review: %s (%s) %s", item.Kind, short(item.ID), terminal.Line(item.Reason))
		}
	}

	if open > 0 {
		c.infof("To decide: %d. Open the review page in the browser.", open)
	}

	return nil
}
