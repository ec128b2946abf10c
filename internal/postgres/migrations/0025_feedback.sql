-- What people think of the conclusions of sessions, and what is counted about conclusions.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

-- One opinion per person and session. Not owned by the session: people write it when the session is over. Rows are few, so they have a
-- foreign key: the previous release purges sessions and does not know this table.
CREATE TABLE feedback (
    id         uuid PRIMARY KEY,
    session_id uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    author     text        NOT NULL,
    rating     text        NOT NULL CHECK (rating IN ('right', 'partly', 'wrong')),
    why        text        NOT NULL,
    real_cause text        NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (session_id, author),
    CHECK (rating <> 'right' OR real_cause = '')
);

-- What is counted about each session that completed and is not deleted: to add it up from sessions and their calls would read all of
-- them. A trigger writes it once, when the session ends, so that the previous release keeps it too. Agents and models are null in rows
-- from before there was this table until a server has filled them in, with the cost.
CREATE TABLE session_quality (
    session_id   uuid PRIMARY KEY,
    completed_at timestamptz NOT NULL,
    chain_id     text        NOT NULL,
    alert_type   text        NOT NULL,
    outcome      text        NOT NULL,
    duration_ms  bigint      NOT NULL,
    -- Null if no price is known.
    cost_usd     double precision,
    agents       text[],
    models       text[]
);

-- record_quality writes the rows of sessions. Questions are no part of a conclusion: neither their agents nor their cost count.
-- Replicas count as the agent that they are replicas of.
CREATE FUNCTION record_quality(ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session_quality (session_id, completed_at, chain_id, alert_type, outcome, duration_ms, cost_usd, agents, models)
    SELECT s.id, s.completed_at, s.chain_id, s.alert_type, s.outcome,
        greatest(0, floor(extract(epoch FROM s.completed_at - s.created_at) * 1000))::bigint, c.cost_usd, a.agents, c.models
    FROM sessions s
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
        FROM stages t JOIN executions e ON e.stage_id = t.id
        WHERE t.session_id = s.id AND t.stage_type <> 'chat'
    ) AS a
    WHERE s.id = ANY (ids) AND s.status = 'completed' AND s.deleted_at IS NULL
    ON CONFLICT (session_id) DO UPDATE SET cost_usd = excluded.cost_usd, agents = excluded.agents, models = excluded.models;
END
$$;

CREATE FUNCTION session_quality_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.deleted_at IS NULL THEN
        PERFORM record_quality(ARRAY[NEW.id]);
    ELSE
        DELETE FROM session_quality WHERE session_id = NEW.id;
    END IF;

    RETURN NULL;
END
$$;

CREATE TRIGGER session_quality_update AFTER UPDATE OF completed_at, deleted_at ON sessions FOR EACH ROW
    WHEN (NEW.status = 'completed' AND (OLD.completed_at IS DISTINCT FROM NEW.completed_at OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at))
    EXECUTE FUNCTION session_quality_update();

CREATE FUNCTION session_quality_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM session_quality WHERE session_id = OLD.id;

    RETURN NULL;
END
$$;

CREATE TRIGGER session_quality_delete AFTER DELETE ON sessions FOR EACH ROW
    WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION session_quality_delete();

-- The triggers' lock keeps others from writing sessions until this is committed.
INSERT INTO session_quality (session_id, completed_at, chain_id, alert_type, outcome, duration_ms)
SELECT s.id, s.completed_at, s.chain_id, s.alert_type, s.outcome, greatest(0, floor(extract(epoch FROM s.completed_at - s.created_at) * 1000))::bigint
FROM sessions s WHERE s.status = 'completed' AND s.completed_at IS NOT NULL AND s.deleted_at IS NULL ORDER BY s.completed_at, s.id;

CREATE INDEX session_quality_completed ON session_quality (completed_at);
CREATE INDEX session_quality_unfilled ON session_quality (completed_at) WHERE agents IS NULL;

-- A storm stands for many alerts. There are few.
CREATE INDEX session_alerts_storms ON session_alerts (session_id) WHERE storm;
