package scale

// settingsSQL prepares the connection and the tables. ANALYZE reads 300 rows per unit of the statistics target: with this
// target it reads all rows of 100,000 sessions instead of a sample, which would differ each time. Long texts, which no
// condition compares, need no statistics.
const settingsSQL = `
SET synchronous_commit = off; SET maintenance_work_mem = '256MB'; SET work_mem = '64MB'; SET jit = off; SET max_parallel_maintenance_workers = 0;
SET default_statistics_target = 340;
ALTER TABLE sessions ALTER alert_data SET STATISTICS 0, ALTER final_analysis SET STATISTICS 0, ALTER executive_summary SET STATISTICS 0, ALTER labels SET STATISTICS 0;
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', found.name);
    END LOOP;
END
$$`

// numberedSQL numbers the sessions from $1 up to but not including $2, of $3 in total; the last is created shortly before
// $4. The newest 10,000 (at most a fifth) are unfinished: of the newest 200, a third are pending and the others running;
// the rest are all pending. About one in twelve of the finished ones did not complete. IDs are version 7 UUIDs.
const numberedSQL = `
WITH numbered AS (
    SELECT i, at, hash, service, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(hash, 1, 3) || 'a' || substr(hash, 4, 15))::uuid AS id,
        left(hash, 10) AS pod, substr(hash, 11, 32) AS trace,
        'type-' || i / 8 % 20 AS alert_type, 'Pod of ' || service || ' was killed' AS title, 'Memory of ' || service || ' ran out.' AS summary,
        'Restart ' || service || ', see runbook ' || i % 1000 || '.' AS analysis,
        jsonb_build_object('service', service, 'env', 'prod', 'pod', left(encode(sha256((i / 100)::text::bytea), 'hex'), 10)) AS labels,
        CASE WHEN i >= n - least(200, n / 5) THEN ('{pending,in_progress,cancelling}'::text[])[i % 3 + 1] WHEN i >= n - least(10000, n / 5) THEN 'pending'
            WHEN i % 20 = 1 THEN 'failed' WHEN i % 50 = 2 THEN 'cancelled' WHEN i % 100 = 3 THEN 'timed_out' ELSE 'completed' END AS status
    FROM (SELECT i, $3::integer AS n, $4::timestamptz - interval '90 days' / $3::integer * ($3::integer - i) AS at, encode(sha256(i::text::bytea), 'hex') AS hash,
            ('{checkout,payments,search,cart,auth,billing,catalog,mail}'::text[])[i % 8 + 1] AS service
        FROM generate_series($1::integer, $2::integer - 1) AS i) AS g
)`

// sessionsSQL puts one in five pending sessions in the queue, runnable a day after $4, so that no server claims it.
const sessionsSQL = numberedSQL + `
INSERT INTO sessions (id, alert_type, alert_data, chain_id, status, author, final_analysis, executive_summary, outcome, created_at, started_at, completed_at,
    runnable_at, last_seq, fence, stage_count, trimmed_fence, title, severity, service, namespace, cluster, team, fingerprint, labels)
SELECT id, alert_type, 'Pod ' || service || '-' || pod || ' was OOMKilled, trace ' || trace,
    'chain-' || i / 8 % 5, status, 'user-' || i / 8 % 50, analysis, summary,
    CASE WHEN status = 'completed' THEN ('{cause_found,probable_cause,inconclusive,false_alarm,needs_human,""}'::text[])[i / 7 % 6 + 1] ELSE '' END,
    at AS created_at, at AS started_at, CASE WHEN status NOT IN ('pending', 'in_progress', 'cancelling') THEN at + interval '40 s' END,
    CASE WHEN status = 'pending' AND i % 5 = 0 THEN $4::timestamptz + interval '1 day' END, 12, 1, 1, 1,
    title, ('{critical,high,warning,info}'::text[])[i / 3 % 4 + 1], service, 'namespace-' || i / 8 % 40, 'cluster-' || i % 3,
    'team-' || i / 8 % 12, left(encode(sha256((i / 10)::text::bytea), 'hex'), 16), labels
FROM numbered ORDER BY i`

// listSQL does the work of the trigger session_list_insert, which is disabled during loading: extracting the words of texts
// that differ in only a few words took half of the time. TestLoadedListMatchesTriggers compares the results.
const listSQL = numberedSQL + `, texts AS MATERIALIZED (
    SELECT alert_type, analysis, session_words(session_title(alert_type || ' ' || title, ' ' || summary, '', ''),
        'Pod ' || service || ' was OOMKilled, trace ', analysis) AS words
    FROM (SELECT DISTINCT alert_type, analysis, title, summary, service FROM numbered) AS d
)
INSERT INTO session_list (session_id, status, alert_type, chain_id, author, created_at, severity, service, namespace, cluster, team, fingerprint, outcome, words)
SELECT s.id, CASE WHEN s.completed_at IS NULL THEN '' ELSE s.status END, s.alert_type, s.chain_id, s.author, s.created_at, s.severity, s.service, s.namespace,
    s.cluster, s.team, s.fingerprint, s.outcome, t.words || array_to_tsvector(ARRAY[pod, n.service || '-' || pod, trace, '=env=prod', '=service=' || n.service,
        '=pod=' || (n.labels ->> 'pod')])
FROM numbered n JOIN texts t ON t.alert_type = n.alert_type AND t.analysis = n.analysis JOIN sessions s ON s.id = n.id ORDER BY i`

// callsSQL gives each session $5 calls.
const callsSQL = numberedSQL + `
INSERT INTO llm_interactions (id, session_id, interaction_type, provider, model_name, usage, created_at)
SELECT overlay(id::text placing lpad(to_hex(call + 1), 4, '0') FROM 20)::uuid, id, 'iteration', 'provider-' || call % 2, 'model-' || call % 3,
    '{"input_tokens": 900, "output_tokens": 600, "total_tokens": 1500, "cost_usd": 0.0125}', at + call * interval '5 s'
FROM numbered, generate_series(0, $5::integer - 1) AS call ORDER BY i, call`

// One in ten running sessions waits for an approval. Its call, execution, stage and timeline entry have the session's ID.
const (
	waitingSQL = `FROM (SELECT id, created_at, row_number() OVER (ORDER BY created_at, id) AS n FROM sessions WHERE status = 'in_progress') AS r WHERE n % 10 = 0`

	executionsSQL = `INSERT INTO executions (id, session_id, stage_id, agent_name, agent_index, iteration_strategy, status, created_at, started_at)
SELECT id, id AS session_id, id AS stage_id, 'Investigator', 1, 'native', 'active', created_at, created_at ` + waitingSQL
	toolCallsSQL = `INSERT INTO mcp_interactions (id, session_id, stage_id, execution_id, timeline_event_id, tool_call_id, server_name, tool_name, status, created_at)
SELECT id, id AS session_id, id AS stage_id, id AS execution_id, id AS timeline_event_id, 'call-1', 'cluster', 'restart_pod', 'waiting', created_at ` + waitingSQL
	approvalsSQL = `INSERT INTO approvals (id, session_id, approval)
SELECT id, id AS session_id, jsonb_build_object('status', 'waiting', 'expires_at', created_at + interval '10 years') ` + waitingSQL
)

// Nine in ten finished sessions are resolved by one of fifty people. Half of those have a common tag, and one in a thousand
// has a rare one.
const (
	handlingSQL = `INSERT INTO session_handling
    (session_id, state, assignee, acknowledged_by, acknowledged_at, resolved_by, resolved_at, resolution, version, updated_at, updated_by)
SELECT session_id, 'resolved', 'person-' || n % 50, '', NULL, 'person-' || n % 50, created_at, 'Restarted it.', 1, created_at, 'person-' || n % 50
FROM (SELECT session_id, created_at, row_number() OVER (ORDER BY created_at, session_id) AS n FROM session_list WHERE status <> '') AS l WHERE n % 10 > 0 ORDER BY n`
	tagsSQL = `INSERT INTO session_tags (session_id, key, tag)
SELECT session_id, tag, tag FROM (SELECT session_id, row_number() OVER (ORDER BY session_id) AS n FROM session_handling) AS h
CROSS JOIN LATERAL (SELECT 'common' AS tag WHERE n % 2 = 0 UNION ALL SELECT 'rare-' || n % 5 WHERE n % 1000 = 0) AS t ORDER BY n, tag`
	handledListSQL = `UPDATE session_list l SET handling = h.state, assignee = h.assignee FROM session_handling h WHERE h.session_id = l.session_id`
)
