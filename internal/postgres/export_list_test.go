package postgres

// The order of attention, for a test of its plan.
const (
	RankSQL        = rankSQL
	AttentionFirst = attentionFirst
)
