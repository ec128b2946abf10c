package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"tarsy.dev/tarsy/flow/journal"
)

const dirVariable = "JOURNAL_TEST_DIR"

func child(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()

	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+name, dirVariable+"="+dir)
	command.Stderr = os.Stderr

	return command
}

func killedConfig(dir string) journal.FileConfig {
	return journal.FileConfig{Dir: dir, Sync: journal.SyncAlways, SegmentBytes: 20_000}
}

// appendUntilKilled appends batches of one to four entries from several goroutines and prints the acknowledged ones.
func appendUntilKilled() error {
	file, err := journal.OpenFile[string](killedConfig(os.Getenv(dirVariable)))
	if err != nil {
		return err
	}

	var group errgroup.Group

	for writer := range 4 {
		group.Go(func() error {
			for n := 0; ; n++ {
				size := n%4 + 1
				batch := make([]string, size)

				for i := range batch {
					batch[i] = fmt.Sprintf("%d/%d/%d %d/%d %s", os.Getpid(), writer, n, i+1, size, strings.Repeat("x", n%50*10))
				}

				position, err := file.Append(context.Background(), batch...)
				if err != nil {
					return err
				}

				fmt.Printf("%d %s\n", position, batch[size-1])
			}
		})
	}

	return group.Wait()
}

func TestAcknowledgedAppendsSurviveKills(t *testing.T) {
	t.Parallel()

	const kills = 6

	dir := t.TempDir()
	acknowledged := map[journal.Position]string{}

	for round := range kills {
		killAfter(t, dir, 20+37*round, acknowledged)

		file, err := journal.OpenFile[string](killedConfig(dir))
		require.NoError(t, err)
		checkWhole(t, entries(t, file, 0), acknowledged)
		require.NoError(t, file.Close())
	}

	require.Greater(t, len(segments(t, dir)), 1, "kills fell into several segments")
}

// killAfter runs a writer until it has acknowledged the given number of appends, and kills it in the middle of the next ones.
func killAfter(t *testing.T, dir string, appends int, acknowledged map[journal.Position]string) {
	t.Helper()

	writer := child(t, "append until killed", dir)
	output, err := writer.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, writer.Start())

	lines := bufio.NewReader(output)

	for n := 1; ; n++ {
		text, err := lines.ReadString('\n')
		if err != nil { // killed, maybe in the middle of printing
			require.ErrorIs(t, err, io.EOF)
			require.Greater(t, n, appends, "the writer ended by itself")

			break
		}

		var position journal.Position

		number, entry, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		_, err = fmt.Sscan(number, &position)
		require.NoError(t, err)

		acknowledged[position] = entry

		if n == appends {
			require.NoError(t, writer.Process.Kill())
		}
	}

	require.Error(t, writer.Wait())
}

// checkWhole checks that all acknowledged entries are at their positions, and that batches are complete.
func checkWhole(t *testing.T, found []string, acknowledged map[journal.Position]string) {
	t.Helper()

	for position, entry := range acknowledged {
		require.LessOrEqual(t, int(position), len(found), "an acknowledged append is gone")
		require.Equal(t, entry, found[position-1])
	}

	batch, done, size := "", 0, 0

	for _, entry := range found {
		var (
			name     string
			i, size2 int
		)

		_, err := fmt.Sscanf(entry, "%s %d/%d", &name, &i, &size2)
		require.NoError(t, err)

		if done == size {
			batch, done, size = name, 0, size2
		}

		done++
		require.Equal(t, batch, name)
		require.Equal(t, done, i)
	}

	require.Equal(t, size, done, "the last batch is whole")
}

// fillTheDisk provokes a real short write: the kernel does not let files of this process grow beyond the limit.
func fillTheDisk() error {
	signal.Ignore(syscall.SIGXFSZ)

	ctx := context.Background()

	file, err := journal.OpenFile[string](journal.FileConfig{Dir: os.Getenv(dirVariable)})
	if err != nil {
		return err
	}

	const limit = 1000
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: unix.RLIM_INFINITY}); err != nil {
		return err
	}

	appended := journal.Position(0)

	for err == nil && appended < limit {
		if _, err = file.Append(ctx, "some entry", "and another"); err == nil {
			appended += 2
		}
	}

	if !errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("appending ended with %w instead of a full disk", err)
	}

	if head, err := file.Head(ctx); err != nil || head != appended {
		return fmt.Errorf("the head is %d after %d records: %w", head, appended, err)
	}

	if _, err := journal.WaitFor(ctx, file, appended-1, func(string) bool { return true }); err != nil {
		return fmt.Errorf("read what was appended: %w", err)
	}

	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}); err != nil {
		return err
	}

	position, err := file.Append(ctx, "there is space again")
	if err != nil || position != appended+1 {
		return fmt.Errorf("append at %d after the disk was full: %w", position, err)
	}

	return nil // without closing: nothing may depend on it
}

func TestJournalSurvivesFullDiskAndContinues(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	require.NoError(t, child(t, "fill the disk", dir).Run())

	file := openFile(t, journal.FileConfig{Dir: dir})
	require.Zero(t, file.Recovery(), "nothing incomplete was left")

	found := entries(t, file, 0)
	require.Equal(t, "there is space again", found[len(found)-1])
	require.Greater(t, len(found), 5)
}
