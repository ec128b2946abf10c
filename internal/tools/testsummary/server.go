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

// runVariable names a run for package pgtest, which then starts a PostgreSQL server for this run only: a server shared by runs
// would die with the run that started it, if that is killed. pgtest leaves stopping the server to us, because no test process knows
// whether another one follows.
const runVariable = "TARSY_TEST_RUN"

// runDirectory is the prefix of the directories of such servers, which pgtest creates in one of serverHomes. The process id follows.
const runDirectory = "run-"

// serverHomes returns where pgtest keeps its servers: in memory or in the user's cache.
func serverHomes() []string {
	homes := []string{filepath.Join("/dev/shm", "tarsy-"+strconv.Itoa(os.Getuid()))}

	if cache, err := os.UserCacheDir(); err == nil {
		homes = append(homes, filepath.Join(cache, "tarsy"))
	}

	return homes
}

// removeServers ends the servers of a run and removes their files. Their data is not needed, so they are not shut down cleanly.
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

// endServer ends the server whose process id is in the first line of a file, and waits until it has ended.
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
		// SIGQUIT ends all processes of a server immediately.
		if errors.Is(syscall.Kill(pid, syscall.SIGQUIT), syscall.ESRCH) {
			return nil
		}
	}

	return errors.New("the test server " + first + " does not end")
}

// removeAbandonedServers removes the servers of runs that were killed.
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
