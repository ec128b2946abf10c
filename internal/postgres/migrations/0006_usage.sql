-- What was used in a time: the day's budget and the usage summary ask for it. Rows come in the order of their times, so
-- these indexes grow at one end, which is as cheap as an index can be.
CREATE INDEX llm_interactions_created ON llm_interactions (created_at);
CREATE INDEX mcp_interactions_created ON mcp_interactions (created_at);
