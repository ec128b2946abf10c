package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runVariable names a run to package pgtest, which then starts a PostgreSQL server for this run alone: one that runs share
// would end with whatever kills the run that started it. pgtest leaves the server to us, because no test process knows
// whether another one follows.
const runVariable = "TARSY_TEST_RUN"

// runDirectory begins the names of the directories of such servers, which pgtest makes in one of serverHomes. The number of the
// process follows.
const runDirectory = "run-"

// serverHomes is where pgtest keeps its servers: in memory or in the user's cache.
func serverHomes() []string {
	homes := []string{filepath.Join("/dev/shm", "tarsy-"+strconv.Itoa(os.Getuid()))}

	if cache, err := os.UserCacheDir(); err == nil {
		homes = append(homes, filepath.Join(cache, "tarsy"))
	}

	return homes
}

// removeServers ends the servers of a run and removes their files. Nobody needs them, so nothing is written out in order.
func removeServers(homes []string, run string) error {
	var failures []error

	for _, home := range homes {
		directory := filepath.Join(home, runDirectory+run)

		files, err := filepath.Glob(filepath.Join(directory, "*", "postgres", "postmaster.pid"))
		if err != nil {
			return err
		}

		for _, file := range files {
			failures = append(failures, endServer(file))
		}

		failures = append(failures, os.RemoveAll(directory))
	}

	return errors.Join(failures...)
}

// endServer ends the server whose process is in the first line of a file, and waits for its end.
func endServer(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}

	first, _, _ := strings.Cut(string(text), "\n")

	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return err
	}

	const within = 20 * time.Second

	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		// SIGQUIT ends all processes of a server at once.
		if errors.Is(syscall.Kill(pid, syscall.SIGQUIT), syscall.ESRCH) {
			return nil
		}
	}

	return errors.New("the test server " + first + " does not end")
}

// removeAbandonedServers removes what is left of runs that were killed.
func removeAbandonedServers(homes []string) error {
	var failures []error

	for _, home := range homes {
		directories, err := filepath.Glob(filepath.Join(home, runDirectory+"*"))
		if err != nil {
			return err
		}

		for _, directory := range directories {
			run := strings.TrimPrefix(filepath.Base(directory), runDirectory)

			pid, err := strconv.Atoi(run)
			if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				failures = append(failures, removeServers([]string{home}, run))
			}
		}
	}

	return errors.Join(failures...)
}
