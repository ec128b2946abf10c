package tarsy

import "time"

// OwnServer is the name that calls of TARSy's own tools have instead of an MCP server's. No MCP server may be configured with it.
const OwnServer = "tarsy"

// Likeness is why a past session is similar to another one.
type Likeness string

// The likenesses, the strongest first.
const (
	// The same alert: the fingerprint is equal.
	LikenessFingerprint Likeness = "fingerprint"
	// The alert has the same name and shares other labels.
	LikenessLabels Likeness = "labels"
	// The alert or the conclusion has the same rare words.
	LikenessText Likeness = "text"
)

// SimilarSession is a past session that may help with another one.
type SimilarSession struct {
	// Same as in Session.
	ID        string `json:"id"`
	AlertType string `json:"alert_type"`
	// Title and severity of the alert; may be empty.
	Title    string `json:"title"`
	Severity string `json:"severity"`
	// How it ended.
	Status SessionStatus `json:"status"`
	// Why it is listed; the strongest reason.
	Likeness Likeness `json:"likeness"`
	// Labels that both alerts have with the same value; empty, not nil.
	SharedLabels map[string]string `json:"shared_labels"`
	// Same as in Session and Verdict.
	Outcome    Outcome    `json:"outcome"`
	Cause      string     `json:"cause"`
	Confidence Confidence `json:"confidence"`
	// The worst rating that people gave, and the newest real cause that they named; empty without feedback.
	Rating    Rating `json:"rating"`
	RealCause string `json:"real_cause"`
	// When it was submitted and when it ended.
	CreatedAt   time.Time  `json:"created_at"`
	CompletedAt *time.Time `json:"completed_at"`
}
