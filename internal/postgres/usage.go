package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// sumUsage adds the usage of LLM calls up, in the form of tarsy.Usage. Calls from before there were prices lack those.
const sumUsage = `jsonb_build_object(
    'input_tokens', COALESCE(sum((usage ->> 'input_tokens')::bigint), 0), 'output_tokens', COALESCE(sum((usage ->> 'output_tokens')::bigint), 0),
    'thinking_tokens', COALESCE(sum((usage ->> 'thinking_tokens')::bigint), 0), 'cached_tokens', COALESCE(sum((usage ->> 'cached_tokens')::bigint), 0),
    'total_tokens', COALESCE(sum((usage ->> 'total_tokens')::bigint), 0), 'cost_usd', COALESCE(sum((usage ->> 'cost_usd')::float8), 0),
    'unpriced_tokens', COALESCE(sum((usage ->> 'unpriced_tokens')::bigint), 0))`

// executionSpend is what one execution used, or what of a session belongs to none.
type executionSpend struct {
	ExecutionID string
	tarsy.Spend
}

// queueSpend asks for what the executions of a session used.
func queueSpend(batch *pgx.Batch, into *[]executionSpend, sessionID string) {
	queueRows(batch, into, `
SELECT COALESCE(execution_id::text, '') AS execution_id, usage, tool_calls FROM
    (SELECT execution_id, `+sumUsage+` AS usage, 0 AS tool_calls FROM llm_interactions WHERE session_id = $1 GROUP BY execution_id
     UNION ALL
     SELECT execution_id, '{}', count(*) FROM mcp_interactions WHERE session_id = $1 GROUP BY execution_id) AS used`, sessionID)
}

// SpentSince returns what all sessions used since a time.
func (db *DB) SpentSince(ctx context.Context, from time.Time) (tarsy.Spend, error) {
	spent, err := collect[tarsy.Spend](ctx, db.work, `
SELECT (SELECT `+sumUsage+` FROM llm_interactions WHERE created_at >= $1) AS usage,
       (SELECT count(*) FROM mcp_interactions WHERE created_at >= $1) AS tool_calls`, from)
	if err != nil {
		return tarsy.Spend{}, fmt.Errorf("add up what was used: %w", err)
	}

	return spent[0], nil
}

// The groups of the summary, as the database numbers them: a bit is set for each column that was not grouped by.
const (
	groupDay       = 0b0111
	groupAlertType = 0b1011
	groupModel     = 0b1101
	groupProvider  = 0b1110
)

// What the LLM calls and the tool calls of a time used, by all that the summary shows, in one pass over each.
const (
	usageCallsSQL = `
SELECT grouping(day, alert_type, model_name, provider) AS grouping, COALESCE(day, alert_type, model_name, provider, '') AS name,
    count(*) AS llm_calls, ` + sumUsage + ` AS usage, 0 AS tool_calls
FROM (SELECT (l.created_at AT TIME ZONE 'UTC')::date::text AS day, s.alert_type, l.model_name, l.provider, l.usage
      FROM llm_interactions l JOIN sessions s ON s.id = l.session_id WHERE l.created_at >= $1 AND l.created_at < $2) AS calls
GROUP BY GROUPING SETS ((), (day), (alert_type), (model_name), (provider))`
	usageToolsSQL = `
SELECT grouping(day, alert_type) << 2 | 3 AS grouping, COALESCE(day, alert_type, '') AS name, 0 AS llm_calls, '{}'::jsonb AS usage, count(*) AS tool_calls
FROM (SELECT (m.created_at AT TIME ZONE 'UTC')::date::text AS day, s.alert_type
      FROM mcp_interactions m JOIN sessions s ON s.id = m.session_id WHERE m.created_at >= $1 AND m.created_at < $2) AS calls
GROUP BY GROUPING SETS ((), (day), (alert_type))`
)

// usageRow is one group of the summary.
type usageRow struct {
	Grouping int
	tarsy.SpendShare
}

// UsageSummary returns what was used from a time up to another, as of one moment.
func (db *DB) UsageSummary(ctx context.Context, from, to time.Time) (tarsy.UsageSummary, error) {
	var calls, tools []usageRow

	err := pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) error {
		var batch pgx.Batch

		queueRows(&batch, &calls, usageCallsSQL, from, to)
		queueRows(&batch, &tools, usageToolsSQL, from, to)

		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return tarsy.UsageSummary{}, fmt.Errorf("sum usage up: %w", err)
	}

	return summarise(from, to, append(calls, tools...)), nil
}

func summarise(from, to time.Time, rows []usageRow) tarsy.UsageSummary {
	days, alertTypes := map[string]*tarsy.SpendShare{}, map[string]*tarsy.SpendShare{}
	summary := tarsy.UsageSummary{From: from, To: to, ByModel: []tarsy.UsageShare{}, ByProvider: []tarsy.UsageShare{}}

	for _, row := range rows {
		switch row.Grouping {
		case groupDay:
			merge(days, row.SpendShare)
		case groupAlertType:
			merge(alertTypes, row.SpendShare)
		case groupModel:
			summary.ByModel = append(summary.ByModel, row.UsageShare)
		case groupProvider:
			summary.ByProvider = append(summary.ByProvider, row.UsageShare)
		default:
			summary.Total.LLMCalls += row.LLMCalls
			summary.Total.ToolCalls += row.ToolCalls
			summary.Total.Usage.Add(row.Usage)
		}
	}

	summary.ByDay, summary.ByAlertType = shares(days), shares(alertTypes)
	slices.SortFunc(summary.ByDay, func(a, b tarsy.SpendShare) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(summary.ByAlertType, func(a, b tarsy.SpendShare) int { return dearest(a.UsageShare, b.UsageShare) })
	slices.SortFunc(summary.ByModel, dearest)
	slices.SortFunc(summary.ByProvider, dearest)

	return summary
}

// merge puts the LLM calls and the tool calls of one name together.
func merge(shares map[string]*tarsy.SpendShare, row tarsy.SpendShare) {
	share, ok := shares[row.Name]
	if !ok {
		shares[row.Name] = &row

		return
	}

	share.LLMCalls += row.LLMCalls
	share.ToolCalls += row.ToolCalls
	share.Usage.Add(row.Usage)
}

func shares(named map[string]*tarsy.SpendShare) []tarsy.SpendShare {
	all := make([]tarsy.SpendShare, 0, len(named))
	for _, share := range named {
		all = append(all, *share)
	}

	return all
}

// dearest orders by cost, then by tokens, the most first.
func dearest(a, b tarsy.UsageShare) int {
	return cmp.Or(cmp.Compare(b.Usage.CostUSD, a.Usage.CostUSD), cmp.Compare(b.Usage.TotalTokens, a.Usage.TotalTokens), cmp.Compare(a.Name, b.Name))
}
