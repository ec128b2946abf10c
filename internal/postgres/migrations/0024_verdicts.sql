-- The structured conclusion of a session.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

ALTER TABLE sessions
    ADD COLUMN outcome       text NOT NULL DEFAULT ''
        CHECK (outcome IN ('', 'cause_found', 'probable_cause', 'inconclusive', 'false_alarm', 'needs_human')),
    ADD COLUMN cause         text NOT NULL DEFAULT '',
    ADD COLUMN verdict_error text NOT NULL DEFAULT '';

CREATE TABLE verdicts (
    id                uuid PRIMARY KEY,
    session_id        uuid        NOT NULL UNIQUE,
    outcome           text        NOT NULL CHECK (outcome IN ('cause_found', 'probable_cause', 'inconclusive', 'false_alarm', 'needs_human')),
    cause             jsonb       NOT NULL,
    confidence        text        NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    confidence_reason jsonb       NOT NULL,
    impact            jsonb       NOT NULL,
    next_steps        jsonb       NOT NULL,
    not_checked       jsonb       NOT NULL,
    created_at        timestamptz NOT NULL
);

-- The call that writes it.
ALTER TABLE llm_interactions
    DROP CONSTRAINT llm_interactions_interaction_type_check,
    ADD CONSTRAINT llm_interactions_interaction_type_check
        CHECK (interaction_type IN ('iteration', 'forced_conclusion', 'executive_summary', 'verdict', 'summarization', 'synthesis')) NOT VALID;

-- What lists are filtered by and what search finds. Sessions from before have neither, so there is nothing to fill in.
ALTER TABLE session_list ADD COLUMN outcome text NOT NULL DEFAULT '';
CREATE INDEX session_list_outcome ON session_list (outcome, status, created_at, session_id) WHERE outcome <> '';

CREATE OR REPLACE FUNCTION session_list_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session_list (session_id, status, alert_type, chain_id, author, created_at, severity, service, namespace, cluster, team, fingerprint,
        outcome, words)
    SELECT s.id, CASE WHEN s.completed_at IS NULL THEN '' ELSE s.status END, s.alert_type, s.chain_id, s.author, s.created_at,
        s.severity, s.service, s.namespace, s.cluster, s.team, s.fingerprint, s.outcome,
        session_words(session_title(s.alert_type || ' ' || s.title, s.cause || ' ' || s.executive_summary, s.error_code, s.error_message),
            s.alert_data, s.final_analysis)
            || CASE WHEN s.labels = '{}' THEN ''::tsvector ELSE label_words(s.labels) END
    FROM inserted s WHERE s.deleted_at IS NULL;

    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION session_list_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.deleted_at IS NULL THEN
        UPDATE session_list l SET status = CASE WHEN NEW.completed_at IS NULL THEN '' ELSE NEW.status END, outcome = NEW.outcome,
            words = l.words || session_words(session_title(NEW.alert_type, NEW.cause || ' ' || NEW.executive_summary, NEW.error_code, NEW.error_message),
                '', NEW.final_analysis)
        WHERE l.session_id = NEW.id;
    ELSE
        DELETE FROM session_list WHERE session_id = NEW.id;
    END IF;

    RETURN NULL;
END
$$;
