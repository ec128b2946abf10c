package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"tarsy.dev/tarsy/internal/progress"
)

// Terms determine how a session runs. They are set at intake and not part of what people see of it.
type Terms struct {
	// EngineVersion is the lowest version of the engine that can continue the session.
	EngineVersion int
	// Recipe is the chain that the session follows; nil means the one that is configured on the server that runs it.
	Recipe *progress.Recipe
}

type recipeRow struct {
	progress.Recipe

	// CreatedAt is when a server last stored it.
	CreatedAt time.Time `json:"created_at"`
}

var recipeColumns = ColumnsOf[recipeRow]()

const (
	// A server that uses a recipe stores it again after storeRecipeEvery, and only recipes that have not been stored for
	// recipeRetention are removed. So no server relies on a removed recipe, however late its transaction commits.
	storeRecipeEvery = time.Hour
	recipeRetention  = 24 * storeRecipeEvery

	// removeRecipesSQL removes the recipes that no session follows. One that a server is storing again is skipped.
	removeRecipesSQL = `
WITH unused AS (
    SELECT r.hash FROM recipes r
    WHERE r.created_at < $1 AND NOT EXISTS (SELECT FROM sessions s WHERE s.recipe_hash = r.hash)
    FOR UPDATE OF r SKIP LOCKED
)
DELETE FROM recipes r USING unused u WHERE r.hash = u.hash`
)

// storeRecipesSQL stores recipes, or records that they are still used. Servers that store the same ones lock them in the same order.
var storeRecipesSQL = `
    INSERT INTO recipes AS r (` + recipeColumns.List() + `)
    SELECT ` + recipeColumns.List() + ` FROM jsonb_populate_recordset(NULL::recipes, $7) ORDER BY hash
    ON CONFLICT (hash) DO UPDATE SET created_at = greatest(r.created_at, excluded.created_at)`

// storedRecipes remembers when this server stored each recipe, so that it stores one only once in a while.
type storedRecipes struct {
	mu     sync.Mutex
	stored map[string]time.Time
}

// due returns the recipes of a group that have to be stored, without duplicates.
func (s *storedRecipes) due(group []*arrival, now time.Time) []recipeRow {
	s.mu.Lock()
	defer s.mu.Unlock()

	all, seen := []recipeRow{}, map[string]bool{}

	for _, a := range group {
		if r := a.terms.Recipe; r != nil && !seen[r.Hash] && now.Sub(s.stored[r.Hash]) >= storeRecipeEvery {
			seen[r.Hash] = true
			row := recipeRow{Recipe: *r, CreatedAt: now}
			row.Needs = append([]string{}, r.Needs...) // an empty array, not null
			all = append(all, row)
		}
	}

	return all
}

func (s *storedRecipes) add(recipes []recipeRow) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.stored == nil {
		s.stored = map[string]time.Time{}
	}

	for _, r := range recipes {
		s.stored[r.Hash] = r.CreatedAt
	}
}

// Recipes returns stored recipes by their hashes.
func (db *DB) Recipes(ctx context.Context, hashes []string) (map[string]json.RawMessage, error) {
	type row struct {
		Hash   string
		Recipe json.RawMessage
	}

	rows, err := Collect[row](ctx, db.work, `SELECT hash, recipe FROM recipes WHERE hash = ANY($1)`, hashes)
	if err != nil {
		return nil, fmt.Errorf("read recipes: %w", err)
	}

	found := make(map[string]json.RawMessage, len(rows))
	for _, r := range rows {
		found[r.Hash] = r.Recipe
	}

	return found, nil
}

// SessionRecipe returns the recipe of a session, nil if it has none.
func (db *DB) SessionRecipe(ctx context.Context, sessionID string) (json.RawMessage, error) {
	recipes, err := Collect[struct{ Recipe json.RawMessage }](ctx, db.front,
		`SELECT r.recipe FROM sessions s JOIN recipes r ON r.hash = s.recipe_hash WHERE s.id = $1`, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read the session's recipe: %w", err)
	}

	if len(recipes) == 0 {
		return nil, nil
	}

	return recipes[0].Recipe, nil
}

// Announcement is what a server that runs sessions announces to the others.
type Announcement struct {
	ServerID string
	Version  int
	Has      []string
}

// Announce stores what a server can run from now on, and deletes servers that were last seen before a time.
func (db *DB) Announce(ctx context.Context, a Announcement, forgetBefore time.Time) error {
	_, err := db.work.Exec(ctx, `
WITH forgotten AS (DELETE FROM servers WHERE seen_at < $5 AND id <> $1)
INSERT INTO servers (id, engine_version, has, seen_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET engine_version = excluded.engine_version, has = excluded.has, seen_at = excluded.seen_at`,
		a.ServerID, a.Version, append([]string{}, a.Has...), db.clock.Now(), forgetBefore)
	if err != nil {
		return fmt.Errorf("announce the server: %w", err)
	}

	return nil
}
