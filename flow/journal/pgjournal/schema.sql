-- One row a journal: where its numbers are, and who may give the next ones.
CREATE TABLE pgjournal_journals (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text        NOT NULL UNIQUE,
    head        bigint      NOT NULL DEFAULT 0,
    trimmed     bigint      NOT NULL DEFAULT 0,
    holder      text        NOT NULL DEFAULT '',
    fence       bigint      NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    CHECK (trimmed BETWEEN 0 AND head)
);

-- Batches in the order in which their inserts began.
CREATE SEQUENCE pgjournal_batches;

-- One row an entry. It has no seq until the sequencer gives it one, and nobody reads it before.
CREATE TABLE pgjournal_entries (
    journal_id bigint      NOT NULL,
    batch      bigint      NOT NULL,
    idx        integer     NOT NULL,
    seq        bigint      CHECK (seq > 0),
    at         timestamptz NOT NULL,
    entry      jsonb       NOT NULL,
    PRIMARY KEY (batch, idx)
);

CREATE UNIQUE INDEX pgjournal_entries_seq ON pgjournal_entries (journal_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX pgjournal_entries_waiting ON pgjournal_entries (journal_id, batch, idx) WHERE seq IS NULL;
