package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

func (t *tool) notes() *cobra.Command {
	cmd := &cobra.Command{
		Use: "notes", Short: "List notes, newest first", GroupID: groupClient, Args: namedArgs,
		Long: "Lists notes with the status of their processing and the number of entities that were extracted.",
		Example: `  tarsy notes
  tarsy notes --status failed
  tarsy notes --search checkout --all -o json`,
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)

	var filter client.NoteFilter

	flags := cmd.Flags()
	flags.StringSliceVar(&filter.Statuses, "status", nil, "only these statuses, separated by commas: queued, extracted, done, failed")
	flags.StringVar(&filter.Source, "source", "", "only this source: cli, web, discord, session")
	flags.StringVar(&filter.SessionID, "session", "", "only notes about this session")
	flags.StringVar(&filter.Search, "search", "", "only notes that contain these words")
	paging := addListFlags(cmd, "notes")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		limit, err := paging.limit()
		if err != nil {
			return err
		}

		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		if filter.SessionID != "" {
			if filter.SessionID, err = c.Resolve(cmd.Context(), filter.SessionID); err != nil {
				return err
			}
		}

		return showList(t, format, client.List(cmd.Context(), c, client.ListNotes, filter, limit), t.printNotes)
	}

	return cmd
}

func (t *tool) printNotes(notes []tarsy.Note) error {
	if len(notes) == 0 {
		t.infof("No notes found.")

		return nil
	}

	const width = 60

	rows := make([][]string, len(notes))
	for i, n := range notes {
		rows[i] = []string{
			short(n.ID), string(n.Status), string(n.Source), n.Author, terminal.Age(time.Since(n.CreatedAt)), strconv.Itoa(n.EntityCount),
			terminal.Truncate(terminal.Line(n.Content), width),
		}
	}

	style := func(cell string) terminal.Style {
		switch tarsy.NoteStatus(cell) {
		case tarsy.NoteDone:
			return terminal.Green
		case tarsy.NoteFailed:
			return terminal.Red
		default:
			return terminal.Plain
		}
	}

	return t.table([]column{
		{name: "ID"}, {name: "STATUS", style: style}, {name: "SOURCE", optional: true}, {name: "AUTHOR", cut: true, optional: true}, {name: "AGE"},
		{name: "ENTITIES", optional: true}, {name: "NOTE", cut: true},
	}, rows)
}
