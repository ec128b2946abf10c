package app

import (
	"context"
	"errors"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/metrics"
)

// Reload reads the configuration, validates it and, unless dryRun is true, applies it. An invalid configuration changes nothing. author is
// who requested the reload, for the log.
func (a *App) Reload(ctx context.Context, dryRun bool, author string) (api.ConfigReload, error) {
	if a.options.Load == nil {
		return api.ConfigReload{}, tarsy.Errorf(tarsy.CodeConflict, "This server has no configuration files to reload.")
	}

	a.reloading.Lock()
	defer a.reloading.Unlock()

	next, changes, undo, err := a.loadSettings()
	if err != nil {
		if !dryRun {
			a.metrics.ConfigReloaded(metrics.ReloadInvalid, a.clock.Now())
			a.logger.ErrorContext(ctx, "configuration not reloaded, the previous one stays in use", "error", err, "author", author)
		}

		return api.ConfigReload{}, err
	}

	result := api.ConfigReload{}

	for _, c := range changes {
		result.Changes = append(result.Changes, shownChange(c))
		result.RestartRequired = result.RestartRequired || c.TakesEffect == config.EffectRestart
	}

	for _, w := range next.warnings(a.options.Env, a.options.LLM != nil) {
		result.Warnings = append(result.Warnings, w.message)
	}

	if dryRun {
		undo()
		next.discard(a.current())

		return result, nil
	}

	result.Applied = slices.ContainsFunc(changes, func(c config.Change) bool { return c.TakesEffect != config.EffectRestart })

	// Apply even if only settings that require a restart differ: their values are kept, so nothing is lost, but
	// positions in the files may have changed.
	a.apply(next)

	outcome := metrics.ReloadUnchanged
	if result.Applied {
		outcome = metrics.ReloadApplied
	}

	a.metrics.ConfigReloaded(outcome, a.clock.Now())

	for _, c := range changes {
		a.logger.InfoContext(ctx, "configuration changed", "path", c.Path, "change", c.Kind, "old", c.Old, "new", c.New, "takes_effect", c.TakesEffect)
	}

	a.logger.InfoContext(ctx, "configuration reloaded",
		"result", outcome, "changes", len(changes), "restart_required", result.RestartRequired, "author", author)

	return result, nil
}

// loadSettings makes settings from the current files. If the caller does not apply them, it must call undo.
func (a *App) loadSettings() (*settings, []config.Change, func(), error) {
	var (
		changes []config.Change
		next    *settings
	)

	before := a.current()

	cfg, undo, err := a.options.Load()
	if err == nil {
		cfg, changes, err = before.config.Reload(cfg)
	}

	if err == nil {
		next, err = a.newSettings(cfg, before)
	}

	if err == nil {
		return next, changes, undo, nil
	}

	undo()

	message := "The configuration is not valid and was not applied; the server keeps the previous one. "
	if _, ok := errors.AsType[*config.Error](err); !ok {
		message = "The configuration could not be read; the server keeps the previous one. "
	}

	return nil, nil, nil, tarsy.Errorf(tarsy.CodeInvalidConfiguration, "%s", message+a.maskText(err.Error()))
}

// apply replaces the settings. New sessions use them.
func (a *App) apply(next *settings) {
	before := a.current()

	// The order matters, because published settings must work: first names for metrics, and models, then what accepts
	// alerts, then what runs sessions.
	a.metrics.Know(next.labels())

	if a.models != nil && !sameModels(before.effective, next.effective) {
		a.models.replace(next.effective)
	}

	a.settings.Store(next)
	a.engine.Apply(next.engine)

	if before.runbooks != next.runbooks {
		a.retired = append(a.retired, before.runbooks) // a session may still be reading from it
	}

	used := next.chains.MCPServers()
	a.health.monitor.Reconfigure(next.tools, used)

	for _, id := range before.chains.MCPServers() {
		if !slices.Contains(used, id) {
			a.warnings.clear(categoryMCP, id)
		}
	}

	if a.health.forget(used) {
		a.engine.Wake()
	}

	a.showConfigWarnings(next)
}

// showConfigWarnings replaces the warnings about the configuration.
func (a *App) showConfigWarnings(s *settings) {
	for _, w := range a.shownWarnings {
		a.warnings.remove(categoryConfig, w.message)
	}

	a.shownWarnings = s.warnings(a.options.Env, a.options.LLM != nil)

	for _, w := range a.shownWarnings {
		a.warnings.set(categoryConfig, "", w.message, w.details, a.clock.Now())
	}
}

// openModels creates the client for all LLM calls: the one from the options, or one that dispatches to the configured providers.
func (a *App) openModels() {
	if a.options.LLM != nil {
		a.llm = a.options.LLM

		return
	}

	a.models = &models{options: a.options}
	a.llm = a.models
	a.models.replace(a.options.Config)
	a.onStop("LLM providers", func(context.Context) error { a.models.Close(); return nil })
}

// closeRunbooks closes all fetchers.
func (a *App) closeRunbooks() {
	a.reloading.Lock()
	defer a.reloading.Unlock()

	for _, fetcher := range append(a.retired, a.current().runbooks) {
		fetcher.Close()
	}
}

func shownChange(c config.Change) api.ConfigChange {
	shown := api.ConfigChange{Path: c.Path, Change: c.Kind, TakesEffect: c.TakesEffect}

	if c.Kind != config.ChangeAdded {
		shown.Old = &c.Old
	}

	if c.Kind != config.ChangeRemoved {
		shown.New = &c.New
	}

	return shown
}
