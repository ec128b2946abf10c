package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
)

// remote is a command that talks to a server, with the flags that all of these commands have.
type remote struct {
	*tool
	*connection

	format *choice
}

func newRemote(t *tool, cmd *cobra.Command) *remote {
	return &remote{tool: t, connection: connectionFlags(cmd), format: outputFlag(cmd)}
}

// run makes a command do something with a client, which is closed afterwards.
func (r *remote) run(cmd *cobra.Command, do func(ctx context.Context, c *client.Client, args []string) error) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := r.open()
		if err != nil {
			return err
		}
		defer c.Close()

		return do(cmd.Context(), c, args)
	}
}

// onSession makes a command do something with the session that its first argument names.
func (r *remote) onSession(cmd *cobra.Command, do func(ctx context.Context, c *client.Client, id string, args []string) error) {
	r.offerSessions(cmd)
	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := c.Resolve(ctx, args[0])
		if err != nil {
			return err
		}

		return do(ctx, c, id, args[1:])
	})
}

// resolveAll returns the ids of the sessions that are named by parts of them; nil if there are none.
func resolveAll(ctx context.Context, c *client.Client, parts []string) ([]string, error) {
	var ids []string

	for _, part := range parts {
		id, err := c.Resolve(ctx, part)
		if err != nil {
			return nil, err
		}

		ids = append(ids, id)
	}

	return ids, nil
}

// json reports whether data is printed as JSON.
func (r *remote) json() bool { return r.format.value == formatJSON }

// report prints the result of a change: as JSON, or a line of talk for people and, unless it is empty, its id as data.
func (r *remote) report(result any, id, format string, args ...any) error {
	if r.json() {
		return r.printJSON(result)
	}

	r.infof(format, args...)

	if id == "" {
		return nil
	}

	return r.printf("%s\n", id)
}

// view is how a list is shown to people.
type view[Item any] struct {
	// none is said of an empty list; if it is empty too, there are only the heads of the columns.
	none    string
	columns []column
	row     func(Item) []string
}

// showTable prints a list, unless it could not be read: as JSON, or as a table with a row for each item.
func showTable[Item any](r *remote, list []Item, err error, v view[Item]) error {
	switch {
	case err != nil:
		return err
	case r.json():
		return r.printJSON(append([]Item{}, list...))
	case len(list) == 0 && v.none != "":
		r.infof("%s", v.none)

		return nil
	}

	rows := make([][]string, len(list))
	for i, item := range list {
		rows[i] = v.row(item)
	}

	return r.table(v.columns, rows)
}

// runList makes a command list what the server has by page; items is what they are called. If session is not nil, it is the part of the
// filter that names a session.
func runList[Filter, Item any](r *remote, cmd *cobra.Command, items string, op client.Listing[Filter, Item], filter *Filter, session *string, v view[Item]) {
	paging := addListFlags(cmd, items)

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		limit, err := paging.limit()
		if err != nil {
			return err
		}

		if session != nil && *session != "" {
			if *session, err = c.Resolve(ctx, *session); err != nil {
				return err
			}
		}

		list, err := client.All(client.List(ctx, c, op, *filter, limit))

		return showTable(r, list, err, v)
	})
}

// group is a command that only has other commands. Without one it prints its help, or does what it is made to do.
func group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.GroupID, cmd.Args = cmp.Or(cmd.GroupID, groupClient), onlyCommands
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}

	cmd.AddCommand(commands...)

	return cmd
}
