-- The teams whose sessions a key sees where sessions are visible by team. A key without a row sees those of all teams.
CREATE TABLE api_key_teams (
    key_id uuid PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
    teams  text[] NOT NULL CHECK (cardinality(teams) > 0)
);

-- Lists of sessions without a team, which everybody sees; those of a team have session_list_team.
CREATE INDEX session_list_no_team ON session_list (status, created_at, session_id) WHERE team = '';
