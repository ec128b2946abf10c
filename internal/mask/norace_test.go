//go:build !race

package mask

// slowdown is how much slower instrumented code is.
const slowdown = 1
