-- Finding the words of a session was most of what the triggers of 0010 cost. Texts now stay texts until the end: each is read once,
-- and all words become one vector. One thing changes: a token that follows another one's '.', '_' or '-' no longer keeps its
-- own ("Retry it. --dry-run" was not found by dry-run), so a stored word never begins or ends with one of them.

-- search_spaced returns a text in lower case with one space between tokens and none around them. 0010 says what a token is, at
-- search_tokens. A match of a regular expression costs about as much as replacing one character in a whole page, so the
-- most frequent separators are replaced before.
CREATE FUNCTION search_spaced(content text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    spaced text := replace(replace(replace(replace(lower(content), E'\n', ' '), '"', ' '), ',', ' '), ':', ' ');
BEGIN
    spaced := ' ' || regexp_replace(spaced, E'[\x01-\x1f!-,/:-@\\[-^`{-\u00a0\u00ab\u00bb\u2000-\u206f\u3000-\u3002]+', ' ', 'g') || ' ';
    spaced := replace(replace(spaced, '. ', ' '), ' -', ' ');

    IF spaced ~ ' [._-]|[._-] ' THEN
        spaced := regexp_replace(regexp_replace(spaced, ' [ ._-]+', ' ', 'g'), '[._-]+ ', ' ', 'g');
    END IF;

    WHILE strpos(spaced, '  ') > 0 LOOP
        spaced := replace(spaced, '  ', ' ');
    END LOOP;

    RETURN btrim(spaced, ' ');
END
$$;

-- search_text returns the words of a text that are stored, with one space between them: its tokens, and the parts of those
-- that are identifiers.
CREATE FUNCTION search_text(content text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    -- Text beyond this is not found: a tsvector holds 1 MB, and a step must not wait for a huge one.
    whole text := search_spaced(CASE WHEN octet_length(content) > 32768 THEN left(content, 32768) ELSE content END);
    parts text;
BEGIN
    -- A lexeme that is too long would be cut, and not refused. Nobody searches for a blob. A word of more than 256 bytes has
    -- at least 65 characters.
    IF octet_length(whole) > 256 AND whole ~ '[^ ]{65}' THEN
        whole := array_to_string(ARRAY (SELECT word FROM unnest(string_to_array(whole, ' ')) AS word WHERE octet_length(word) <= 256), ' ');
    END IF;

    parts := replace(replace(replace(whole, '.', ' '), '_', ' '), '-', ' ');
    IF parts = whole THEN
        RETURN whole;
    END IF;

    WHILE strpos(parts, '  ') > 0 LOOP
        parts := replace(parts, '  ', ' ');
    END LOOP;

    RETURN whole || ' ' || parts;
END
$$;

CREATE OR REPLACE FUNCTION search_tokens(content text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_to_array(search_spaced(content), ' ')
$$;

CREATE OR REPLACE FUNCTION search_words(content text, mark text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    words text := search_text(content);
BEGIN
    IF words = '' THEN
        RETURN ''::tsvector;
    END IF;

    RETURN array_to_tsvector(string_to_array(mark || replace(words, ' ', ' ' || mark), ' '));
END
$$;

CREATE OR REPLACE FUNCTION session_words(title text, alert_data text, final_analysis text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    words text;
BEGIN
    words := search_text(title);
    IF words <> '' THEN
        words := words || ' ^' || replace(words, ' ', ' ^');
    END IF;

    IF alert_data <> '' THEN
        words := words || ' ' || search_text(alert_data);
    END IF;

    IF final_analysis <> '' THEN
        words := words || ' ' || search_text(final_analysis);
    END IF;

    -- A text without words leaves a space behind.
    words := replace(btrim(words, ' '), '  ', ' ');
    IF words = '' THEN
        RETURN ''::tsvector;
    END IF;

    RETURN array_to_tsvector(string_to_array(words, ' '));
EXCEPTION WHEN others THEN
    RETURN ''::tsvector;
END
$$;
