package tarsy

import "time"

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
