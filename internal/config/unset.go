package config

import "slices"

// UnsetVariables finds the environment variables that are named but not set, except those of providers; see package chain.
func (c *Config) UnsetVariables(env func(string) (string, bool)) []Problem {
	return slices.Concat(c.UnsetReceiverVariables(env), c.UnsetWriteBackVariables(env), c.UnsetSlackVariables(env), c.UnsetTracingVariables(env), c.UnsetOIDCVariables(env))
}
