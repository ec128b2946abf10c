package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

type askArguments struct {
	SessionID string `json:"session_id"             jsonschema:"The id of the session, whole or its last characters."`
	Question  string `json:"question"               jsonschema:"The question about the investigation."`
	Wait      *int   `json:"wait_seconds,omitempty" jsonschema:"How long to wait for the answer."`
}

func addAsk(server *mcpsdk.Server, identify identifier) {
	add(server, identify, definition{
		name: "ask", title: "Ask a follow-up question", writes: true,
		description: "Ask a follow-up question about a session that has ended, and wait for the answer. The agent that answers knows the whole investigation " +
			"and may call the tools of its chain. A session answers one question at a time. If the answer takes longer than wait_seconds, read it later with get_session.",
		refine: func(arguments map[string]*jsonschema.Schema) { refineWait(arguments, usualWait) },
	}, ask)
}

func refineWait(arguments map[string]*jsonschema.Schema, usual int) {
	// The argument is a pointer to distinguish zero from missing; null is not allowed.
	arguments["wait_seconds"].Types, arguments["wait_seconds"].Type = nil, "integer"
	between(arguments["wait_seconds"], 0, maxWait, usual)
}

func ask(ctx context.Context, who caller, in askArguments) (string, error) {
	id, err := who.client.Resolve(ctx, in.SessionID)
	if err != nil {
		return "", err
	}

	// Events after this version belong to this answer, or to an earlier question.
	detail, err := who.client.Session(ctx, id)
	if err != nil {
		return "", err
	}

	asked, err := client.Call(ctx, who.client, client.Ask, client.Question{Content: in.Question}, id)
	if err != nil {
		return "", err
	}

	seconds := usualWait
	if in.Wait != nil {
		seconds = *in.Wait
	}

	answered, err := who.awaitAnswer(ctx, detail, asked, seconds)
	if err != nil {
		return "", err
	}

	if !answered {
		return fmt.Sprintf("The question was accepted and is not answered yet. Call get_session with session_id %s later to read the answer.\nDashboard: %s\n",
			id, who.page(id)), nil
	}

	answer, err := who.client.Answer(ctx, id, asked)
	if err != nil {
		return "", err
	}

	if answer.Stage.Status != tarsy.StatusCompleted {
		return "", refusedError{words(string(answer.Stage.Status)) + ". " + answer.Stage.ErrorMessage}
	}

	var p pieces

	p.section("Answer", answer.Answer, maxAnalysis)

	return data(p.String()) + "\n" + p.rest(who, id), nil
}

// rest describes where truncated texts can be read in full.
func (p *pieces) rest(who caller, sessionID string) string {
	if len(p.cut) == 0 {
		return ""
	}

	return fmt.Sprintf("Cut: %s. The whole session: %s or GET /api/v1/sessions/%s\n", strings.Join(p.cut, ", "), who.page(sessionID), sessionID)
}
