package main

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The kinds of processes whose CPU time is counted. Test processes are also counted by package.
const (
	kindTest     = "test processes"
	kindPostgres = "PostgreSQL"
	kindCompile  = "compile"
	kindLink     = "link"
	kindProduct  = "product processes"
	kindBrowser  = "Chromium"
	kindNode     = "Node"
	kindOther    = "other"
)

// class is how the CPU time of a process is counted.
type class struct{ kind, pkg string }

const (
	// sampleEvery is short enough for most compilations. A process that ends between two samples is not seen.
	sampleEvery = 100 * time.Millisecond
	// settled is the age, in samples, after which a process has certainly executed its program.
	settled = 20
)

// sampler adds up the CPU time of this process's descendants, and of all PostgreSQL servers on the machine: the tests' server outlives the
// process that started it. Only sample changes it, in one goroutine.
type sampler struct {
	table processTable
	self  int
	root  string // of the module

	seen  map[processID]*sampled
	total map[class]time.Duration

	begin           time.Time
	busyBefore      time.Duration
	stopOnce        sync.Once
	stopped, ending chan struct{}
}

type processID struct {
	pid     int
	started string
}

// sampled is a process that has been seen.
type sampled struct {
	ours    bool
	class   class
	cpu     time.Duration
	samples int
}

// newSampler returns a sampler that does not count the past. It fails if there is no /proc.
func newSampler(table processTable, self int, root string) (*sampler, error) {
	s := &sampler{
		table: table, self: self, root: root, seen: map[processID]*sampled{}, total: map[class]time.Duration{},
		begin: time.Now(), stopped: make(chan struct{}), ending: make(chan struct{}),
	}

	var err error
	if s.busyBefore, _, err = table.busy(); err != nil {
		return nil, err
	}

	if err := s.sample(); err != nil {
		return nil, err
	}

	clear(s.total)

	return s, nil
}

// start samples until stop is called.
func (s *sampler) start() {
	go func() {
		defer close(s.stopped)

		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()

		for {
			select {
			case <-ticker.C:
				_ = s.sample() // the next one may succeed
			case <-s.ending:
				return
			}
		}
	}()
}

// stop takes the last sample and returns the result. The sampler must have been started.
func (s *sampler) stop() usage {
	s.stopOnce.Do(func() { close(s.ending) })
	<-s.stopped

	_ = s.sample() // if it fails, the counts so far are still correct
	u := usage{total: s.total, wall: time.Since(s.begin)}

	busy, cores, err := s.table.busy()
	if err == nil {
		u.busy, u.cores = busy-s.busyBefore, cores
	}

	return u
}

func (s *sampler) sample() error {
	all, err := s.table.all()
	if err != nil {
		return err
	}

	parents := make(map[int]processStat, len(all))
	for _, p := range all {
		parents[p.pid] = p
	}

	for _, p := range all {
		id := processID{p.pid, p.started}

		known := s.seen[id]
		if known == nil {
			known = &sampled{}
			s.seen[id] = known
		}

		// A new process is a copy of its parent until it executes its program.
		if known.samples++; known.samples <= settled {
			known.ours = known.ours || s.isOurs(p, parents)
			known.class = s.classify(p)
		}

		if known.ours || known.class.kind == kindPostgres {
			s.total[known.class] += p.cpu - known.cpu
		}

		known.cpu = p.cpu
	}

	return nil
}

// isOurs reports whether a process descends from this one. When one of our processes ends, its children get another
// parent, so the result is remembered.
func (s *sampler) isOurs(p processStat, parents map[int]processStat) bool {
	for range len(parents) {
		if p.parent == s.self {
			return true
		}

		parent, exists := parents[p.parent]
		if !exists {
			return false
		}

		if known := s.seen[processID{parent.pid, parent.started}]; known != nil && known.ours {
			return true
		}

		p = parent
	}

	return false
}

// kinds maps program names to kinds.
var kinds = map[string]string{
	"compile": kindCompile, "asm": kindCompile, "cgo": kindCompile, "vet": kindCompile, "cc1": kindCompile, "as": kindCompile, "gcc": kindCompile,
	"link": kindLink, "ld": kindLink, "collect2": kindLink,
	"tarsy": kindProduct, "node": kindNode, "npm": kindNode, "npx": kindNode, "esbuild": kindNode,
	"postgres": kindPostgres, "initdb": kindPostgres, "pg_ctl": kindPostgres, "psql": kindPostgres, "pg_dump": kindPostgres,
	"pg_restore": kindPostgres, "pg_basebackup": kindPostgres,
}

func (s *sampler) classify(p processStat) class {
	arguments := s.table.arguments(p.pid)
	program := p.name

	// The kernel truncates names, and threads can have others; PostgreSQL processes, however, change their arguments.
	if len(arguments) > 0 && p.name != "postgres" {
		program = filepath.Base(arguments[0])
	}

	switch {
	case kinds[program] != "":
		return class{kind: kinds[program]}
	case strings.HasPrefix(program, "chrom"), strings.HasPrefix(program, "headless"):
		return class{kind: kindBrowser}
	case strings.HasSuffix(program, ".test"):
		// Only go test sets this flag. Tests that start their own binary as a server do not.
		if !slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "-test.paniconexit0") }) {
			return class{kind: kindProduct}
		}

		directory := s.table.directory(p.pid)
		if pkg, err := filepath.Rel(s.root, directory); err == nil && !strings.HasPrefix(pkg, "..") {
			directory = filepath.ToSlash(pkg)
		}

		return class{kindTest, directory}
	default:
		return class{kind: kindOther}
	}
}
