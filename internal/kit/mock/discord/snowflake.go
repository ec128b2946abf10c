package discord

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// firstMillisecond is 2026-01-01 in milliseconds since Discord's epoch, the first second of 2015. IDs start there and do
// not follow the clock, so every run has the same IDs.
const (
	firstMillisecond = 1767225600000 - 1420070400000
	timeShift        = 22
)

var snowflakePattern = regexp.MustCompile(`^[0-9]{15,20}$`)

// ids generates IDs, each a millisecond later than the previous one.
type ids struct {
	mu    sync.Mutex
	count uint64
}

func (i *ids) next() string {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.count++

	return strconv.FormatUint((firstMillisecond+i.count)<<timeShift, 10)
}

// given returns the given ID, or a new one if it is empty.
func (i *ids) given(id string) string {
	if id != "" {
		return id
	}

	return i.next()
}

// sessionID returns the ID of a gateway session.
func sessionID(number int) string { return fmt.Sprintf("%032x", number) }

// number returns the numeric value of an ID, or 0 if it is invalid.
func number(id string) uint64 {
	n, _ := strconv.ParseUint(id, 10, 64)

	return n
}

// shardOf returns the shard that receives the events of a guild. Direct messages go to the first one.
func shardOf(guild string, shards int) int {
	if guild == "" || shards < 1 {
		return 0
	}

	return int((number(guild) >> timeShift) % uint64(shards))
}
