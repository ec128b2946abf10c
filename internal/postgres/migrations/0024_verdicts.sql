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
