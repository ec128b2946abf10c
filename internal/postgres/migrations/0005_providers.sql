-- What a provider wants back with an answer that it gave.
ALTER TABLE messages ADD COLUMN signature json;

-- Through which message an execution's tool results are given to the model shortened, because the conversation had become
-- too long for it; and through which they were when a call was made.
ALTER TABLE executions ADD COLUMN shortened_through integer NOT NULL DEFAULT 0 CHECK (shortened_through >= 0);
ALTER TABLE llm_interactions ADD COLUMN shortened_through integer NOT NULL DEFAULT 0 CHECK (shortened_through >= 0);

-- How often a call was made until an answer began, and why the answer ended.
ALTER TABLE llm_interactions ADD COLUMN attempts integer NOT NULL DEFAULT 1 CHECK (attempts >= 0);
ALTER TABLE llm_interactions ADD COLUMN stop_reason text NOT NULL DEFAULT '';

-- Another provider goes on where one failed; a conversation is shortened.
ALTER TABLE timeline_events DROP CONSTRAINT timeline_events_event_type_check;
ALTER TABLE timeline_events ADD CHECK (event_type IN ('llm_thinking', 'llm_response', 'llm_tool_call', 'mcp_tool_summary', 'error', 'user_question',
    'executive_summary', 'final_analysis', 'code_execution', 'google_search_result', 'url_context_result', 'provider_fallback', 'context_shortened'));
