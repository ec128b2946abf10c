-- The end of each session read all sessions of the day: a plan that was made while the tables were empty went through an index of all sessions and
-- compared each with the array. Each is now looked up by the primary key, because OFFSET keeps the planner from using the predicate of another index, and
-- stages and executions by their session, whatever the planner knows about the tables.
CREATE OR REPLACE FUNCTION record_quality(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session_quality (session_id, completed_at, chain_id, alert_type, outcome, duration_ms, cost_usd, agents, models)
    SELECT s.id, s.completed_at, s.chain_id, s.alert_type, s.outcome,
        greatest(0, floor(extract(epoch FROM s.completed_at - s.created_at) * 1000))::bigint, c.cost_usd, a.agents, c.models
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT sessions.id, created_at, completed_at, deleted_at, status, chain_id, alert_type, outcome FROM sessions WHERE sessions.id = wanted.id OFFSET 0
    ) AS s
    CROSS JOIN LATERAL (
        SELECT nullif(sum((i.usage ->> 'cost_usd')::double precision), 0) AS cost_usd,
            coalesce(array_agg(DISTINCT i.model_name) FILTER (WHERE i.model_name <> ''), '{}') AS models
        FROM llm_interactions i
        WHERE i.session_id = s.id
            AND (i.stage_id = ANY (ARRAY (SELECT t.id FROM stages t WHERE t.session_id = s.id AND t.stage_type = 'chat'))) IS NOT TRUE
    ) AS c
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(DISTINCT CASE t.parallel_type WHEN 'replica' THEN regexp_replace(e.agent_name, '-[0-9]+$', '')
            ELSE e.agent_name END), '{}') AS agents
        FROM executions e JOIN stages t ON t.id = e.stage_id AND t.session_id = s.id
        WHERE e.session_id = s.id AND t.stage_type <> 'chat'
    ) AS a
    WHERE s.status = 'completed' AND s.deleted_at IS NULL
    ON CONFLICT (session_id) DO UPDATE SET cost_usd = excluded.cost_usd, agents = excluded.agents, models = excluded.models;
END
$$;

-- A function with a search path of its own is neither inlined nor planned once. The body of this one is parsed when it
-- is created, so it needs none.
CREATE OR REPLACE FUNCTION session_title(alert_type text, executive_summary text, error_code text, error_message text)
    RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN left(alert_type || ' ' || executive_summary || ' ' || error_code || ' ' || error_message, 4096);
