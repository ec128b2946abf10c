package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

// remote is a command that calls a server, with the flags that all such commands share.
type remote struct {
	*tool
	*connection

	format *choice
}

func newRemote(t *tool, cmd *cobra.Command) *remote {
	return &remote{tool: t, connection: connectionFlags(cmd), format: outputFlag(cmd)}
}

// run sets up cmd to work with a client, which is closed afterwards.
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

// onSession sets up cmd to work with the session in its first argument.
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

// resolveAll returns the ids of the sessions that parts identify; nil if there are none.
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

// newList returns a command that prints a list, which has more formats.
func newList(t *tool, cmd *cobra.Command) *remote {
	return &remote{tool: t, connection: connectionFlags(cmd), format: outputFlag(cmd, formatYAML, formatWide, formatName)}
}

// json reports whether data is printed as JSON.
func (r *remote) json() bool { return r.format.value == formatJSON }

// forPeople reports whether people read the output, so that hints may follow.
func (r *remote) forPeople() bool {
	return r.format.value == formatText || r.format.value == formatWide
}

// report prints the result of a change: as data, or as a message for people plus, unless it is empty, the id as data.
func (r *remote) report(result any, id, format string, args ...any) error {
	switch r.format.value {
	case formatJSON:
		return r.printJSON(result)
	case formatYAML:
		return r.printYAML(result)
	}

	if r.forPeople() {
		r.infof(format, args...)
	}

	if id == "" {
		return nil
	}

	return r.printf("%s\n", id)
}

// view describes how a list is printed.
type view[Item any] struct {
	// none is printed for an empty list. If it is empty too, only the column headings are printed.
	none    string
	columns []column
	row     func(Item) []string
	// name returns the id that commands accept, as a whole.
	name func(Item) string
	// entry, if it is set, returns the lines that show an item in a terminal in place of a row.
	entry func(entryLayout, Item) []string
}

// entryLayout is what the lines of an entry need to know about the terminal.
type entryLayout struct {
	palette terminal.Palette
	width   int
}

// showList prints a list, unless err is set: as data, as entries, or as a table with one row per item.
func showList[Item any](r *remote, list []Item, err error, v view[Item]) error {
	if err != nil {
		return err
	}

	list = append([]Item{}, list...)

	switch r.format.value {
	case formatJSON:
		return r.printJSON(list)
	case formatYAML:
		return r.printYAML(list)
	case formatName:
		for _, item := range list {
			if err := r.printf("%s\n", terminal.Line(v.name(item))); err != nil {
				return err
			}
		}

		return nil
	}

	if len(list) == 0 && v.none != "" {
		r.infof("%s", v.none)

		return nil
	}

	width := r.columns(r.Stdout)
	if r.format.value == formatWide {
		width = 0
	}

	if v.entry != nil && width > 0 {
		return showEntries(r, list, entryLayout{r.palette(r.Stdout), width}, v.entry)
	}

	rows := make([][]string, len(list))
	for i, item := range list {
		rows[i] = v.row(item)
	}

	return r.tableIn(width, v.columns, rows)
}

func showEntries[Item any](r *remote, list []Item, layout entryLayout, entry func(entryLayout, Item) []string) error {
	for _, item := range list {
		if err := r.printf("%s\n", strings.Join(entry(layout, item), "\n")); err != nil {
			return err
		}
	}

	return nil
}

// runList sets up cmd to list pages from the server; items is the noun for help texts. If session is not nil, it points to the part of
// filter that identifies a session.
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

		return showList(r, list, err, v)
	})
}

// listGroup returns a command with subcommands that lists by default: it is set up in the same way as its command list.
func listGroup(t *tool, cmd, list *cobra.Command, listing func(*tool, *cobra.Command), others ...*cobra.Command) *cobra.Command {
	list.Use, list.Args = "list", namedArgs
	cmd.Long = strings.TrimSpace(cmd.Long + "\n\nWithout a command it is the same as tarsy " + cmd.Name() + " list.")

	listing(t, cmd)
	listing(t, list)

	return group(cmd, append([]*cobra.Command{list}, others...)...)
}

// group returns a command with subcommands. If it has no run function, running it alone prints its help.
func group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.GroupID, cmd.Args = cmp.Or(cmd.GroupID, groupClient), onlyCommands
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}

	cmd.AddCommand(commands...)

	return cmd
}
