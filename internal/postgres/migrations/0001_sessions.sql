-- The five-layer model: session → stage → execution → {timeline event, message, interactions}, and the journal.
-- Every table below sessions is owned by its session: after intake only the step commit writes it, and refuses rows of
-- another session. That is why only session_id is a foreign key, and in the journal, which has the most rows by far,
-- not even that.

CREATE TABLE sessions (
    id                      uuid PRIMARY KEY,
    alert_type              text        NOT NULL,
    alert_data              text        NOT NULL,
    chain_id                text        NOT NULL,
    agent_type              text        NOT NULL DEFAULT '',
    status                  text        NOT NULL CHECK (status IN ('pending', 'in_progress', 'cancelling', 'completed', 'failed', 'cancelled', 'timed_out')),
    author                  text        NOT NULL,
    runbook                 text        NOT NULL DEFAULT '',
    runbook_url             text        NOT NULL DEFAULT '',
    mcp_selection           jsonb,
    pod_id                  text        NOT NULL DEFAULT '',
    current_stage_index     integer     NOT NULL DEFAULT 0,
    current_stage_id        uuid,
    final_analysis          text        NOT NULL DEFAULT '',
    executive_summary       text        NOT NULL DEFAULT '',
    executive_summary_error text        NOT NULL DEFAULT '',
    error_code              text        NOT NULL DEFAULT '',
    error_message           text        NOT NULL DEFAULT '',
    concluded_early         text        NOT NULL DEFAULT '' CHECK (concluded_early IN ('', 'deadline', 'budget')),
    created_at              timestamptz NOT NULL,
    started_at              timestamptz,
    completed_at            timestamptz,
    last_interaction_at     timestamptz,
    deleted_at              timestamptz,

    -- The queue. A session has work when runnable_at is set; it is leased when lease_until is set. The fence counts
    -- leases and is checked by every write; open_requests lives on this row so that a release, which locks the row,
    -- can never miss a request.
    runnable_at             timestamptz,
    lease_until             timestamptz,
    lease_counted           boolean     NOT NULL DEFAULT true,
    fence                   bigint      NOT NULL DEFAULT 0,
    last_seq                bigint      NOT NULL DEFAULT 0,
    open_requests           integer     NOT NULL DEFAULT 0 CHECK (open_requests >= 0),

    CHECK (lease_until IS NULL OR fence > 0),
    CHECK ((completed_at IS NOT NULL) = (status IN ('completed', 'failed', 'cancelled', 'timed_out')))
) WITH (fillfactor = 80);

-- The questions of the claimer: what waits, of what is something asked, and what is leased.
CREATE INDEX sessions_runnable ON sessions (runnable_at, id) WHERE runnable_at IS NOT NULL AND lease_until IS NULL;
CREATE INDEX sessions_requested ON sessions (runnable_at, id) WHERE open_requests > 0 AND lease_until IS NULL;
CREATE INDEX sessions_leased ON sessions (lease_until) WHERE lease_until IS NOT NULL;
-- The list, newest first.
CREATE INDEX sessions_created ON sessions (created_at DESC, id DESC) WHERE deleted_at IS NULL;

CREATE TABLE stages (
    id                   uuid PRIMARY KEY,
    session_id           uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    stage_name           text        NOT NULL,
    stage_index          integer     NOT NULL CHECK (stage_index > 0),
    expected_agent_count integer     NOT NULL CHECK (expected_agent_count > 0),
    parallel_type        text CHECK (parallel_type IN ('multi_agent', 'replica')),
    success_policy       text CHECK (success_policy IN ('all', 'any')),
    chat_id              uuid,
    chat_user_message_id uuid,
    status               text        NOT NULL CHECK (status IN ('pending', 'active', 'completed', 'failed', 'cancelled', 'timed_out')),
    error_message        text        NOT NULL DEFAULT '',
    created_at           timestamptz NOT NULL,
    started_at           timestamptz,
    completed_at         timestamptz,
    UNIQUE (session_id, stage_index)
);

CREATE TABLE executions (
    id                 uuid PRIMARY KEY,
    session_id         uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    stage_id           uuid        NOT NULL,
    agent_name         text        NOT NULL,
    agent_index        integer     NOT NULL CHECK (agent_index > 0),
    iteration_strategy text        NOT NULL,
    llm_provider       text        NOT NULL DEFAULT '',
    status             text        NOT NULL CHECK (status IN ('pending', 'active', 'completed', 'failed', 'cancelled', 'timed_out')),
    error_code         text        NOT NULL DEFAULT '',
    error_message      text        NOT NULL DEFAULT '',
    created_at         timestamptz NOT NULL,
    started_at         timestamptz,
    completed_at       timestamptz,
    UNIQUE (stage_id, agent_index)
);
CREATE INDEX executions_session ON executions (session_id);

CREATE TABLE timeline_events (
    id              uuid PRIMARY KEY,
    session_id      uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    stage_id        uuid,
    execution_id    uuid,
    sequence_number bigint      NOT NULL CHECK (sequence_number > 0),
    event_type      text        NOT NULL CHECK (event_type IN ('llm_thinking', 'llm_response', 'llm_tool_call', 'mcp_tool_summary', 'error', 'user_question',
                                                               'executive_summary', 'final_analysis', 'code_execution', 'google_search_result', 'url_context_result')),
    status          text        NOT NULL CHECK (status IN ('streaming', 'completed', 'failed', 'cancelled', 'timed_out')),
    content         text        NOT NULL DEFAULT '',
    metadata        jsonb,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    completed_at    timestamptz,
    UNIQUE (session_id, sequence_number)
);

CREATE TABLE messages (
    id              uuid PRIMARY KEY,
    session_id      uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    stage_id        uuid        NOT NULL,
    execution_id    uuid        NOT NULL,
    sequence_number integer     NOT NULL CHECK (sequence_number > 0),
    role            text        NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    content         text        NOT NULL DEFAULT '',
    tool_calls      jsonb,
    tool_call_id    text        NOT NULL DEFAULT '',
    tool_name       text        NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL,
    UNIQUE (execution_id, sequence_number)
);
CREATE INDEX messages_session ON messages (session_id);

CREATE TABLE llm_interactions (
    id               uuid PRIMARY KEY,
    session_id       uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    stage_id         uuid,
    execution_id     uuid,
    interaction_type text        NOT NULL CHECK (interaction_type IN ('iteration', 'forced_conclusion', 'executive_summary', 'summarization', 'synthesis')),
    provider         text        NOT NULL DEFAULT '',
    model_name       text        NOT NULL DEFAULT '',
    message_count    integer     NOT NULL DEFAULT 0,
    llm_request      json,
    llm_response     json,
    thinking_content text        NOT NULL DEFAULT '',
    usage            jsonb       NOT NULL,
    duration_ms      bigint      NOT NULL DEFAULT 0,
    error_code       text        NOT NULL DEFAULT '',
    error_message    text        NOT NULL DEFAULT '',
    created_at       timestamptz NOT NULL
);
CREATE INDEX llm_interactions_session ON llm_interactions (session_id);

CREATE TABLE mcp_interactions (
    id                uuid PRIMARY KEY,
    session_id        uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    stage_id          uuid        NOT NULL,
    execution_id      uuid        NOT NULL,
    timeline_event_id uuid        NOT NULL,
    tool_call_id      text        NOT NULL,
    server_name       text        NOT NULL,
    tool_name         text        NOT NULL,
    tool_arguments    jsonb,
    tool_result       text        NOT NULL DEFAULT '',
    available_tools   jsonb,
    read_only         boolean     NOT NULL DEFAULT false,
    is_error          boolean     NOT NULL DEFAULT false,
    attempt           integer     NOT NULL DEFAULT 1,
    status            text        NOT NULL CHECK (status IN ('started', 'completed', 'failed', 'unknown')),
    duration_ms       bigint      NOT NULL DEFAULT 0,
    error_message     text        NOT NULL DEFAULT '',
    created_at        timestamptz NOT NULL,
    completed_at      timestamptz,
    UNIQUE (execution_id, tool_call_id)
);
CREATE INDEX mcp_interactions_session ON mcp_interactions (session_id);

-- The journal of each session: gap-free because only the step commit numbers it, under the session's row lock. Its
-- payloads are passed on as they were written and never looked into, hence json.
CREATE TABLE events (
    session_id uuid        NOT NULL,
    seq        bigint      NOT NULL CHECK (seq > 0),
    type       text        NOT NULL,
    payload    json        NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (session_id, seq)
);

-- Follow-up chat: one a session. Written with the issue that brings chat; part of the model from the first day.
CREATE TABLE chats (
    id                  uuid PRIMARY KEY,
    session_id          uuid        NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
    created_by          text        NOT NULL,
    created_at          timestamptz NOT NULL,
    last_interaction_at timestamptz
);

CREATE TABLE chat_user_messages (
    id         uuid PRIMARY KEY,
    chat_id    uuid        NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    session_id uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    author     text        NOT NULL,
    content    text        NOT NULL,
    created_at timestamptz NOT NULL
);

-- What people ask of a session's holder.
CREATE TABLE requests (
    id         uuid PRIMARY KEY,
    session_id uuid        NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind       text        NOT NULL CHECK (kind IN ('cancel', 'chat')),
    status     text        NOT NULL CHECK (status IN ('open', 'done', 'refused')),
    author     text        NOT NULL,
    payload    jsonb,
    created_at timestamptz NOT NULL,
    closed_at  timestamptz,
    CHECK ((status = 'open') = (closed_at IS NULL))
);
CREATE INDEX requests_open ON requests (session_id) WHERE status = 'open';
CREATE UNIQUE INDEX requests_one_open_cancel ON requests (session_id) WHERE status = 'open' AND kind = 'cancel';
