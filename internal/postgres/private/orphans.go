package private

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// How long the processes of a killed server may take to exit. Most exit immediately; in PostgreSQL 14 the autovacuum launcher
// waits up to 20 s for a statistics collector that no longer exists, and a process that writes to a busy disk waits for it.
const (
	orphanGracePeriod = time.Second
	orphansExitWithin = time.Minute
)

// orphans are the processes of a server whose postmaster was killed. PostgreSQL refuses to start while they use its memory.
type orphans struct {
	cluster string
	since   time.Time
	notice  *slowNotice
}

func newOrphans(cluster string, progress func(string)) *orphans {
	return &orphans{cluster: cluster, since: time.Now(), notice: newSlowNotice(progress)}
}

// killIfLate kills processes that have had enough time: without a postmaster they cannot finish anything that the next start does
// not recover. It returns an error if they have still not exited within a minute.
func (o *orphans) killIfLate() error {
	waited := time.Since(o.since)
	if waited < orphanGracePeriod {
		return nil
	}
	left := findOrphans(o.cluster)
	if waited > orphansExitWithin {
		return fmt.Errorf("processes of the previous PostgreSQL server did not exit within %s, although they were killed (pids: %s): "+
			"they probably wait for a disk that does not answer", orphansExitWithin, pidList(left))
	}
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have just exited
	}
	o.notice.report(fmt.Sprintf("waiting for processes of the previous PostgreSQL server to exit (pids: %s)…", pidList(left)))
	return nil
}

// findOrphans returns the server processes that work in the cluster's directory. The caller holds the lock of the data directory
// and has found no postmaster. Where processes cannot be inspected, it finds none.
func findOrphans(cluster string) []int {
	if runtime.GOOS != "linux" {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if candidate := (&process{pid: pid, cluster: cluster}); candidate.serves() && candidate.hasTitle() {
			found = append(found, pid)
		}
	}
	return found
}

// hasTitle distinguishes a process that a postmaster started from a postmaster or a single-user server.
func (p *process) hasTitle() bool {
	title, err := os.ReadFile(p.proc("cmdline"))
	return err == nil && bytes.HasPrefix(title, []byte("postgres: "))
}

func pidList(pids []int) string {
	if len(pids) == 0 {
		return "unknown"
	}
	words := make([]string, len(pids))
	for i, pid := range pids {
		words[i] = strconv.Itoa(pid)
	}
	return strings.Join(words, ", ")
}
