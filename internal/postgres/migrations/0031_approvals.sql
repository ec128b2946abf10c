-- Approvals: tool calls that wait for a person.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

ALTER TABLE mcp_interactions
    DROP CONSTRAINT mcp_interactions_status_check,
    ADD CONSTRAINT mcp_interactions_status_check CHECK (status IN ('waiting', 'started', 'completed', 'failed', 'unknown')) NOT VALID;
CREATE INDEX mcp_interactions_waiting ON mcp_interactions (session_id) WHERE status = 'waiting';

-- A table of its own: the first release reads all columns of calls, and would not find a field for a new one. The id is that of the call.
CREATE TABLE approvals (
    id         uuid PRIMARY KEY,
    session_id uuid  NOT NULL,
    approval   jsonb NOT NULL
);
CREATE INDEX approvals_session ON approvals (session_id);

ALTER TABLE requests
    DROP CONSTRAINT requests_kind_check,
    ADD CONSTRAINT requests_kind_check CHECK (kind IN ('cancel', 'chat', 'approval')) NOT VALID;
CREATE UNIQUE INDEX requests_one_open_approval ON requests ((payload ->> 'approval_id')) WHERE status = 'open' AND kind = 'approval';

-- A call that waits is announced once in each channel.
ALTER TABLE announcements
    ADD COLUMN approval_id uuid,
    DROP CONSTRAINT announcements_subject_check,
    ADD CONSTRAINT announcements_subject_check CHECK (subject IN ('start', 'end', 'answer', 'receipt', 'approval')) NOT VALID;
CREATE UNIQUE INDEX announcements_approval ON announcements (approval_id, channel) WHERE subject = 'approval';
CREATE INDEX announcements_approval_message ON announcements (channel, (message_ids[1])) WHERE subject = 'approval';
