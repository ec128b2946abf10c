-- What an alert is about, and what became of alerts that were not investigated by themselves.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

-- Written at intake and never changed.
ALTER TABLE sessions
    ADD COLUMN title       text        NOT NULL DEFAULT '',
    ADD COLUMN severity    text        NOT NULL DEFAULT '' CHECK (severity IN ('', 'info', 'warning', 'high', 'critical')),
    ADD COLUMN service     text        NOT NULL DEFAULT '',
    ADD COLUMN namespace   text        NOT NULL DEFAULT '',
    ADD COLUMN cluster     text        NOT NULL DEFAULT '',
    ADD COLUMN team        text        NOT NULL DEFAULT '',
    ADD COLUMN labels      jsonb       NOT NULL DEFAULT '{}',
    ADD COLUMN links       jsonb       NOT NULL DEFAULT '[]',
    ADD COLUMN starts_at   timestamptz,
    ADD COLUMN fingerprint text        NOT NULL DEFAULT '',
    ADD COLUMN group_key   text        NOT NULL DEFAULT '',
    ADD COLUMN source      text        NOT NULL DEFAULT 'api',
    ADD COLUMN receiver    text        NOT NULL DEFAULT '',
    -- Agents can be asked to conclude because the alert is resolved.
    DROP CONSTRAINT sessions_concluded_early_check,
    ADD CONSTRAINT sessions_concluded_early_check CHECK (concluded_early IN ('', 'deadline', 'budget', 'resolved'));

ALTER TABLE executions
    DROP CONSTRAINT executions_forced_conclusion_check,
    ADD CONSTRAINT executions_forced_conclusion_check CHECK (forced_conclusion IN ('', 'iterations', 'deadline', 'budget', 'resolved'));

-- The list shows what runs first: its order is not that of intake.
CREATE INDEX sessions_running ON sessions (created_at, id) WHERE status IN ('in_progress', 'cancelling');

-- What lists are filtered by. The indexes leave out sessions that do not have the fact: most alerts of people have none.
ALTER TABLE session_list
    ADD COLUMN severity    text NOT NULL DEFAULT '',
    ADD COLUMN service     text NOT NULL DEFAULT '',
    ADD COLUMN namespace   text NOT NULL DEFAULT '',
    ADD COLUMN cluster     text NOT NULL DEFAULT '',
    ADD COLUMN team        text NOT NULL DEFAULT '',
    ADD COLUMN fingerprint text NOT NULL DEFAULT '';

CREATE INDEX session_list_severity ON session_list (severity, status, created_at, session_id) WHERE severity <> '';
CREATE INDEX session_list_service ON session_list (service, status, created_at, session_id) WHERE service <> '';
CREATE INDEX session_list_namespace ON session_list (namespace, status, created_at, session_id) WHERE namespace <> '';
CREATE INDEX session_list_cluster ON session_list (cluster, status, created_at, session_id) WHERE cluster <> '';
CREATE INDEX session_list_team ON session_list (team, status, created_at, session_id) WHERE team <> '';
CREATE INDEX session_list_fingerprint ON session_list (fingerprint, status, created_at, session_id) WHERE fingerprint <> '';

-- label_words returns a lexeme for each label, which no text contains: words never begin with '='.
CREATE FUNCTION label_words(labels jsonb) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_tsvector(coalesce(array_agg(DISTINCT left('=' || l.key || '=' || l.value, 250)), '{}'))
    FROM jsonb_each_text(CASE jsonb_typeof(labels) WHEN 'object' THEN labels ELSE '{}' END) AS l
$$;

CREATE OR REPLACE FUNCTION session_list_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session_list (session_id, status, alert_type, chain_id, author, created_at, severity, service, namespace, cluster, team, fingerprint, words)
    SELECT s.id, CASE WHEN s.completed_at IS NULL THEN '' ELSE s.status END, s.alert_type, s.chain_id, s.author, s.created_at,
        s.severity, s.service, s.namespace, s.cluster, s.team, s.fingerprint,
        session_words(session_title(s.alert_type || ' ' || s.title, s.executive_summary, s.error_code, s.error_message), s.alert_data, s.final_analysis)
            || CASE WHEN s.labels = '{}' THEN ''::tsvector ELSE label_words(s.labels) END
    FROM inserted s WHERE s.deleted_at IS NULL;

    RETURN NULL;
END
$$;

-- What became of the alert of a session that was created for an alert with an identity. Not owned by the session: whoever
-- receives alerts writes it, also while the session runs and when it is over. changes are the times at which the alert began
-- to fire or was resolved, the latest ones.
CREATE TABLE session_alerts (
    session_id         uuid PRIMARY KEY,
    fingerprint        text          NOT NULL,
    group_key          text          NOT NULL,
    firing             boolean       NOT NULL DEFAULT true,
    occurrences        bigint        NOT NULL DEFAULT 1,
    last_at            timestamptz   NOT NULL,
    times              timestamptz[] NOT NULL DEFAULT '{}',
    changes            timestamptz[] NOT NULL DEFAULT '{}',
    resolved_at        timestamptz,
    flapping           boolean       NOT NULL DEFAULT false,
    storm              boolean       NOT NULL DEFAULT false,
    members            bigint        NOT NULL DEFAULT 0,
    firing_members     bigint        NOT NULL DEFAULT 0,
    earlier_session_id uuid
);
-- Ids grow with time: the last session of an alert is the one with the greatest.
CREATE INDEX session_alerts_fingerprint ON session_alerts (fingerprint, session_id);

-- Groups of alerts. A row is locked while alerts of its group are decided on, which makes the counts exact.
CREATE TABLE alert_groups (
    key              text PRIMARY KEY,
    -- Sessions that were created for alerts of the group since window_start.
    created          integer     NOT NULL DEFAULT 0,
    window_start     timestamptz NOT NULL,
    -- The session of the current storm; null if there is none.
    storm_session_id uuid,
    last_at          timestamptz NOT NULL
);
CREATE INDEX alert_groups_last ON alert_groups (last_at);

-- Alerts that were not investigated by themselves. owner is the session that counts it, or the silence, so that repetitions
-- become one row.
CREATE TABLE suppressed_alerts (
    id               uuid PRIMARY KEY,
    reason           text          NOT NULL CHECK (reason IN ('duplicate', 'storm', 'silence', 'maintenance', 'resolved')),
    owner            text          NOT NULL,
    session_id       uuid,
    silence          text          NOT NULL DEFAULT '',
    alert_type       text          NOT NULL,
    title            text          NOT NULL,
    severity         text          NOT NULL,
    service          text          NOT NULL,
    namespace        text          NOT NULL,
    cluster          text          NOT NULL,
    team             text          NOT NULL,
    labels           jsonb         NOT NULL,
    links            jsonb         NOT NULL,
    starts_at        timestamptz,
    fingerprint      text          NOT NULL,
    group_key        text          NOT NULL,
    source           text          NOT NULL,
    receiver         text          NOT NULL,
    -- The alert as it would be submitted, masked, to investigate it later.
    alert            jsonb         NOT NULL,
    firing           boolean       NOT NULL,
    occurrences      bigint        NOT NULL,
    first_at         timestamptz   NOT NULL,
    last_at          timestamptz   NOT NULL,
    times            timestamptz[] NOT NULL,
    investigation_id uuid,
    investigated_by  text          NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX suppressed_alerts_owner ON suppressed_alerts (owner, fingerprint, reason);
CREATE INDEX suppressed_alerts_last ON suppressed_alerts (last_at, id);
CREATE INDEX suppressed_alerts_session ON suppressed_alerts (session_id, last_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX suppressed_alerts_fingerprint ON suppressed_alerts (fingerprint, last_at);

-- Deliveries that were answered, to answer them the same way when they are repeated.
CREATE TABLE deliveries (
    key         bytea PRIMARY KEY,
    source      text        NOT NULL,
    receiver    text        NOT NULL,
    result      jsonb       NOT NULL,
    received_at timestamptz NOT NULL
);
CREATE INDEX deliveries_received ON deliveries (received_at);

CREATE TABLE silences (
    id         uuid PRIMARY KEY,
    matchers   text[]      NOT NULL,
    reason     text        NOT NULL,
    author     text        NOT NULL,
    starts_at  timestamptz NOT NULL,
    ends_at    timestamptz NOT NULL,
    ended_by   text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    CHECK (ends_at >= starts_at)
);
CREATE INDEX silences_ends ON silences (ends_at);

-- The beginning of an investigation can be announced too.
ALTER TABLE announcements DROP CONSTRAINT announcements_subject_check;
ALTER TABLE announcements ADD CONSTRAINT announcements_subject_check CHECK (subject IN ('start', 'end', 'answer', 'receipt'));
CREATE UNIQUE INDEX announcements_start ON announcements (session_id, channel) WHERE subject = 'start';
