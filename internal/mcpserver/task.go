package mcpserver

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/notebook"
)

const (
	usualTasks = 20
	maxTasks   = 50
)

type taskArguments struct {
	Statuses  []string `json:"status,omitempty"     jsonschema:"Only tasks with one of these statuses; open and in_progress if it is left out."`
	Owner     string   `json:"owner,omitempty"      jsonschema:"Only tasks of this person."`
	SessionID string   `json:"session_id,omitempty" jsonschema:"Only tasks from notes about this session: its id, whole or its last characters."`
	Query     string   `json:"query,omitempty"      jsonschema:"Only tasks whose title or content contain these words."`
	Limit     int      `json:"limit,omitempty"      jsonschema:"How many tasks to list at most."`
}

func addTasks(server *mcpsdk.Server, identify identifier) {
	add(server, identify, definition{
		name: "list_tasks", title: "List tasks",
		description: "List the tasks that were extracted from notes or created by people, newest first: id, status, owner, due date and title.",
		refine: func(arguments map[string]*jsonschema.Schema) {
			refineList(arguments["status"], oneOf(notebook.EntityStatuses()))
			between(arguments["limit"], 1, maxTasks, usualTasks)
		},
	}, listTasks)
}

func listTasks(ctx context.Context, who caller, in taskArguments) (string, error) {
	limit := clamp(in.Limit, usualTasks, maxTasks)
	filter := client.EntityFilter{
		Types: []string{string(notebook.EntityTask)}, Statuses: in.Statuses, Owner: in.Owner, Search: in.Query,
	}

	if len(filter.Statuses) == 0 {
		filter.Statuses = []string{string(notebook.EntityOpen), string(notebook.EntityInProgress)}
	}

	if in.SessionID != "" {
		var err error
		if filter.SessionID, err = who.client.Resolve(ctx, in.SessionID); err != nil {
			return "", err
		}
	}

	tasks, more, err := first(limit, client.List(ctx, who.client, client.ListEntities, filter, limit+1))
	if err != nil {
		return "", err
	}

	if len(tasks) == 0 {
		return "No tasks match.\n", nil
	}

	var p pieces

	for _, task := range tasks {
		p.printf("- %s, %s%s%s\n  %s\n", task.ID, words(string(task.Status)), owner(task), due(task), line(task.Title, maxLine))

		if text := line(task.Content, maxLine); text != "" {
			p.printf("  %s\n", text)
		}
	}

	return data(p.String()) + "\n" + moreText(more, "tasks"), nil
}

func owner(task notebook.EntityDetail) string {
	if task.Owner == "" {
		return ""
	}

	return ", owner " + line(task.Owner, maxLine)
}

func due(task notebook.EntityDetail) string {
	if task.DueOn == nil {
		return ""
	}

	return ", due " + task.DueOn.String()
}
