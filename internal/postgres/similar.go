package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

const (
	// maxComparedText is how much of an alert's text is compared.
	maxComparedText = 4096
	// maxShortTitleWords is the maximum number of title words with which the text of the alert is used too.
	maxShortTitleWords = 3
	// alertName is the label with the name of an alert.
	alertName = "alertname"
)

// Similar returns past sessions that resemble one, at most limit: those of the same alert, then those with similar labels, then
// those with similar text, each newest first. It returns only finished sessions that the reader can see.
func (db *DB) Similar(ctx context.Context, id string, visible tarsy.Visibility, limit int) ([]tarsy.SimilarSession, error) {
	if !ident.Valid(id) {
		return nil, SessionNotFound(id)
	}

	sources, err := Collect[comparedSession](ctx, db.readers, `
SELECT id, alert_type, fingerprint, labels, string_to_array(search_text(title), ' ') AS title_words, string_to_array(search_text(left(alert_data, $2)), ' ') AS alert_words
FROM sessions WHERE id = $1 AND deleted_at IS NULL`, id, maxComparedText)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}

	if len(sources) == 0 {
		return nil, SessionNotFound(id)
	}

	found, err := db.findSimilar(ctx, sources[0], visible, limit)
	if err != nil {
		return nil, fmt.Errorf("find similar sessions: %w", err)
	}

	similar, err := db.similarSessions(ctx, sources[0].Labels, found)
	if err != nil {
		return nil, fmt.Errorf("read similar sessions: %w", err)
	}

	return similar, nil
}

// SearchPast returns past sessions that match a search, at most limit: those with all of its words in order of relevance, then
// those with at least half of them. It returns only finished sessions that the reader can see, except the one with the id
// without.
func (db *DB) SearchPast(ctx context.Context, without, search string, visible tarsy.Visibility, limit int) ([]tarsy.SimilarSession, error) {
	// An empty search would list all sessions.
	if strings.TrimSpace(search) == "" {
		return []tarsy.SimilarSession{}, nil
	}

	found := newLikenesses(without, visible, limit)

	items, err := db.Sessions(ctx, tarsy.SessionFilter{Search: search, Visible: visible, Statuses: endedStatuses(), Limit: limit + 1})
	if err != nil {
		return nil, err
	}

	for _, item := range items {
		found.add(item.ID, tarsy.LikenessText)
	}

	if found.missing() > 0 {
		if err := db.findPartly(ctx, found, search); err != nil {
			return nil, fmt.Errorf("find past sessions: %w", err)
		}
	}

	past, err := db.similarSessions(ctx, nil, found)
	if err != nil {
		return nil, fmt.Errorf("read past sessions: %w", err)
	}

	return past, nil
}

// findPartly adds sessions with at least half of the words of a search.
func (db *DB) findPartly(ctx context.Context, found *likenesses, search string) error {
	var words []string

	err := db.readers.QueryRow(ctx, `SELECT string_to_array(search_text($1), ' ')`, search).Scan(&words)
	if err != nil {
		return fmt.Errorf("split search: %w", err)
	}

	return db.findAlike(ctx, found, tarsy.LikenessText, similarityQuery{words: likeWords(nil, words), least: minSharedWords, rare: true})
}

func endedStatuses() []tarsy.SessionStatus {
	return slices.DeleteFunc(tarsy.SessionStatuses(), func(s tarsy.SessionStatus) bool { return !s.Terminal() })
}

// comparedSession is the session that others are compared with.
type comparedSession struct {
	ID          string
	AlertType   string
	Fingerprint string
	Labels      map[string]string
	// The words of the title, and those of the beginning of the alert, as search splits them.
	TitleWords, AlertWords []string
}

// labelWords returns the labels to compare, as words of session_list.
func (s comparedSession) labelWords() []string {
	var words []string

	for name, value := range s.Labels {
		if name != alertName {
			words = append(words, labelWord(name, value))
		}
	}

	slices.Sort(words)

	return words
}

// textWords returns the words to compare: those of the title and, if it has few and the alert has no labels, those of its text too.
func (s comparedSession) textWords() []string {
	words := likeWords(nil, s.TitleWords)
	if len(words) <= maxShortTitleWords && len(s.Labels) == 0 {
		words = likeWords(words, s.AlertWords)
	}

	return words
}

// likenesses are the similar sessions found so far, in order. The first reason found for a session is the strongest.
type likenesses struct {
	without string
	visible tarsy.Visibility
	limit   int
	ids     []string
	reasons []tarsy.Likeness
}

func newLikenesses(without string, visible tarsy.Visibility, limit int) *likenesses {
	return &likenesses{without: without, visible: visible, limit: limit}
}

func (l *likenesses) add(id string, why tarsy.Likeness) {
	if l.missing() > 0 && !slices.Contains(l.seen(), id) {
		l.ids, l.reasons = append(l.ids, id), append(l.reasons, why)
	}
}

func (l *likenesses) missing() int { return l.limit - len(l.ids) }

// seen returns the sessions that queries exclude.
func (l *likenesses) seen() []string {
	if l.without == "" {
		return l.ids
	}

	return append([]string{l.without}, l.ids...)
}

func (db *DB) findSimilar(ctx context.Context, s comparedSession, visible tarsy.Visibility, limit int) (*likenesses, error) {
	found := newLikenesses(s.ID, visible, limit)

	if s.Fingerprint != "" {
		items, err := db.Sessions(ctx, tarsy.SessionFilter{Fingerprint: s.Fingerprint, Visible: visible, Statuses: endedStatuses(), Limit: limit + 1})
		if err != nil {
			return nil, err
		}

		for _, item := range items {
			found.add(item.ID, tarsy.LikenessFingerprint)
		}
	}

	labels := similarityQuery{words: s.labelWords(), least: 1}
	if name := s.Labels[alertName]; name != "" {
		labels.name = labelWord(alertName, name)
	} else {
		labels.alertType = s.AlertType
	}

	if err := db.findAlike(ctx, found, tarsy.LikenessLabels, labels); err != nil {
		return nil, err
	}

	return found, db.findAlike(ctx, found, tarsy.LikenessText, similarityQuery{words: s.textWords(), least: minSharedWords, rare: true})
}

// similarRow is a similar session with the labels of its alert.
type similarRow struct {
	ID          string
	AlertType   string
	Title       string
	Severity    string
	Status      tarsy.SessionStatus
	Labels      map[string]string
	Outcome     tarsy.Outcome
	Cause       string
	Confidence  tarsy.Confidence
	Rating      tarsy.Rating
	RealCause   string
	CreatedAt   time.Time
	CompletedAt *time.Time
}

// similarSessions reads the sessions that were found.
func (db *DB) similarSessions(ctx context.Context, labels map[string]string, found *likenesses) ([]tarsy.SimilarSession, error) {
	rows, err := Collect[similarRow](ctx, db.readers, `
SELECT s.id, s.alert_type, s.title, s.severity, s.status, s.labels, s.outcome, s.cause, coalesce(v.confidence, '') AS confidence, `+opinionSQL+`,
    s.created_at, s.completed_at
FROM unnest($1::uuid[]) WITH ORDINALITY AS found (session_id, number)
JOIN sessions s ON s.id = found.session_id AND s.deleted_at IS NULL
LEFT JOIN verdicts v ON v.session_id = s.id
ORDER BY found.number`, found.ids)
	if err != nil {
		return nil, err
	}

	similar := make([]tarsy.SimilarSession, len(rows))

	for i, row := range rows {
		similar[i] = tarsy.SimilarSession{
			ID: row.ID, AlertType: row.AlertType, Title: row.Title, Severity: row.Severity, Status: row.Status,
			Likeness: found.reasons[slices.Index(found.ids, row.ID)], SharedLabels: sharedLabels(labels, row.Labels),
			Outcome: row.Outcome, Cause: row.Cause, Confidence: row.Confidence, Rating: row.Rating, RealCause: row.RealCause,
			CreatedAt: row.CreatedAt, CompletedAt: row.CompletedAt,
		}
	}

	return similar, nil
}

// opinionSQL is what people think of the verdict of session s: the worst rating and the newest real cause.
const opinionSQL = ratingSQL + ` AS rating, coalesce((SELECT f.real_cause FROM feedback f
    WHERE f.session_id = s.id AND f.real_cause <> '' ORDER BY f.updated_at DESC, f.id DESC LIMIT 1), '') AS real_cause`

func sharedLabels(a, b map[string]string) map[string]string {
	shared := map[string]string{}

	for name, value := range a {
		if other, ok := b[name]; ok && other == value {
			shared[name] = value
		}
	}

	return shared
}
