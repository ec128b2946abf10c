-- The LLM calls about notes, failed ones included, and what they used by hour and by day (UTC), as usage_buckets has it for sessions.
-- Rows outlive their note, because the calls were paid for.
CREATE TABLE note_calls (
    id         uuid PRIMARY KEY,
    note_id    uuid        NOT NULL,
    purpose    text        NOT NULL,
    provider   text        NOT NULL,
    model_name text        NOT NULL,
    usage      jsonb       NOT NULL,
    created_at timestamptz NOT NULL
);

CREATE INDEX note_calls_created ON note_calls (created_at);

CREATE TABLE note_usage_buckets (
    span            text             NOT NULL CHECK (span IN ('hour', 'day')),
    begins          timestamptz      NOT NULL,
    model_name      text             NOT NULL,
    provider        text             NOT NULL,
    slot            integer          NOT NULL,
    llm_calls       bigint           NOT NULL,
    input_tokens    bigint           NOT NULL,
    output_tokens   bigint           NOT NULL,
    thinking_tokens bigint           NOT NULL,
    cached_tokens   bigint           NOT NULL,
    total_tokens    bigint           NOT NULL,
    unpriced_tokens bigint           NOT NULL,
    cost_usd        double precision NOT NULL,
    PRIMARY KEY (span, begins, model_name, provider, slot)
) WITH (fillfactor = 70);

CREATE FUNCTION count_note_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO note_usage_buckets AS u (span, begins, model_name, provider, slot, llm_calls,
        input_tokens, output_tokens, thinking_tokens, cached_tokens, total_tokens, unpriced_tokens, cost_usd)
    SELECT spans.span, date_trunc(spans.span, c.created_at, 'UTC'), c.model_name, c.provider, usage_slot.slot, count(*),
        coalesce(sum((c.usage ->> 'input_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'output_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'thinking_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'cached_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'total_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'unpriced_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'cost_usd')::double precision), 0)
    FROM inserted c, (VALUES ('hour'), ('day')) AS spans (span), usage_slot() AS usage_slot (slot)
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (span, begins, model_name, provider, slot) DO UPDATE SET
        llm_calls = u.llm_calls + excluded.llm_calls,
        input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
        thinking_tokens = u.thinking_tokens + excluded.thinking_tokens, cached_tokens = u.cached_tokens + excluded.cached_tokens,
        total_tokens = u.total_tokens + excluded.total_tokens, unpriced_tokens = u.unpriced_tokens + excluded.unpriced_tokens,
        cost_usd = u.cost_usd + excluded.cost_usd;

    RETURN NULL;
END
$$;

CREATE TRIGGER count_note_usage AFTER INSERT ON note_calls REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION count_note_usage();
