-- The team of the session that a note, an entity or a review item comes from, empty if there is none: where sessions are visible by team, so is what
-- was made of them, also after the session is deleted. Triggers set it, because a previous release that runs beside this one does not.
ALTER TABLE notes ADD COLUMN team text NOT NULL DEFAULT '';
ALTER TABLE entities ADD COLUMN team text NOT NULL DEFAULT '';
ALTER TABLE review_items ADD COLUMN team text NOT NULL DEFAULT '';

UPDATE notes n SET team = s.team FROM sessions s WHERE s.id = n.session_id AND s.team <> '';
UPDATE entities e SET team = s.team FROM sessions s WHERE s.id = e.session_id AND s.team <> '';
UPDATE review_items r SET team = e.team FROM entities e WHERE e.id = r.entity_id AND e.team <> '';
UPDATE review_items r SET team = n.team FROM notes n WHERE n.id = r.note_id AND n.team <> '' AND r.team = '';

CREATE FUNCTION set_team_of_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.team := coalesce((SELECT s.team FROM sessions s WHERE s.id = NEW.session_id), '');
    RETURN NEW;
END
$$;

CREATE FUNCTION set_team_of_review_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.team := coalesce((SELECT nullif(e.team, '') FROM entities e WHERE e.id = NEW.entity_id),
        (SELECT n.team FROM notes n WHERE n.id = NEW.note_id), '');
    RETURN NEW;
END
$$;

CREATE TRIGGER notes_team BEFORE INSERT ON notes FOR EACH ROW WHEN (NEW.session_id IS NOT NULL) EXECUTE FUNCTION set_team_of_session();
CREATE TRIGGER entities_team BEFORE INSERT ON entities FOR EACH ROW WHEN (NEW.session_id IS NOT NULL) EXECUTE FUNCTION set_team_of_session();
CREATE TRIGGER review_items_team BEFORE INSERT ON review_items FOR EACH ROW EXECUTE FUNCTION set_team_of_review_item();
