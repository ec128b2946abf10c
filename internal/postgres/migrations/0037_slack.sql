-- Threads in Slack: one for each alert and channel, as long as its first message is not too old. A row is added before the first message is
-- posted, and the unique indexes let announcements that race have one thread. Alerts without a fingerprint have a thread for each session.
CREATE TABLE slack_threads (
    id              uuid PRIMARY KEY,
    channel         text        NOT NULL,
    fingerprint     text        NOT NULL,
    -- The newest session that was announced in the thread; questions are about it.
    session_id      uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- The announcement that posts the first message.
    announcement_id uuid        NOT NULL,
    -- The timestamp that identifies the first message; empty until it is posted.
    ts              text        NOT NULL DEFAULT '',
    -- Whether further announcements go here.
    current         boolean     NOT NULL DEFAULT true,
    -- What the first message shows of the state of the alert.
    shown           text        NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL
);

CREATE UNIQUE INDEX slack_threads_alert ON slack_threads (channel, fingerprint) WHERE current AND fingerprint <> '';
CREATE UNIQUE INDEX slack_threads_own ON slack_threads (channel, session_id) WHERE current AND fingerprint = '';
CREATE INDEX slack_threads_ts ON slack_threads (channel, ts) WHERE ts <> '';
CREATE INDEX slack_threads_beginning ON slack_threads (channel) WHERE ts = '' AND current;
CREATE INDEX slack_threads_announcement ON slack_threads (announcement_id);
CREATE INDEX slack_threads_session ON slack_threads (session_id);
CREATE INDEX slack_threads_recent ON slack_threads (created_at) WHERE current;
CREATE INDEX announcements_slack_thread ON announcements (target, thread_id) WHERE channel = 'slack' AND thread_id <> '';
