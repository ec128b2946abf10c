package private

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// The directories of a database, and what a start does with them:
//
//	postgres           the cluster in use
//	postgres.new-…     a cluster or a file that is being created: deleted
//	postgres.upgraded  a complete copy of the cluster for another version, not in use yet. Beside a cluster it is deleted: an upgrade was
//	                   killed before the first of its two renames, and the cluster may get new data at any time. Without one it
//	                   becomes the cluster: the upgrade was killed between the renames
//	postgres-15        the previous cluster, which an upgrade keeps
const upgraded = "postgres.upgraded"

func (p place) upgradedPath() string { return filepath.Join(p.root, upgraded) }

// settle finishes or undoes a killed upgrade, and reports whether there is a cluster. The caller holds the data directory.
func (p place) settle(ctx context.Context, progress func(string), found bool) (bool, error) {
	if !found {
		if _, err := os.Stat(p.upgradedPath()); err != nil {
			return false, nil //nolint:nilerr // there is none, as in every new data directory
		}
		progress("finishing the upgrade of the database, which was interrupted…")
		if err := p.finishSwitch(); err != nil {
			return false, err
		}
	}
	if _, err := os.Stat(p.upgradedPath()); err == nil {
		// A half-deleted copy must never look like a complete one.
		if err := os.Rename(p.upgradedPath(), filepath.Join(p.root, unfinished+"upgraded")); err != nil {
			return true, fmt.Errorf("remove the copy of an upgrade that was interrupted: %w", err)
		}
	}
	return true, p.stopLeftovers(ctx)
}

// stopLeftovers stops the server of a killed upgrade, and deletes what it left behind.
func (p place) stopLeftovers(ctx context.Context) error {
	for _, leftover := range p.leftovers() {
		if running, ok := findProcess(leftover); ok {
			if err := running.stop(ctx, func(string) {}); err != nil {
				return err
			}
		}
	}
	p.removeLeftovers()
	return nil
}

// switchClusters replaces the cluster with a finished copy and returns the path of the previous one. No server runs on either. If
// it is killed at any moment, settle finds one of them; each rename is on disk before the next.
func (p place) switchClusters(copied string, major int, step func(string)) (string, error) {
	if err := rename(copied, p.upgradedPath()); err != nil {
		return "", err
	}
	step("copy named")
	kept := p.keptPath(major)
	if err := rename(p.cluster, kept); err != nil {
		return "", err
	}
	step("old cluster set aside")
	return kept, p.finishSwitch()
}

func (p place) finishSwitch() error { return rename(p.upgradedPath(), p.cluster) }

func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("switch to the upgraded database: %w", err)
	}
	return syncDir(filepath.Dir(to))
}

// keptPath returns an unused path for a cluster that is set aside.
func (p place) keptPath(major int) string {
	path := filepath.Join(p.root, "postgres-"+strconv.Itoa(major))
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = filepath.Join(p.root, fmt.Sprintf("postgres-%d-%d", major, n))
	}
}

var keptPattern = regexp.MustCompile(`^postgres-\d+(-\d+)?$`)

// keptClusters returns the clusters that upgrades have set aside.
func (p place) keptClusters() []string {
	found, _ := filepath.Glob(filepath.Join(p.root, "postgres-*"))
	return slices.DeleteFunc(found, func(path string) bool { return !keptPattern.MatchString(filepath.Base(path)) })
}
