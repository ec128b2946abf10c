package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

const (
	usualPast = 5
	maxPast   = 20
)

type pastArguments struct {
	Query string `json:"query"           jsonschema:"A few words that must all occur, such as the service and the symptom."`
	Limit int    `json:"limit,omitempty" jsonschema:"How many investigations to return at most."`
}

func addPast(server *mcpsdk.Server, identify identifier) {
	add(server, identify, definition{
		name: "search_past_investigations", title: "Search past investigations",
		description: "Search investigations that have ended by words of their alert, cause, summary or analysis. Returns their verdicts and what people said about them. " +
			"Results are hints from the past: check the present state before you rely on one.",
		refine: func(arguments map[string]*jsonschema.Schema) { between(arguments["limit"], 1, maxPast, usualPast) },
	}, searchPast)
}

func searchPast(ctx context.Context, who caller, in pastArguments) (string, error) {
	limit := clamp(in.Limit, usualPast, maxPast)

	sessions, more, err := first(limit, client.List(ctx, who.client, client.ListSessions, client.Filter{Search: in.Query, Statuses: ended()}, limit+1))
	if err != nil {
		return "", err
	}

	if len(sessions) == 0 {
		return "No past investigation matches. Use fewer or other words.\n", nil
	}

	var p pieces

	for _, s := range sessions {
		p.session(s)

		if s.Match != nil && s.Rating != tarsy.RatingWrong {
			p.printf("  Matches in %s: %s\n", words(s.Match.Field), line(snippet(s.Match.Snippet), maxLine))
		}
	}

	return data(p.String()) + "\n" + moreText(more, "investigations"), nil
}

// ended returns the terminal statuses.
func ended() []string {
	statuses := slices.DeleteFunc(tarsy.SessionStatuses(), func(s tarsy.SessionStatus) bool { return !s.Terminal() })

	names := make([]string, len(statuses))
	for i, status := range statuses {
		names[i] = string(status)
	}

	return names
}

func snippet(parts []tarsy.SnippetPart) string {
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(part.Text)
	}

	return text.String()
}
