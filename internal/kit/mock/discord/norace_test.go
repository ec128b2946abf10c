//go:build !race

package discord_test

const raceDetector = false
