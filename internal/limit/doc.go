// Package limit bounds what callers may hold or do: open connections, streams, bytes, attempts. It knows addresses and opaque
// owners, not keys, routes or configuration. Everything it refuses is counted and logged by its callers through Notice.
package limit
