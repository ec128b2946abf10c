-- Notes, what was extracted from them, where it is filed, and what a person must decide. Sessions are purged, so their ids here
-- are not foreign keys. Every row that people change has a version, which starts at one and grows with each change.
CREATE TABLE projects (
    id          uuid PRIMARY KEY,
    name        text             NOT NULL,
    description text             NOT NULL DEFAULT '',
    status      text             NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
    position    double precision NOT NULL DEFAULT 0,
    created_by  text             NOT NULL,
    created_at  timestamptz      NOT NULL,
    updated_at  timestamptz      NOT NULL,
    version     bigint           NOT NULL DEFAULT 1
);

CREATE UNIQUE INDEX projects_name ON projects (lower(name));

CREATE TABLE epics (
    id          uuid PRIMARY KEY,
    project_id  uuid             NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name        text             NOT NULL,
    description text             NOT NULL DEFAULT '',
    status      text             NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'done')),
    position    double precision NOT NULL DEFAULT 0,
    created_by  text             NOT NULL,
    created_at  timestamptz      NOT NULL,
    updated_at  timestamptz      NOT NULL,
    version     bigint           NOT NULL DEFAULT 1,
    UNIQUE (id, project_id)
);

CREATE UNIQUE INDEX epics_name ON epics (project_id, lower(name));

CREATE TABLE notes (
    id               uuid PRIMARY KEY,
    content          text        NOT NULL,
    source           text        NOT NULL CHECK (source IN ('cli', 'web', 'discord', 'session')),
    session_id       uuid,
    author           text        NOT NULL,
    status           text        NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'extracted', 'done', 'failed')),
    processed        boolean     NOT NULL DEFAULT false,
    processing_error text        NOT NULL DEFAULT '',
    -- The number of entities that the last extraction stored.
    entity_count     integer     NOT NULL DEFAULT 0,
    -- Grows with each reprocessing. A job of an older version stores nothing.
    version          bigint      NOT NULL DEFAULT 1,
    idempotency_hash        bytea UNIQUE,
    idempotency_fingerprint bytea,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    processed_at     timestamptz,
    CHECK ((idempotency_hash IS NULL) = (idempotency_fingerprint IS NULL)),
    CHECK (processed = (processed_at IS NOT NULL))
);

CREATE INDEX notes_created ON notes (created_at DESC, id DESC);
CREATE INDEX notes_session ON notes (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX notes_unfinished ON notes (updated_at) WHERE status IN ('queued', 'extracted');
CREATE INDEX notes_words ON notes USING gin (search_tokens(left(content, 32768)));

-- search_set returns the words of a text, each once; see search_tokens.
CREATE FUNCTION search_set(content text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY (SELECT DISTINCT word FROM unnest(search_tokens(left(content, 32768))) AS word WHERE word <> '')
$$;

CREATE TABLE entities (
    id           uuid PRIMARY KEY,
    -- Null if a person created it.
    note_id      uuid REFERENCES notes (id) ON DELETE SET NULL,
    -- The version of the note that it was extracted from.
    note_version bigint           NOT NULL DEFAULT 0,
    session_id   uuid,
    type         text             NOT NULL CHECK (type IN ('task', 'decision', 'question', 'risk', 'insight')),
    title        text             NOT NULL,
    content      text             NOT NULL DEFAULT '',
    owner        text             NOT NULL DEFAULT '',
    due_on       date,
    status       text             NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'in_progress', 'done', 'dropped')),
    state        text             NOT NULL CHECK (state IN ('proposed', 'accepted', 'rejected', 'merged')),
    confidence   double precision CHECK (confidence BETWEEN 0 AND 1),
    project_id   uuid REFERENCES projects (id) ON DELETE SET NULL,
    epic_id      uuid REFERENCES epics (id) ON DELETE SET NULL,
    position     double precision NOT NULL DEFAULT 0,
    merged_into  uuid REFERENCES entities (id) ON DELETE SET NULL,
    created_by   text             NOT NULL,
    -- The last person who created, accepted, edited or moved it; empty if only the pipeline has written it.
    edited_by    text             NOT NULL DEFAULT '',
    created_at   timestamptz      NOT NULL,
    updated_at   timestamptz      NOT NULL,
    organized_at timestamptz,
    version      bigint           NOT NULL DEFAULT 1,
    words        text[] GENERATED ALWAYS AS (search_set(title || ' ' || content)) STORED,
    CHECK (epic_id IS NULL OR project_id IS NOT NULL)
);

-- Lists, newest first: of one state, of all, of one project, of one owner.
CREATE INDEX entities_state ON entities (state, created_at DESC, id DESC);
CREATE INDEX entities_created ON entities (created_at DESC, id DESC);
CREATE INDEX entities_project ON entities (project_id, created_at DESC, id DESC);
CREATE INDEX entities_owner ON entities (lower(owner), created_at DESC, id DESC) WHERE owner <> '';
CREATE INDEX entities_type ON entities (type, created_at DESC, id DESC);
-- The order of the board: a column of everything, of a project, of an epic.
CREATE INDEX entities_column ON entities (status, position, id);
CREATE INDEX entities_board ON entities (project_id, status, position, id);
CREATE INDEX entities_epic ON entities (epic_id, status, position, id) WHERE epic_id IS NOT NULL;
CREATE INDEX entities_note ON entities (note_id) WHERE note_id IS NOT NULL;
CREATE INDEX entities_session ON entities (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX entities_due ON entities (due_on) WHERE due_on IS NOT NULL;
CREATE INDEX entities_merged ON entities (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX entities_words ON entities USING gin (words);

-- The words of a note that an entity came from. Offsets count UTF-16 units, as browsers do.
CREATE TABLE entity_sources (
    entity_id    uuid    NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    note_id      uuid    NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    quote        text    NOT NULL,
    start_offset integer NOT NULL,
    end_offset   integer NOT NULL CHECK (end_offset > start_offset),
    PRIMARY KEY (entity_id, note_id, start_offset)
);

CREATE INDEX entity_sources_note ON entity_sources (note_id);

CREATE TABLE tags (
    name       text PRIMARY KEY CHECK (name = lower(name) AND name <> ''),
    created_at timestamptz NOT NULL
);

CREATE TABLE entity_tags (
    entity_id uuid NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    tag       text NOT NULL REFERENCES tags (name) ON UPDATE CASCADE ON DELETE CASCADE,
    PRIMARY KEY (entity_id, tag)
);

CREATE INDEX entity_tags_tag ON entity_tags (tag, entity_id);

CREATE TABLE review_items (
    id          uuid PRIMARY KEY,
    kind        text        NOT NULL CHECK (kind IN ('entity', 'assignment', 'duplicate', 'epic')),
    status      text        NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'accepted', 'edited', 'rejected', 'merged', 'obsolete')),
    note_id     uuid REFERENCES notes (id) ON DELETE CASCADE,
    entity_id   uuid REFERENCES entities (id) ON DELETE CASCADE,
    project_id  uuid REFERENCES projects (id) ON DELETE CASCADE,
    -- The change that is proposed: tarsy.Proposal.
    proposal    jsonb       NOT NULL,
    reason      text        NOT NULL DEFAULT '',
    confidence  double precision CHECK (confidence BETWEEN 0 AND 1),
    score       double precision CHECK (score BETWEEN 0 AND 1),
    created_at  timestamptz NOT NULL,
    resolved_at timestamptz,
    resolved_by text        NOT NULL DEFAULT '',
    version     bigint      NOT NULL DEFAULT 1,
    CHECK (kind = 'epic' OR entity_id IS NOT NULL),
    CHECK (kind <> 'epic' OR project_id IS NOT NULL),
    CHECK ((status = 'open') = (resolved_at IS NULL))
);

CREATE INDEX review_items_created ON review_items (created_at DESC, id DESC);
CREATE INDEX review_items_open ON review_items (created_at, id) WHERE status = 'open';
CREATE INDEX review_items_entity ON review_items (entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX review_items_note ON review_items (note_id) WHERE note_id IS NOT NULL;

-- Every decision, with what it takes to undo it. Rows are only added; undoing marks them.
CREATE TABLE review_decisions (
    id         uuid PRIMARY KEY,
    item_id    uuid        NOT NULL REFERENCES review_items (id) ON DELETE CASCADE,
    decision   text        NOT NULL CHECK (decision IN ('accept', 'edit', 'reject', 'merge')),
    author     text        NOT NULL,
    reason     text        NOT NULL DEFAULT '',
    decided_at timestamptz NOT NULL,
    -- The rows before the decision.
    before     jsonb       NOT NULL,
    -- The versions of the rows after the decision: what was changed since is not undone.
    after      jsonb       NOT NULL,
    undone_at  timestamptz,
    undone_by  text        NOT NULL DEFAULT ''
);

CREATE INDEX review_decisions_item ON review_decisions (item_id, decided_at);
