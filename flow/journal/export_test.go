package journal

import "os"

// WithSync returns the configuration with another fsync, for tests that count or fail it.
func (c FileConfig) WithSync(fsync func(*os.File) error) FileConfig {
	c.fsync = fsync

	return c
}
