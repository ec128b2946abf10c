package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// shownExchanges is how many questions about a session are shown, latest first.
	shownExchanges = 3
	// shownFeedback is how many people's feedback is shown, latest first.
	shownFeedback = 5
)

type getArguments struct {
	SessionID string `json:"session_id"             jsonschema:"The id of the session, whole or its last characters."`
	Wait      *int   `json:"wait_seconds,omitempty" jsonschema:"How long to wait for the end of the investigation if it still runs."`
}

func addGet(server *mcpsdk.Server, identify identifier) {
	add(server, identify, definition{
		name: "get_session", title: "Show a session",
		description: "Show an investigation: the verdict first (outcome, cause, confidence, impact, next steps), then feedback, what people did with the session, summary, analysis, the alert, and the latest " +
			"questions with their answers. With wait_seconds it waits for the end of an investigation that still runs. Long texts are cut; the result tells where the rest is.",
		refine: func(arguments map[string]*jsonschema.Schema) { refineWait(arguments, 0) },
	}, getSession)
}

func getSession(ctx context.Context, who caller, in getArguments) (string, error) {
	id, err := who.client.Resolve(ctx, in.SessionID)
	if err != nil {
		return "", err
	}

	detail, err := who.client.Session(ctx, id)
	if err != nil {
		return "", err
	}

	if in.Wait != nil && *in.Wait > 0 && !detail.Status.Terminal() {
		if err := who.awaitEnd(ctx, detail, *in.Wait); err != nil {
			return "", err
		}

		if detail, err = who.client.Session(ctx, id); err != nil {
			return "", err
		}
	}

	var timeline client.Timeline

	if detail.Chat != nil {
		if timeline, err = who.client.Timeline(ctx, id); err != nil {
			return "", err
		}
	}

	return sessionText(who, detail, client.Exchanges(detail, timeline.Events)), nil
}

func sessionText(who caller, detail tarsy.SessionDetail, exchanges []client.Exchange) string {
	var p pieces

	p.field("Alert", detail.TitleOr(detail.AlertType))
	p.field("Severity", string(detail.Severity))
	p.field("About", detail.Place())
	p.verdict(detail)
	p.field("Error", detail.ErrorMessage)
	p.feedback(detail.Feedback)
	p.handling(detail.Handling)
	p.section("Summary", detail.ExecutiveSummary, maxAnswer)
	p.section("Analysis", detail.FinalAnalysis, maxAnalysis)
	p.section("Alert data", detail.AlertData, maxAlert)
	p.exchanges(exchanges)

	return fmt.Sprintf("%sDashboard: %s\n%s\n%s", statusText(detail), who.page(detail.ID), data(p.String()), p.rest(who, detail.ID))
}

// statusText contains only what TARSy itself knows, no text from third parties.
func statusText(detail tarsy.SessionDetail) string {
	text := fmt.Sprintf("Session %s: %s", detail.ID, words(string(detail.Status)))

	switch {
	case detail.Verdict != nil:
		text += fmt.Sprintf(". Outcome: %s, %s confidence", detail.Verdict.Outcome.Words(), detail.Verdict.Confidence)
	case !detail.Status.Terminal() && detail.CurrentStageIndex > 0:
		text += fmt.Sprintf(", stage %d of %d. Call get_session with wait_seconds to wait for the verdict", detail.CurrentStageIndex, detail.StageCount)
	case !detail.Status.Terminal():
		text += ". Call get_session with wait_seconds to wait for the verdict"
	}

	return text + ".\n"
}

// verdict writes the conclusion of a session, if it has one. Citation marks are kept: the analysis has them too.
func (p *pieces) verdict(detail tarsy.SessionDetail) {
	verdict := detail.Verdict
	if verdict == nil {
		return
	}

	p.field("Cause", verdict.Cause.Text)
	p.field("Why this confidence", verdict.ConfidenceReason.Text)
	p.field("Impact", verdict.Impact.Text)

	for i, step := range verdict.NextSteps {
		p.printf("Next step %d: %s (%s)\n", i+1, line(step.Title, maxLine), step.Caution())
		p.field("  Why", step.Why.Text)
		p.command(step.Command)
		p.field("  See", step.URL)
	}

	for _, claim := range verdict.NotChecked {
		p.field("Not checked", claim.Text)
	}
}

// command writes a command proposed by a model, with its line breaks.
func (p *pieces) command(text string) {
	if text != "" {
		p.printf("  Command, proposed by a model: %s\n", strings.ReplaceAll(plaintext.Cut(text, maxText), "\n", "\n    "))
	}
}

func (p *pieces) feedback(all []tarsy.Feedback) {
	for _, f := range all[:min(len(all), shownFeedback)] {
		p.printf("Feedback by %s: the verdict is %s\n", line(f.Author, maxLine), f.Rating)
		p.field("  Why", f.Why)
		p.field("  Real cause", f.RealCause)
	}
}

func (p *pieces) exchanges(all []client.Exchange) {
	if hidden := len(all) - shownExchanges; hidden > 0 {
		p.printf("\nEarlier questions that are not shown: %d\n", hidden)
		all = all[hidden:]
	}

	for _, exchange := range all {
		p.section("Question by "+line(exchange.Author, maxLine), exchange.Question, maxText)
		p.section("Answer", exchange.Answer, maxAnswer)

		if exchange.Answer == "" {
			p.printf("\nNot answered yet.\n")
		}
	}
}
