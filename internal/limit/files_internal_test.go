package limit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultConnectionsLeaveFileDescriptors(t *testing.T) {
	t.Parallel()

	for files, want := range map[uint64]int{64: 32, 256: 128, 1024: 768, 4096: 3840, 1 << 20: 10_000, 1<<64 - 1: 10_000} {
		require.Equal(t, want, connectionsFor(files), "%d files", files)
	}
}
