// Package limit limits what callers hold or do: open connections, streams, bytes, attempts. It knows addresses and opaque
// owners, not keys, routes or configuration. Its callers count and log every refusal through Notice.
package limit
