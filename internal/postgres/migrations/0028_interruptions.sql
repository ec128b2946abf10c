-- The takeovers of a session whose server stopped responding, for the trace.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

ALTER TABLE sessions ADD COLUMN interruptions jsonb NOT NULL DEFAULT '[]';
