package app

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/internal/telemetry"
)

// exportsTraces reports whether there is a collector, from the configuration or the standard variables.
func (o Options) exportsTraces() bool {
	for _, name := range []string{telemetry.EnvTracesEndpoint, telemetry.EnvEndpoint} {
		if value, _ := o.Env(name); value != "" {
			return true
		}
	}

	return o.Config.System.Tracing.Endpoint != ""
}

// openTraces starts exporting traces, if there is a collector. It is undone after everything that commits steps.
func (a *App) openTraces(ctx context.Context) error {
	if !a.options.exportsTraces() {
		return nil
	}

	how := a.options.Config.System.Tracing

	var headers map[string]string

	if how.HeadersEnv != "" {
		value, _ := a.options.Env(how.HeadersEnv)

		var err error
		if headers, err = telemetry.ParseHeaders(value); err != nil {
			return tarsy.Errorf(tarsy.CodeInvalidRequest,
				"The headers in %s (system.tracing.headers_env) must be pairs such as authorization=Bearer%%20token, separated by commas", how.HeadersEnv)
		}
	}

	var err error

	a.traces, err = telemetry.New(ctx, telemetry.Config{
		Endpoint: how.Endpoint, Headers: headers, SampleRatio: how.SampleRatio, CaptureContent: how.CaptureContent,
		ProviderName:    func(name string) string { return a.current().providerName(name) },
		ServerTransport: func(name string) string { return a.current().serverTransport(name) },
		ProviderURL:     func(name string) string { return a.current().providerURL(name) },
		ServerURL:       func(name string) string { return a.current().serverURL(name) },
		Version:         a.options.Version, ServerID: a.serverID, Logger: a.logger,
	})
	if err != nil {
		return err
	}

	a.metrics.AddTraces(a.traces.Counts)
	a.onStop("traces", a.traces.Stop)

	return nil
}

// committed is called with each step after its commit.
func (a *App) committed(step progress.Step) {
	a.metrics.Committed(step)
	a.traces.Committed(step)
}
