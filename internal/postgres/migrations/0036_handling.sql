-- What people do with sessions: who takes care of one, whether it is acknowledged or resolved, and their tags.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

-- Not owned by the session: people write it whenever they want. A session without a row is open. Rows have a foreign key: the previous
-- release purges sessions and does not know this table.
CREATE TABLE session_handling (
    session_id      uuid PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    state           text        NOT NULL CHECK (state IN ('open', 'acknowledged', 'resolved')),
    assignee        text        NOT NULL,
    acknowledged_by text        NOT NULL,
    acknowledged_at timestamptz,
    resolved_by     text        NOT NULL,
    resolved_at     timestamptz,
    resolution      text        NOT NULL,
    version         bigint      NOT NULL CHECK (version > 0),
    updated_at      timestamptz NOT NULL,
    updated_by      text        NOT NULL,
    CHECK (state <> 'open' OR acknowledged_at IS NULL),
    CHECK (state <> 'acknowledged' OR acknowledged_at IS NOT NULL),
    CHECK ((state = 'resolved') = (resolved_at IS NOT NULL)),
    CHECK (state = 'resolved' OR resolution = '')
);

-- People's labels. The key is the tag without its case. The values of the key are found from one to the next in the second index.
CREATE TABLE session_tags (
    session_id uuid             NOT NULL REFERENCES session_handling (session_id) ON DELETE CASCADE,
    key        text COLLATE "C" NOT NULL,
    tag        text             NOT NULL,
    PRIMARY KEY (session_id, key)
);
CREATE INDEX session_tags_key ON session_tags (key, session_id) INCLUDE (tag);

-- What lists are filtered by. Every session is in the index of states: open ones may be few among many that are resolved.
ALTER TABLE session_list
    ADD COLUMN handling text NOT NULL DEFAULT 'open',
    ADD COLUMN assignee text NOT NULL DEFAULT '';
CREATE INDEX session_list_handling ON session_list (handling, status, created_at, session_id);
CREATE INDEX session_list_assignee ON session_list (assignee, status, created_at, session_id) WHERE assignee <> '';
