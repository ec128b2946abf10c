package tarsy

import (
	"strings"
	"time"
)

// Outcome is one word for what kind of conclusion an investigation has.
type Outcome string

// The outcomes. OutcomeNone is that of sessions without a verdict.
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

// Words is the outcome as people read it, in the same words everywhere; empty for OutcomeNone.
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

	// One of a newer release, which a client may meet.
	return strings.ReplaceAll(string(o), "_", " ")
}

// Confidence is how certain a verdict is.
type Confidence string

// The confidences, the highest first.
const (
	ConfidenceHigh   Confidence = "high"
	ConfidenceMedium Confidence = "medium"
	ConfidenceLow    Confidence = "low"
)

// Confidences lists every confidence, the highest first.
func Confidences() []Confidence { return []Confidence{ConfidenceHigh, ConfidenceMedium, ConfidenceLow} }

// Risk is what can go wrong when a next step is taken.
type Risk string

// The risks, the lowest first. RiskNone is that of steps that only look.
const (
	RiskNone   Risk = "none"
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

// Risks lists every risk, the lowest first.
func Risks() []Risk { return []Risk{RiskNone, RiskLow, RiskMedium, RiskHigh} }

// Verdict is the structured conclusion of a session. It is written once, with the step that completes the session.
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
	// Who or what is affected; empty if it is not known.
	Impact Claim `json:"impact"`
	// What to do, the most urgent first; empty, not nil.
	NextSteps []NextStep `json:"next_steps"`
	// What the investigation did not look at although it matters; empty, not nil.
	NotChecked []Claim `json:"not_checked"`
	// When it was stored.
	CreatedAt time.Time `json:"created_at"`
}

// Claim is a sentence with the tool calls that support it.
type Claim struct {
	// The sentence; may be empty.
	Text string `json:"text"`
	// Calls that exist and that the text cites; empty, not nil. Marks stay in the text.
	Citations []Citation `json:"citations"`
}

// NextStep is one thing to do after an investigation.
type NextStep struct {
	// What to do, in one line.
	Title string `json:"title"`
	// Why, with its citations.
	Why Claim `json:"why"`
	// What to run; empty if there is nothing to run. It is a proposal of a model: nothing runs it by itself.
	Command string `json:"command"`
	// An http or https address; empty if there is none.
	URL string `json:"url"`
	// What can go wrong, and whether the step can be undone.
	Risk       Risk `json:"risk"`
	Reversible bool `json:"reversible"`
}

// Caution is what to know before taking the step: its risk, and whether it can be undone.
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

// Limits of verdicts. Longer texts are cut, further items left out.
const (
	MaxVerdictLine  = 300
	MaxVerdictText  = 1000
	MaxVerdictItems = 10
)

// Rating is what a person thinks of a verdict.
type Rating string

// The ratings, the best first.
const (
	RatingRight  Rating = "right"
	RatingPartly Rating = "partly"
	RatingWrong  Rating = "wrong"
)

// Ratings lists every rating, the best first.
func Ratings() []Rating { return []Rating{RatingRight, RatingPartly, RatingWrong} }

// MaxFeedbackText is how many characters why and the real cause may have.
const MaxFeedbackText = 2000

// Feedback is what one person says about the conclusion of a session that has ended. A person has one opinion per session: giving it
// again replaces it. Its author is told apart by the identity, not by the name.
type Feedback struct {
	// UUIDv7; kept when the feedback is replaced.
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	// Who gave it, as in Session.Author. If somebody else of that name gave feedback on the session before, a number follows: "Ana (2)".
	Author string `json:"author"`
	// Identity of the author, as in Person; empty for one without, and for feedback that a release before migration 0045 stored.
	AuthorID string `json:"author_id"`
	Rating   Rating `json:"rating"`
	// Why, in the person's words; may be empty.
	Why string `json:"why"`
	// What the cause really was; may be empty, and is always empty for RatingRight.
	RealCause string `json:"real_cause"`
	// When it was given first and last.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}
