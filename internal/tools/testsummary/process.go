package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, on all Linux architectures.
const tick = 10 * time.Millisecond

var errFormat = errors.New("unexpected format")

// processTable reads /proc, or a directory like it.
type processTable string

// processStat is a line of /proc/PID/stat.
type processStat struct {
	pid, parent int
	name        string
	// started distinguishes processes that had the same PID in succession.
	started string
	cpu     time.Duration
}

// all returns the running processes. Processes that end in the meantime are omitted.
func (p processTable) all() ([]processStat, error) {
	entries, err := os.ReadDir(string(p))
	if err != nil {
		return nil, err
	}

	var all []processStat

	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}

		raw, err := os.ReadFile(filepath.Join(string(p), e.Name(), "stat"))
		if err != nil {
			continue
		}

		if stat, err := parseStat(raw); err == nil {
			all = append(all, stat)
		}
	}

	return all, nil
}

// parseStat parses a line. The name is in parentheses and can contain spaces and parentheses.
func parseStat(raw []byte) (processStat, error) {
	const (
		parent  = 1 // counted from the field after the name
		user    = 11
		system  = 12
		started = 19
	)

	open, closing := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 1 || closing < open {
		return processStat{}, errFormat
	}

	fields := strings.Fields(string(raw[closing+1:]))
	if len(fields) <= started {
		return processStat{}, errFormat
	}

	pid, err1 := strconv.Atoi(strings.TrimSpace(string(raw[:open])))
	ppid, err2 := strconv.Atoi(fields[parent])
	inUser, err3 := strconv.Atoi(fields[user])
	inKernel, err4 := strconv.Atoi(fields[system])

	return processStat{
		pid: pid, parent: ppid, name: string(raw[open+1 : closing]), started: fields[started], cpu: time.Duration(inUser+inKernel) * tick,
	}, errors.Join(err1, err2, err3, err4)
}

// arguments returns the arguments of a process, starting with its program.
func (p processTable) arguments(pid int) []string {
	raw, err := os.ReadFile(filepath.Join(string(p), strconv.Itoa(pid), "cmdline"))
	if err != nil || len(raw) == 0 {
		return nil
	}

	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}

// directory returns the working directory of a process.
func (p processTable) directory(pid int) string {
	directory, _ := os.Readlink(filepath.Join(string(p), strconv.Itoa(pid), "cwd")) // empty for a process that has ended

	return directory
}

// busy returns the CPU time of all processes on the machine since boot, and the number of cores.
func (p processTable) busy() (used time.Duration, cores int, err error) {
	const idle, waiting, last = 3, 4, 7 // columns after the name; the first two include the later ones

	raw, err := os.ReadFile(filepath.Join(string(p), "stat"))
	if err != nil {
		return 0, 0, err
	}

	for line := range strings.Lines(string(raw)) {
		name, rest, _ := strings.Cut(line, " ")
		if name != "cpu" {
			if strings.HasPrefix(name, "cpu") {
				cores++
			}

			continue
		}

		for i, field := range strings.Fields(rest) {
			ticks, err := strconv.Atoi(field)
			if err != nil {
				return 0, 0, err
			}

			if i != idle && i != waiting && i <= last {
				used += time.Duration(ticks) * tick
			}
		}
	}

	return used, cores, nil
}
