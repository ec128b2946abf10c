package tarsy

import (
	"strings"
	"time"
)

// Outcome is the kind of conclusion that an investigation reached.
type Outcome string

// The outcomes. Sessions without a verdict have OutcomeNone.
const (
	OutcomeNone          Outcome = ""
	OutcomeCauseFound    Outcome = "cause_found"
	OutcomeProbableCause Outcome = "probable_cause"
	OutcomeInconclusive  Outcome = "inconclusive"
	OutcomeFalseAlarm    Outcome = "false_alarm"
	OutcomeNeedsHuman    Outcome = "needs_human"
)

// Outcomes lists every outcome, without OutcomeNone.
func Outcomes() []Outcome {
	return []Outcome{OutcomeCauseFound, OutcomeProbableCause, OutcomeInconclusive, OutcomeFalseAlarm, OutcomeNeedsHuman}
}

// Words returns the outcome as shown to people everywhere; empty for OutcomeNone.
func (o Outcome) Words() string {
	switch o {
	case OutcomeCauseFound:
		return "Cause found"
	case OutcomeProbableCause:
		return "Probable cause"
	case OutcomeInconclusive:
		return "Inconclusive"
	case OutcomeFalseAlarm:
		return "False alarm"
	case OutcomeNeedsHuman:
		return "Needs a person"
	case OutcomeNone:
	}

	// An outcome of a newer release, which a client may receive.
	return strings.ReplaceAll(string(o), "_", " ")
}

// Confidence is how certain a verdict is.
type Confidence string

// The confidences, highest first.
const (
	ConfidenceHigh   Confidence = "high"
	ConfidenceMedium Confidence = "medium"
	ConfidenceLow    Confidence = "low"
)

// Confidences lists every confidence, highest first.
func Confidences() []Confidence { return []Confidence{ConfidenceHigh, ConfidenceMedium, ConfidenceLow} }

// Risk is how risky it is to take a next step.
type Risk string

// The risks, lowest first. Read-only steps have RiskNone.
const (
	RiskNone   Risk = "none"
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

// Risks lists every risk, lowest first.
func Risks() []Risk { return []Risk{RiskNone, RiskLow, RiskMedium, RiskHigh} }

// Verdict is the structured conclusion of a session. It is written once, in the step that completes the session.
type Verdict struct {
	// UUIDv7, chosen when it is stored.
	ID string `json:"id"`
	// The session; it has at most one verdict.
	SessionID string  `json:"session_id"`
	Outcome   Outcome `json:"outcome"`
	// What is wrong, in one line; empty if no cause was found.
	Cause Claim `json:"cause"`
	// How certain the outcome is, and why.
	Confidence       Confidence `json:"confidence"`
	ConfidenceReason Claim      `json:"confidence_reason"`
	// Who or what is affected; empty if unknown.
	Impact Claim `json:"impact"`
	// What to do, most urgent first; empty, not nil.
	NextSteps []NextStep `json:"next_steps"`
	// What the investigation did not check although it is relevant; empty, not nil.
	NotChecked []Claim `json:"not_checked"`
	// When it was stored.
	CreatedAt time.Time `json:"created_at"`
}

// Claim is a sentence with the tool calls that support it.
type Claim struct {
	// The sentence; may be empty.
	Text string `json:"text"`
	// Existing calls that the text cites; empty, not nil. The text keeps its marks.
	Citations []Citation `json:"citations"`
}

// NextStep is one thing to do after an investigation.
type NextStep struct {
	// What to do, in one line.
	Title string `json:"title"`
	// Why, with its citations.
	Why Claim `json:"why"`
	// What to run; empty if there is nothing to run. It is a suggestion of the model and never run automatically.
	Command string `json:"command"`
	// An http or https address; empty if there is none.
	URL string `json:"url"`
	// How risky the step is, and whether it can be undone.
	Risk       Risk `json:"risk"`
	Reversible bool `json:"reversible"`
}

// Caution describes the step's risk and whether it can be undone.
func (s NextStep) Caution() string {
	if s.Risk == RiskNone {
		return "no risk"
	}

	undo := "reversible"
	if !s.Reversible {
		undo = "not reversible"
	}

	return string(s.Risk) + " risk, " + undo
}

// Limits on verdicts. Longer texts are truncated, excess items dropped.
const (
	MaxVerdictLine  = 300
	MaxVerdictText  = 1000
	MaxVerdictItems = 10
)

// Rating is what a person thinks of a verdict.
type Rating string

// The ratings, best first.
const (
	RatingRight  Rating = "right"
	RatingPartly Rating = "partly"
	RatingWrong  Rating = "wrong"
)

// Ratings lists every rating, best first.
func Ratings() []Rating { return []Rating{RatingRight, RatingPartly, RatingWrong} }

// MaxFeedbackText is the maximum length of Feedback.Why and Feedback.RealCause, in characters.
const MaxFeedbackText = 2000

// Feedback is one person's opinion of the conclusion of a session that has ended. A person has one opinion per session: giving feedback
// again replaces it. Authors are distinguished by identity, not by name.
type Feedback struct {
	// UUIDv7; kept when the feedback is replaced.
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	// Who gave it, as in Session.Author. If someone else with that name had given feedback on the session, a number is added: "Ana (2)".
	Author string `json:"author"`
	// Identity of the author, as in Person; empty if they have none, and for feedback stored by a release before migration 0045.
	AuthorID string `json:"author_id"`
	Rating   Rating `json:"rating"`
	// Why, in the person's words; may be empty.
	Why string `json:"why"`
	// What the cause really was; may be empty, and is always empty for RatingRight.
	RealCause string `json:"real_cause"`
	// When it was first and last given.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}
