-- Lists, search and statistics read tables of their own, which triggers keep. A trigger also sees what the previous release
-- writes, and the indexes below are written twice in a session's life, at intake and at its end, instead of with every step.

-- Locked first, as every step commit does, and at once as strongly as anything below needs: a lock on sessions that is
-- strengthened later deadlocks with the servers that are running.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

-- search_tokens returns the words of a text, lower case: letters and digits, with '.', '_' and '-' inside of them, so that
-- identifiers such as checkout-7d9f, 10.0.0.12 and db.prod.local stay whole. Any other punctuation separates. It names the
-- characters that separate instead of those that do not: which letters count as such depends on the database's locale.
CREATE FUNCTION search_tokens(content text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_remove(string_to_array(regexp_replace(
        regexp_replace(lower(content), E'[\x01-\x1f!-,/:-@\\[-^`{-\u00a0\u00ab\u00bb\u2000-\u206f\u3000-\u3002]+', ' ', 'g'),
        '(^| )[._-]+|[._-]+( |$)', ' ', 'g'), ' '), '')
$$;

-- search_words returns the tokens of a text and the parts of those that are identifiers, as lexemes. Each begins with the
-- mark, which no token contains.
CREATE FUNCTION search_words(content text, mark text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    -- Text beyond this is not found: a tsvector holds 1 MB, and a step must not wait for a huge one.
    words text[] := search_tokens(left(content, 32768));
    whole text := array_to_string(words, ' ');
    parts text := replace(replace(replace(whole, '.', ' '), '_', ' '), '-', ' ');
BEGIN
    IF whole = '' THEN
        RETURN ''::tsvector;
    END IF;

    -- A lexeme that is too long would be cut, and not refused. Nobody searches for a blob.
    IF EXISTS (SELECT FROM unnest(words) AS word WHERE octet_length(word) > 256) THEN
        words := ARRAY (SELECT word FROM unnest(words) AS word WHERE octet_length(word) <= 256);
        whole := array_to_string(words, ' ');
        parts := replace(replace(replace(whole, '.', ' '), '_', ' '), '-', ' ');
    END IF;

    IF parts <> whole THEN
        words := words || array_remove(string_to_array(parts, ' '), '');
    END IF;

    IF mark <> '' THEN
        words := string_to_array(mark || array_to_string(words, ' ' || mark), ' ');
    END IF;

    RETURN array_to_tsvector(words);
END
$$;

-- search_query returns the query that matches texts with all tokens of all words. The last token of a word that is marked as
-- prefix may go on; a single character may not, because nearly every text would match.
CREATE FUNCTION search_query(words text[], prefixes boolean[], mark text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(string_agg('''' || mark || t.token || '''' ||
        CASE WHEN w.prefix AND t.place = cardinality(search_tokens(w.word)) AND length(t.token) > 1 THEN ':*' ELSE '' END, ' & '), '')::tsquery
    FROM unnest(words, prefixes) AS w (word, prefix), unnest(search_tokens(w.word)) WITH ORDINALITY AS t (token, place)
$$;

-- What lists and search need of each session that is not deleted. The status is empty until the session is over: what
-- happens until then does not touch this table. Words without a mark are those of the whole session, those with a mark
-- the ones of its alert type, summary and error, which count for more. They are null in rows from before there was this
-- table until a server has filled them in.
CREATE TABLE session_list (
    session_id uuid PRIMARY KEY,
    status     text        NOT NULL CHECK (status IN ('', 'completed', 'failed', 'cancelled', 'timed_out')),
    alert_type text        NOT NULL,
    chain_id   text        NOT NULL,
    author     text        NOT NULL,
    created_at timestamptz NOT NULL,
    words      tsvector
-- The words of long texts are kept apart from the rows.
) WITH (toast_tuple_target = 128);

-- session_words returns the words of a session: once with a mark for its title, and without for everything. Whatever a text
-- contains, no intake and no step fails because of it.
CREATE FUNCTION session_words(title text, alert_data text, final_analysis text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN search_words(title, '^') || search_words(title, '') || search_words(alert_data, '') || search_words(final_analysis, '');
EXCEPTION WHEN others THEN
    RETURN ''::tsvector;
END
$$;

CREATE FUNCTION session_title(alert_type text, executive_summary text, error_code text, error_message text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT left(alert_type || ' ' || executive_summary || ' ' || error_code || ' ' || error_message, 4096)
$$;

CREATE FUNCTION session_list_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session_list (session_id, status, alert_type, chain_id, author, created_at, words)
    SELECT s.id, CASE WHEN s.completed_at IS NULL THEN '' ELSE s.status END, s.alert_type, s.chain_id, s.author, s.created_at,
        session_words(session_title(s.alert_type, s.executive_summary, s.error_code, s.error_message), s.alert_data, s.final_analysis)
    FROM inserted s WHERE s.deleted_at IS NULL;

    RETURN NULL;
END
$$;

-- At the end the words of the result are added to those of the alert. A row that has none yet gets all of them later.
CREATE FUNCTION session_list_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.deleted_at IS NULL THEN
        UPDATE session_list l SET status = CASE WHEN NEW.completed_at IS NULL THEN '' ELSE NEW.status END,
            words = l.words || session_words(session_title(NEW.alert_type, NEW.executive_summary, NEW.error_code, NEW.error_message), '', NEW.final_analysis)
        WHERE l.session_id = NEW.id;
    ELSE
        DELETE FROM session_list WHERE session_id = NEW.id;
    END IF;

    RETURN NULL;
END
$$;

CREATE FUNCTION session_list_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM session_list WHERE session_id = OLD.id;

    RETURN NULL;
END
$$;

CREATE TRIGGER session_list_insert AFTER INSERT ON sessions REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION session_list_insert();
CREATE TRIGGER session_list_update AFTER UPDATE OF completed_at, deleted_at ON sessions FOR EACH ROW
    WHEN (OLD.completed_at IS DISTINCT FROM NEW.completed_at OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at)
    EXECUTE FUNCTION session_list_update();
CREATE TRIGGER session_list_delete AFTER DELETE ON sessions FOR EACH ROW
    WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION session_list_delete();

-- The triggers' lock keeps others from writing sessions until this is committed.
INSERT INTO session_list (session_id, status, alert_type, chain_id, author, created_at)
SELECT s.id, CASE WHEN s.completed_at IS NULL THEN '' ELSE s.status END, s.alert_type, s.chain_id, s.author, s.created_at
FROM sessions s WHERE s.deleted_at IS NULL ORDER BY s.created_at, s.id;

-- A list is read status by status, so one index a filter serves every order and the filter by status.
CREATE INDEX session_list_created ON session_list (created_at, session_id);
CREATE INDEX session_list_status ON session_list (status, created_at, session_id);
CREATE INDEX session_list_alert_type ON session_list (alert_type, status, created_at, session_id);
CREATE INDEX session_list_chain ON session_list (chain_id, status, created_at, session_id);
CREATE INDEX session_list_author ON session_list (author, status, created_at, session_id);
CREATE INDEX session_list_unindexed ON session_list (created_at) WHERE words IS NULL;
-- The list of entries that wait to be sorted in is read by every search: it stays short.
CREATE INDEX session_list_words ON session_list USING gin (words) WITH (gin_pending_list_limit = 512);

-- Lists no longer read this index, and every change of a status wrote it. sessions_created stays for the lists of the
-- previous release.
DROP INDEX sessions_attention;

-- What was used, by hour and by day (UTC): the usage summary and the budget of a day add these rows up instead of all calls.
-- A transaction writes the rows of a slot that nobody else writes at the moment, so that committers do not wait for each
-- other; the sum over slots is what counts. Rows outlive the sessions that they count.
CREATE TABLE usage_buckets (
    span            text             NOT NULL CHECK (span IN ('hour', 'day')),
    begins          timestamptz      NOT NULL,
    alert_type      text             NOT NULL,
    model_name      text             NOT NULL,
    provider        text             NOT NULL,
    slot            integer          NOT NULL,
    llm_calls       bigint           NOT NULL,
    tool_calls      bigint           NOT NULL,
    input_tokens    bigint           NOT NULL,
    output_tokens   bigint           NOT NULL,
    thinking_tokens bigint           NOT NULL,
    cached_tokens   bigint           NOT NULL,
    total_tokens    bigint           NOT NULL,
    unpriced_tokens bigint           NOT NULL,
    cost_usd        double precision NOT NULL,
    PRIMARY KEY (span, begins, alert_type, model_name, provider, slot)
) WITH (fillfactor = 70);

-- usage_slot takes a slot until the end of the transaction: the first that is free, so that few are used.
CREATE FUNCTION usage_slot() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    slots constant integer := 64;
BEGIN
    FOR slot IN 0 .. slots - 1 LOOP
        IF pg_try_advisory_xact_lock(x'74617273790300'::bigint + slot) THEN
            RETURN slot;
        END IF;
    END LOOP;

    -- No other transaction has this one's number.
    RETURN slots + pg_backend_pid();
END
$$;

CREATE FUNCTION count_llm_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_buckets AS u (span, begins, alert_type, model_name, provider, slot, llm_calls, tool_calls,
        input_tokens, output_tokens, thinking_tokens, cached_tokens, total_tokens, unpriced_tokens, cost_usd)
    SELECT spans.span, date_trunc(spans.span, c.created_at, 'UTC'), s.alert_type, c.model_name, c.provider, usage_slot.slot, count(*), 0,
        coalesce(sum((c.usage ->> 'input_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'output_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'thinking_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'cached_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'total_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'unpriced_tokens')::bigint), 0),
        coalesce(sum((c.usage ->> 'cost_usd')::double precision), 0)
    FROM inserted c JOIN sessions s ON s.id = c.session_id, (VALUES ('hour'), ('day')) AS spans (span), usage_slot() AS usage_slot (slot)
    GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (span, begins, alert_type, model_name, provider, slot) DO UPDATE SET
        llm_calls = u.llm_calls + excluded.llm_calls, tool_calls = u.tool_calls + excluded.tool_calls,
        input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
        thinking_tokens = u.thinking_tokens + excluded.thinking_tokens, cached_tokens = u.cached_tokens + excluded.cached_tokens,
        total_tokens = u.total_tokens + excluded.total_tokens, unpriced_tokens = u.unpriced_tokens + excluded.unpriced_tokens,
        cost_usd = u.cost_usd + excluded.cost_usd;

    RETURN NULL;
END
$$;

CREATE FUNCTION count_tool_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_buckets AS u (span, begins, alert_type, model_name, provider, slot, llm_calls, tool_calls,
        input_tokens, output_tokens, thinking_tokens, cached_tokens, total_tokens, unpriced_tokens, cost_usd)
    SELECT spans.span, date_trunc(spans.span, c.created_at, 'UTC'), s.alert_type, '', '', usage_slot.slot, 0, count(*), 0, 0, 0, 0, 0, 0, 0
    FROM inserted c JOIN sessions s ON s.id = c.session_id, (VALUES ('hour'), ('day')) AS spans (span), usage_slot() AS usage_slot (slot)
    GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (span, begins, alert_type, model_name, provider, slot) DO UPDATE SET tool_calls = u.tool_calls + excluded.tool_calls;

    RETURN NULL;
END
$$;

-- Calls are written once and never change what they used.
CREATE TRIGGER count_llm_usage AFTER INSERT ON llm_interactions REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION count_llm_usage();
CREATE TRIGGER count_tool_usage AFTER INSERT ON mcp_interactions REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION count_tool_usage();

-- The calls of before. The triggers' locks keep others from writing calls meanwhile.
INSERT INTO usage_buckets (span, begins, alert_type, model_name, provider, slot, llm_calls, tool_calls,
    input_tokens, output_tokens, thinking_tokens, cached_tokens, total_tokens, unpriced_tokens, cost_usd)
SELECT spans.span, date_trunc(spans.span, c.begins, 'UTC'), c.alert_type, c.model_name, c.provider, 0, sum(c.llm_calls), sum(c.tool_calls),
    sum(c.input_tokens), sum(c.output_tokens), sum(c.thinking_tokens), sum(c.cached_tokens), sum(c.total_tokens), sum(c.unpriced_tokens), sum(c.cost_usd)
FROM (
    SELECT date_trunc('hour', c.created_at, 'UTC') AS begins, s.alert_type, c.model_name, c.provider, count(*) AS llm_calls, 0 AS tool_calls,
        coalesce(sum((c.usage ->> 'input_tokens')::bigint), 0) AS input_tokens,
        coalesce(sum((c.usage ->> 'output_tokens')::bigint), 0) AS output_tokens,
        coalesce(sum((c.usage ->> 'thinking_tokens')::bigint), 0) AS thinking_tokens,
        coalesce(sum((c.usage ->> 'cached_tokens')::bigint), 0) AS cached_tokens,
        coalesce(sum((c.usage ->> 'total_tokens')::bigint), 0) AS total_tokens,
        coalesce(sum((c.usage ->> 'unpriced_tokens')::bigint), 0) AS unpriced_tokens,
        coalesce(sum((c.usage ->> 'cost_usd')::double precision), 0) AS cost_usd
    FROM llm_interactions c JOIN sessions s ON s.id = c.session_id GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT date_trunc('hour', c.created_at, 'UTC'), s.alert_type, '', '', 0, count(*), 0, 0, 0, 0, 0, 0, 0
    FROM mcp_interactions c JOIN sessions s ON s.id = c.session_id GROUP BY 1, 2
) AS c, (VALUES ('hour'), ('day')) AS spans (span)
GROUP BY 1, 2, 3, 4, 5;
