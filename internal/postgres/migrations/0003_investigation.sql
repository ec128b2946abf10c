-- What a stage is for: the configured ones, the synthesis after several agents, and the answer to one question.
ALTER TABLE stages ADD COLUMN stage_type text NOT NULL DEFAULT 'investigation'
    CHECK (stage_type IN ('investigation', 'synthesis', 'chat'));
ALTER TABLE stages ADD CHECK ((stage_type = 'chat') = (chat_id IS NOT NULL AND chat_user_message_id IS NOT NULL));
ALTER TABLE stages ALTER COLUMN stage_type DROP DEFAULT;

-- Why an agent was told to conclude.
ALTER TABLE executions ADD COLUMN forced_conclusion text NOT NULL DEFAULT ''
    CHECK (forced_conclusion IN ('', 'iterations', 'deadline', 'budget'));

-- What the model was given instead of a long result.
ALTER TABLE mcp_interactions ADD COLUMN summary text NOT NULL DEFAULT '';

-- One question at a time: asked, or being answered.
CREATE UNIQUE INDEX requests_one_open_chat ON requests (session_id) WHERE status = 'open' AND kind = 'chat';
CREATE UNIQUE INDEX stages_one_open_chat ON stages (session_id) WHERE stage_type = 'chat' AND status IN ('pending', 'active');
CREATE INDEX chat_user_messages_session ON chat_user_messages (session_id);

-- The claimer's question: which sessions that are over have something to answer. It is kept apart from the queue of those
-- that wait to be investigated, however long that is.
CREATE INDEX sessions_asked ON sessions (runnable_at, id) WHERE runnable_at IS NOT NULL AND lease_until IS NULL AND completed_at IS NOT NULL;
