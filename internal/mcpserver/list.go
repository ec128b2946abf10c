package mcpserver

import (
	"cmp"
	"context"
	"iter"

	"github.com/google/jsonschema-go/jsonschema"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

const (
	usualSessions = 10
	maxSessions   = 50
)

type listArguments struct {
	Statuses  []string `json:"status,omitempty"     jsonschema:"Only sessions with one of these statuses."`
	Outcomes  []string `json:"outcome,omitempty"    jsonschema:"Only sessions with one of these outcomes."`
	Severity  string   `json:"severity,omitempty"   jsonschema:"Only alerts of this severity."`
	AlertType string   `json:"alert_type,omitempty" jsonschema:"Only alerts of this type."`
	Service   string   `json:"service,omitempty"    jsonschema:"Only alerts about this service."`
	Namespace string   `json:"namespace,omitempty"  jsonschema:"Only alerts about this namespace."`
	Cluster   string   `json:"cluster,omitempty"    jsonschema:"Only alerts about this cluster."`
	Team      string   `json:"team,omitempty"       jsonschema:"Only alerts of this team."`
	Handling  []string `json:"handling,omitempty"   jsonschema:"Only sessions in one of these states of handling by people."`
	Assignee  string   `json:"assignee,omitempty"   jsonschema:"Only sessions that this person takes care of; me for the owner of the API key."`
	Tags      []string `json:"tags,omitempty"       jsonschema:"Only sessions that have all of these tags."`
	Limit     int      `json:"limit,omitempty"      jsonschema:"How many sessions to list at most."`
}

func addList(server *mcpsdk.Server, identify identifier) {
	add(server, identify, definition{
		name: "list_sessions", title: "List sessions",
		description: "List investigations, newest first: id, status, outcome, what people did with it, title and cause. All filters must match.",
		refine: func(arguments map[string]*jsonschema.Schema) {
			refineList(arguments["status"], oneOf(tarsy.SessionStatuses()))
			refineList(arguments["outcome"], oneOf(tarsy.Outcomes()))
			refineList(arguments["handling"], oneOf(tarsy.HandlingStates()))
			refineList(arguments["tags"], nil)
			arguments["severity"].Enum = oneOf(tarsy.Severities())
			between(arguments["limit"], 1, maxSessions, usualSessions)
		},
	}, listSessions)
}

// refineList restricts a list to some values, and disallows null.
func refineList(schema *jsonschema.Schema, values []any) {
	schema.Types, schema.Type = nil, "array"
	schema.Items.Enum = values
}

func listSessions(ctx context.Context, who caller, in listArguments) (string, error) {
	limit := clamp(in.Limit, usualSessions, maxSessions)

	sessions, more, err := first(limit, client.List(ctx, who.client, client.ListSessions, client.Filter{
		Statuses: in.Statuses, Outcomes: in.Outcomes, Severity: in.Severity, AlertType: in.AlertType, Service: in.Service, Namespace: in.Namespace,
		Cluster: in.Cluster, Team: in.Team, Handling: in.Handling, Assignee: in.Assignee, Tags: in.Tags,
	}, limit+1))
	if err != nil {
		return "", err
	}

	if len(sessions) == 0 {
		return "No sessions match.\n", nil
	}

	var p pieces

	for _, s := range sessions {
		p.session(s)
	}

	return data(p.String()) + "\n" + moreText(more, "sessions"), nil
}

// describe describes a session without text from third parties.
func describe(s tarsy.SessionItem) string {
	text := words(string(s.Status))

	if s.Outcome != tarsy.OutcomeNone {
		text += ", " + s.Outcome.Words()
	}

	if s.Severity != tarsy.SeverityUnknown {
		text += ", " + string(s.Severity)
	}

	if s.Handling != nil && s.Handling.State != tarsy.HandlingOpen {
		text += ", " + string(s.Handling.State)
	}

	if s.Rating != "" {
		text += ", marked " + string(s.Rating) + " by a person"
	}

	return text
}

// session writes a session and its result.
func (p *pieces) session(s tarsy.SessionItem) {
	p.printf("- %s, %s, %s\n", s.ID, date(s.CreatedAt), describe(s))
	p.printf("  %s\n", line(s.TitleOr(s.AlertType), maxLine))
	p.care(s.Handling)
	p.conclusion(s)
}

// conclusion writes the result of a session. The cause of a verdict marked wrong is omitted: a model would take it for a fact.
func (p *pieces) conclusion(s tarsy.SessionItem) {
	if s.Rating == tarsy.RatingWrong {
		p.printf("  The verdict was marked wrong; get_session shows what people reported.\n")

		return
	}

	if text := line(cmp.Or(s.Cause, s.ExecutiveSummary, s.ErrorMessage), maxLine); text != "" {
		p.printf("  %s\n", text)
	}
}

// first reads up to limit values of a list that was requested with limit+1, and reports whether there are more.
func first[T any](limit int, all iter.Seq2[T, error]) (values []T, more bool, err error) {
	for value, err := range all {
		if err != nil {
			return nil, false, err
		}

		if len(values) == limit {
			return values, true, nil
		}

		values = append(values, value)
	}

	return values, false, nil
}

// clamp limits a number of results; zero means the usual number.
func clamp(limit, usual, most int) int { return min(max(cmp.Or(limit, usual), 1), most) }

func moreText(more bool, what string) string {
	if !more {
		return ""
	}

	return "There are more " + what + ": raise limit or use more filters.\n"
}
