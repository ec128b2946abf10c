// Package report renders a session as Markdown, for example to attach it to a ticket. Its functions are pure; they know neither
// the database nor HTTP. Text of alerts, tools and models is untrusted here as everywhere: it is put in fences that it cannot
// end, or made harmless, and cannot be mistaken for a part of the report.
package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Size limits of texts in a report; the JSON export is complete.
const (
	maxAlert    = 16_000
	maxEvidence = 4_000
	maxCell     = 500
)

// Markdown renders the report of a session.
func Markdown(export *tarsy.Export) string {
	r := &writer{export: export, answers: answers(export)}

	r.title()
	r.verdict()
	r.facts()
	r.feedback()
	r.handling()
	r.prose("Executive summary", export.Session.ExecutiveSummary)
	r.prose("Final analysis", export.Session.FinalAnalysis)
	r.evidence()
	r.section("Alert")
	r.fenced("alert", "", export.Session.AlertData, maxAlert)
	r.outline()
	r.questions()

	return r.text.String()
}

// writer writes one report.
type writer struct {
	text    strings.Builder
	export  *tarsy.Export
	answers []tarsy.TimelineEvent
}

func (r *writer) printf(format string, args ...any) { _, _ = fmt.Fprintf(&r.text, format, args...) }

// section starts a section of the report.
func (r *writer) section(title string) { r.printf("\n## %s\n\n", title) }

// prose writes a model's Markdown text.
func (r *writer) prose(title, text string) {
	if strings.TrimSpace(text) != "" {
		r.section(title)
		r.printf("%s\n", harmless(text, sectionLevel))
	}
}

// fenced writes a text verbatim, up to a limit.
func (r *writer) fenced(what, language, text string, limit int) {
	shown := plaintext.CutMiddle(text, limit, fmt.Sprintf("\n[cut: about %s of %s bytes left out]\n", count(len(text)-limit), count(len(text))))
	r.printf("%s\n", fence(language, shown))

	if len(shown) < len(text) {
		r.printf("\nShortened: the middle of the %s is left out.\n", what)
	}
}

func (r *writer) title() {
	session := r.export.Session
	result := cmp.Or(session.Outcome.Words(), words(string(session.Status)))
	r.printf("# %s: %s\n", inline(session.TitleOr(session.AlertType), maxCell), inline(result, maxCell))
}

// facts writes the metadata of a session.
func (r *writer) facts() {
	session := r.export.Session

	if session.Verdict != nil {
		r.section("Session")
	} else {
		r.printf("\n")
	}

	r.printf("| | |\n| --- | --- |\n")

	fact := func(name, value string) {
		if value != "" {
			r.printf("| %s | %s |\n", name, value)
		}
	}

	status := words(string(session.Status))
	if session.ConcludedEarly != "" {
		status += " (concluded early: " + words(session.ConcludedEarly) + ")"
	}

	fact("Session", session.ID)

	if r.export.SessionURL != "" {
		fact("Dashboard", "<"+r.export.SessionURL+">")
	}

	r.alertFacts(fact)
	fact("Alert type", inline(session.AlertType, maxCell))
	fact("Chain", inline(session.ChainID, maxCell))
	fact("LLM provider", inline(session.LLMProvider, maxCell))
	fact("Author", inline(session.Author, maxCell))
	fact("Status", status)
	r.handlingFacts(fact)
	fact("Error", inline(strings.TrimSpace(session.ErrorCode+" "+session.ErrorMessage), maxCell))
	fact("No verdict", inline(session.VerdictError, maxCell))
	fact("Created", moment(&session.CreatedAt))
	fact("Started", moment(session.StartedAt))
	fact("Ended", moment(session.CompletedAt))
	fact("Duration", duration(session.StartedAt, session.CompletedAt))
	fact("Cost", cost(session.Usage))
	fact("Tokens", tokens(session.Usage))
	fact("Tool calls", count(session.ToolCalls))

	fact("Slack message", inline(session.SlackMessageFingerprint, maxCell))

	if session.RerunOf != nil {
		fact("Re-run of", *session.RerunOf)
	}

	fact("Re-runs", strings.Join(session.Reruns, ", "))

	fact("Exported", moment(&r.export.ExportedAt))
}

// alertFacts writes the facts about the alert and its repetitions.
func (r *writer) alertFacts(fact func(name, value string)) {
	session := r.export.Session

	fact("Severity", string(session.Severity))
	fact("Service", inline(session.Service, maxCell))
	fact("Namespace", inline(session.Namespace, maxCell))
	fact("Cluster", inline(session.Cluster, maxCell))
	fact("Team", inline(session.Team, maxCell))
	fact("Problem since", moment(session.StartsAt))

	for _, name := range slices.Sorted(maps.Keys(session.Labels)) {
		fact("Label "+inline(name, maxCell), inline(session.Labels[name], maxCell))
	}

	for _, link := range session.Links {
		fact("Link ("+inline(string(link.Kind), maxCell)+")", inline(link.URL, maxCell))
	}

	if session.Alert == nil {
		return
	}

	fact("Alert", session.Alert.Describe(func(at time.Time) string { return moment(&at) }))

	if session.Alert.EarlierSessionID != nil {
		fact("Investigated before", *session.Alert.EarlierSessionID)
	}
}

// evidence shows the tool calls on which the conclusions are based.
func (r *writer) evidence() {
	var missing []string

	cited := r.cited()
	if len(cited) == 0 {
		return
	}

	r.section("Evidence")

	for _, number := range cited {
		call := r.find(func(e tarsy.TimelineEvent) bool {
			return e.EventType == tarsy.EventToolCall && toolCall(e).Call == number
		})
		if call == nil {
			missing = append(missing, number)

			continue
		}

		metadata := toolCall(*call)
		r.printf("### Call %s: %s\n\n", number, toolName(metadata))

		if arguments := arguments(metadata); arguments != "" {
			r.printf("Arguments:\n\n")
			r.fenced("arguments", "json", arguments, maxEvidence)
			r.printf("\n")
		}

		r.printf("%s:\n\n", resultTitle(metadata))
		r.fenced("result", "", call.Content, maxEvidence)
		r.printf("\n")

		summary := r.find(func(e tarsy.TimelineEvent) bool {
			return e.EventType == tarsy.EventToolSummary && tarsy.MetadataAs[tarsy.ToolSummaryMetadata](e.Metadata).ToolCallEventID == call.ID
		})
		if summary != nil {
			r.printf("What the model was given instead:\n\n")
			r.fenced("summary", "", summary.Content, maxEvidence)
			r.printf("\n")
		}
	}

	if len(missing) > 0 {
		r.printf("No call of this session has the number: %s.\n", strings.Join(missing, ", "))
	}
}

// cited returns the calls cited by the verdict, then those cited by the analysis and by answers, without duplicates.
func (r *writer) cited() []string {
	var cited []string

	texts := append(r.claims(), r.export.Session.FinalAnalysis)
	for _, answer := range r.answers {
		texts = append(texts, answer.Content)
	}

	for _, text := range texts {
		for _, number := range tarsy.CitedCalls(text) {
			if !slices.Contains(cited, number) {
				cited = append(cited, number)
			}
		}
	}

	return cited
}

// answers returns the conclusions of chat stages.
func answers(export *tarsy.Export) []tarsy.TimelineEvent {
	isChat := map[string]bool{}
	for i := range export.Session.Stages {
		isChat[export.Session.Stages[i].ID] = export.Session.Stages[i].StageType == tarsy.StageChat
	}

	var found []tarsy.TimelineEvent

	for _, e := range export.Timeline {
		if e.EventType == tarsy.EventFinalAnalysis && e.StageID != nil && isChat[*e.StageID] {
			found = append(found, e)
		}
	}

	return found
}

func (r *writer) find(is func(tarsy.TimelineEvent) bool) *tarsy.TimelineEvent {
	at := slices.IndexFunc(r.export.Timeline, is)
	if at < 0 {
		return nil
	}

	return &r.export.Timeline[at]
}

// questions shows the questions that people asked afterwards, with their answers.
func (r *writer) questions() {
	begun := false

	for _, e := range r.export.Timeline {
		if e.EventType != tarsy.EventUserQuestion {
			continue
		}

		if !begun {
			r.section("Questions and answers")

			begun = true
		}

		author := tarsy.MetadataAs[tarsy.QuestionMetadata](e.Metadata).Author
		r.printf("### %s asked at %s\n\n%s\n\n", inline(author, maxCell), moment(&e.CreatedAt), fence("", e.Content))

		answer := slices.IndexFunc(r.answers, func(a tarsy.TimelineEvent) bool { return e.StageID != nil && *a.StageID == *e.StageID })
		if answer < 0 {
			r.printf("There is no answer.\n\n")
		} else {
			r.printf("%s\n\n", harmless(r.answers[answer].Content, questionLevel))
		}
	}
}
