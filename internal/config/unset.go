package config

import "slices"

// UnsetVariables finds environment variables that the configuration names and that are not set, besides those of providers: see chain.
func (c *Config) UnsetVariables(env func(string) (string, bool)) []Problem {
	return slices.Concat(c.UnsetReceiverVariables(env), c.UnsetWriteBackVariables(env), c.UnsetSlackVariables(env), c.UnsetTracingVariables(env), c.UnsetOIDCVariables(env))
}
