package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/client"
)

type submitArguments struct {
	Data           json.RawMessage `json:"data"                      jsonschema:"What happened: text, or a JSON object or list."`
	AlertType      string          `json:"alert_type,omitempty"      jsonschema:"The type of the alert, which selects the chain of agents. Leave it out for the default."`
	RunbookURL     string          `json:"runbook_url,omitempty"     jsonschema:"The address of a runbook for this alert."`
	IdempotencyKey string          `json:"idempotency_key,omitempty" jsonschema:"A text of your choice. Submitting again with the same one returns the first session."`
}

func addSubmit(server *mcpsdk.Server, identify identifier) {
	add(server, identify, definition{
		name: "submit_alert", title: "Submit an alert", writes: true,
		description: "Submit an alert to TARSy, whose agents then investigate it. Returns the id of the session. An alert that is already being investigated, " +
			"or that is silenced, creates no new session; the result tells why.",
		refine: func(arguments map[string]*jsonschema.Schema) {
			arguments["data"] = &jsonschema.Schema{Types: []string{"string", "object", "array"}, Description: arguments["data"].Description}
		},
	}, submitAlert)
}

func submitAlert(ctx context.Context, who caller, in submitArguments) (string, error) {
	accepted, err := client.Create(ctx, who.client, client.SubmitAlert, in.IdempotencyKey, client.Alert{
		AlertType: in.AlertType, Data: alertData(in.Data), RunbookURL: in.RunbookURL,
	})
	if err != nil {
		return "", err
	}

	var p pieces

	if accepted.SessionID == "" {
		p.printf("No session was created.\n")
	} else {
		p.printf("Session %s: %s.\nDashboard: %s\nCall get_session with this id and wait_seconds to wait for the verdict.\n",
			accepted.SessionID, words(string(accepted.Status)), who.page(accepted.SessionID))
	}

	if len(accepted.Alerts) == 0 {
		return p.String(), nil
	}

	var decided pieces
	for _, alert := range accepted.Alerts {
		decided.printf("- %s: %s. %s\n", line(alert.Title, maxLine), words(string(alert.Action)), line(alert.Reason, maxLine))
	}

	return fmt.Sprintf("%sResult:\n%s", p.String(), data(decided.String())), nil
}

// alertData returns the data of an alert in the form that the API expects. A string that contains a JSON object or list is sent
// as that.
func alertData(raw json.RawMessage) any {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return client.AlertData(text)
	}

	return raw
}
