package story

import (
	"encoding/json"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// verdict is the answer to the call for a verdict, with the fields of its schema.
type verdict struct {
	Outcome          tarsy.Outcome    `json:"outcome" yaml:"outcome"`
	Cause            string           `json:"cause" yaml:"cause"`
	Confidence       tarsy.Confidence `json:"confidence" yaml:"confidence"`
	ConfidenceReason string           `json:"confidence_reason" yaml:"confidence_reason"`
	Impact           string           `json:"impact" yaml:"impact"`
	NextSteps        []step           `json:"next_steps" yaml:"next_steps"`
	NotChecked       []string         `json:"not_checked" yaml:"not_checked"`
}

// step is a next step of a verdict.
type step struct {
	Title      string     `json:"title" yaml:"title"`
	Why        string     `json:"why" yaml:"why"`
	Command    string     `json:"command" yaml:"command"`
	URL        string     `json:"url" yaml:"url"`
	Risk       tarsy.Risk `json:"risk" yaml:"risk"`
	Reversible bool       `json:"reversible" yaml:"reversible"`
}

// verdict returns the verdict of the analysis in the request. One that concluded early shows less than its story, so it is
// inconclusive.
func (b *book) verdict(req *llm.Request) string {
	found := unknownVerdict()

	if s := b.find(req); s != nil {
		found = s.Verdict
	}

	if concludedEarly(req) {
		found = earlyVerdict()
	}

	text, err := json.Marshal(found)
	if err != nil {
		panic(fmt.Sprintf("verdict: %v", err))
	}

	return string(text)
}

func concludedEarly(req *llm.Request) bool {
	for _, message := range req.Messages {
		if message.Role == llm.RoleUser && strings.Contains(message.Content, earlyMark) {
			return true
		}
	}

	return false
}

func earlyVerdict() verdict {
	return verdict{
		Outcome: tarsy.OutcomeInconclusive, Confidence: tarsy.ConfidenceLow,
		ConfidenceReason: "The investigation had to conclude before its planned steps were done.",
		NextSteps: []step{{
			Title: "Run the investigation again", Why: "The missing steps may confirm what the analysis suspects.", Risk: tarsy.RiskNone, Reversible: true,
		}},
		NotChecked: []string{"The planned steps that were not run; the analysis lists them."},
	}
}

func unknownVerdict() verdict {
	return verdict{
		Outcome: tarsy.OutcomeNeedsHuman, Confidence: tarsy.ConfidenceHigh,
		ConfidenceReason: "Nothing was investigated: the demo's model is a script that knows only the demo's own alerts.",
		NextSteps: []step{{
			Title: "Configure an LLM provider and your own MCP servers", Why: "A model can then investigate this alert.", Risk: tarsy.RiskNone, Reversible: true,
		}},
		NotChecked: []string{"Everything about this alert."},
	}
}
