//go:build race

package mask

// slowdown is how much longer instrumented code takes.
const slowdown = 10
