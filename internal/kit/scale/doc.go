// Package scale provides a database with many sessions and the requests that people make to it: benchmarks measure how long
// those take, and tests how much PostgreSQL reads for them.
//
// Only tests and benchmarks may import this package.
package scale
