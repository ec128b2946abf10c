package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/notebook"
)

func notesCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "notes", Short: "List notes, newest first", GroupID: groupClient, Args: namedArgs,
		Long: "Lists notes with the status of their processing and the number of entities that were extracted.",
		Example: `  tarsy notes
  tarsy notes --status failed
  tarsy notes --search checkout --all -o json`,
	}
	r := newList(t, cmd)

	var filter client.NoteFilter

	flags := cmd.Flags()
	flags.StringSliceVar(&filter.Statuses, "status", nil, "only these statuses, separated by commas: queued, extracted, done, failed")
	flags.StringVar(&filter.Source, "source", "", "only this source: cli, web, discord, session")
	flags.StringVar(&filter.SessionID, "session", "", "only notes about this session")
	flags.StringVar(&filter.Search, "search", "", "only notes that contain these words")
	r.completeFromServer(cmd, "session", newestSessions)
	runList(r, cmd, "notes", client.ListNotes, &filter, &filter.SessionID, view[notebook.Note]{
		none: "No notes found.",
		name: func(n notebook.Note) string { return n.ID },
		columns: []column{
			{name: "ID"}, {name: "STATUS", style: noteStyle}, {name: "SOURCE", optional: true}, {name: "AUTHOR", cut: true, optional: true}, {name: "AGE"},
			{name: "ENTITIES", optional: true}, {name: "NOTE", cut: true},
		},
		row: func(n notebook.Note) []string {
			const width = 60

			return []string{
				short(n.ID), string(n.Status), string(n.Source), n.Author, terminal.Age(time.Since(n.CreatedAt)), strconv.Itoa(n.EntityCount),
				terminal.Truncate(terminal.Line(n.Content), width),
			}
		},
	})

	return cmd
}

func noteStyle(cell string) terminal.Style {
	switch notebook.NoteStatus(cell) {
	case notebook.NoteDone:
		return terminal.Green
	case notebook.NoteFailed:
		return terminal.Red
	default:
		return terminal.Plain
	}
}
