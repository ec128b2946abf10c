-- Messages to people outside, one row each: written with what they announce, sent later. The index on reply_to makes a message
-- that is received twice have one reply. Earlier releases remove sessions without naming this table, so the key cascades.
CREATE TABLE announcements (
    id          uuid PRIMARY KEY,
    session_id  uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    channel     text        NOT NULL,
    subject     text        NOT NULL CHECK (subject IN ('end', 'answer', 'receipt')),
    stage_id    uuid,
    target      text        NOT NULL,
    reply_to    text        NOT NULL DEFAULT '',
    state       text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'failed')),
    attempts    integer     NOT NULL DEFAULT 0,
    due_at      timestamptz NOT NULL,
    message_ids text[]      NOT NULL DEFAULT '{}',
    thread_id   text        NOT NULL DEFAULT '',
    error       text        NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL,
    sent_at     timestamptz,
    CHECK ((subject = 'answer') = (stage_id IS NOT NULL))
);

CREATE UNIQUE INDEX announcements_end ON announcements (session_id, channel) WHERE subject = 'end';
CREATE UNIQUE INDEX announcements_reply ON announcements (channel, reply_to) WHERE reply_to <> '';
CREATE INDEX announcements_pending ON announcements (channel, due_at) WHERE state = 'pending';
CREATE INDEX announcements_message ON announcements (channel, (message_ids[1])) WHERE subject = 'end';
CREATE INDEX announcements_session ON announcements (session_id);

-- Which server works for a channel: one holds the connection to Discord, the others stand by.
CREATE TABLE channel_leases (
    channel     text PRIMARY KEY,
    server_id   text        NOT NULL,
    lease_until timestamptz NOT NULL
);
