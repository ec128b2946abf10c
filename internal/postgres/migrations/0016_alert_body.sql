-- The Slack message that an alert came from, as its sender identifies it.
ALTER TABLE sessions ADD COLUMN slack_message_fingerprint text NOT NULL DEFAULT '';
