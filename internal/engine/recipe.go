package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/postgres"
)

const (
	// unrunnableTimeout is the default time that a session waits if it needs something that no server has configured.
	unrunnableTimeout = 5 * time.Minute
	// serverMemory is how long a server that is gone remains in the list of servers.
	serverMemory = 24 * time.Hour
	// maxRecipes limits the cache of decoded recipes. There are as many as configurations in use.
	maxRecipes = 1000
)

// recipes caches the recipes of sessions, so that each is read and decoded once. It belongs to one goroutine.
type recipes struct {
	read   func(ctx context.Context, hashes []string) (map[string]json.RawMessage, error)
	known  map[string]*chain.Recipe
	logger *slog.Logger
	// settings are the settings that known was decoded with.
	settings *Settings
}

// find returns the recipes of claimed sessions by hash. It reads only unknown ones from the database. A session whose recipe cannot be read
// follows the configuration.
func (r *recipes) find(ctx context.Context, settings *Settings, claims []postgres.Claim) (map[string]*chain.Recipe, error) {
	if r.settings != settings {
		r.settings, r.known = settings, map[string]*chain.Recipe{}
	}

	var unknown []string

	for _, c := range claims {
		if _, ok := r.known[c.RecipeHash]; !ok && c.RecipeHash != "" && !slices.Contains(unknown, c.RecipeHash) {
			unknown = append(unknown, c.RecipeHash)
		}
	}

	if len(unknown) == 0 {
		return r.known, nil
	}

	bodies, err := r.read(ctx, unknown)
	if err != nil {
		return nil, err
	}

	if len(r.known) > maxRecipes {
		clear(r.known)

		return r.find(ctx, settings, claims)
	}

	for _, hash := range unknown {
		recipe, err := settings.Decode(bodies[hash])
		if err != nil {
			r.logger.Error("could not read a recipe; its sessions use the current configuration", "recipe", hash, "error", err)

			r.known[hash] = nil

			continue
		}

		r.known[hash] = &recipe
	}

	return r.known, nil
}

// resolveChain returns the chain that the session follows, and which of its needs this server lacks.
func (r *sessionRun) resolveChain(session tarsy.Session) (c chain.Chain, missing []string) {
	if r.recipe != nil {
		return r.recipe.Follow(session.MCPSelection), r.settings.missing(r.recipe.Needs(session.MCPSelection))
	}

	c, known := r.settings.Chain(session.ChainID)
	if !known {
		missing = []string{chain.NeedChain(session.ChainID)}
	}

	// Only sessions stored by earlier releases have no recipe.
	return chain.Recipe{Chain: c}.Follow(session.MCPSelection), missing
}

// server returns what agents need to know about an MCP server.
func (r *sessionRun) server(id string) (chain.Server, bool) {
	if r.recipe != nil {
		if server, ok := r.recipe.Servers[id]; ok {
			return server, true
		}
	}

	return r.settings.Server(id)
}

// missing returns the needs that this server's configuration lacks.
func (s *Settings) missing(needs []string) []string {
	return slices.DeleteFunc(needs, func(need string) bool { return slices.Contains(s.Has, need) })
}

// abandonBefore returns the time before which a session must have started waiting to fail because no server can run it. A server that has
// just started abandons nothing, because the others may be starting as well.
func (e *Engine) abandonBefore() time.Time {
	before := e.Clock.Now().Add(-e.settings.Load().UnrunnableTimeout)
	if before.Before(e.started) {
		return time.Time{}
	}

	return before
}

// announce publishes to the other servers what this one can run.
func (e *Engine) announce(ctx context.Context) {
	settings := e.settings.Load()
	if settings.Workers == 0 {
		return
	}

	err := e.DB.Announce(ctx, postgres.Announcement{ServerID: e.ServerID, Version: Version, Has: settings.Has},
		e.Clock.Now().Add(-max(serverMemory, 2*settings.UnrunnableTimeout)))
	if ctx.Err() == nil {
		e.announcing.Note(ctx, err)
	}
}
