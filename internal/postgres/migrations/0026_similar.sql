-- Agents can be made to conclude because they repeat the same tool calls.

-- Locked first, as every step commit does, and at once as strongly as anything below needs.
LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE;

-- Every row that is there is valid: to check them would read the whole table.
ALTER TABLE sessions
    DROP CONSTRAINT sessions_concluded_early_check,
    ADD CONSTRAINT sessions_concluded_early_check CHECK (concluded_early IN ('', 'deadline', 'budget', 'resolved', 'repeated_calls')) NOT VALID;

ALTER TABLE executions
    DROP CONSTRAINT executions_forced_conclusion_check,
    ADD CONSTRAINT executions_forced_conclusion_check
        CHECK (forced_conclusion IN ('', 'iterations', 'deadline', 'budget', 'resolved', 'repeated_calls')) NOT VALID;
