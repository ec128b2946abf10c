package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// fileLock reserves a directory for one open journal. The kernel releases it when the process dies, for whatever reason; the
// pid in the file is only for the error message.
type fileLock struct{ file *os.File }

func lockDir(dir string) (*fileLock, error) {
	file, err := os.OpenFile(filepath.Join(dir, "journal.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}

	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(file, 32))
		_ = file.Close()

		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("it is already open in process %s: close it there first", strings.TrimSpace(string(pid)))
		}

		return nil, fmt.Errorf("lock the directory: %w", err)
	}

	lock := &fileLock{file: file}

	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}

	if err != nil {
		return nil, errors.Join(err, lock.release())
	}

	return lock, nil
}

// release keeps the file, because deleting it would let two processes lock two files of the same name. It unlocks before it
// closes: a child process that is just starting has a copy of the descriptor, so closing alone would keep the lock.
func (l *fileLock) release() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}

// syncDir makes the creation of files in a directory durable.
func syncDir(dir string, fsync func(*os.File) error) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read

	return fsync(file)
}
