package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readFiles reads the YAML files of a directory in the order of their names, or a single file. An empty path means no files.
func readFiles(path string) ([]File, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("find configuration: %w", err)
	}
	paths := []string{path}
	if info.IsDir() {
		if paths, err = yamlFiles(path); err != nil {
			return nil, err
		}
	}
	files := make([]File, 0, len(paths))
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		files = append(files, File{Name: filepath.Base(p), Text: text})
	}
	return files, nil
}

func yamlFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("list configuration: %w", err)
	}
	var paths []string
	for _, entry := range entries {
		name := entry.Name()
		ext := strings.ToLower(filepath.Ext(name))
		if strings.HasPrefix(name, ".") || !slices.Contains([]string{".yaml", ".yml"}, ext) {
			continue
		}
		full := filepath.Join(dir, name)
		// Stat follows links: a mounted Kubernetes ConfigMap consists of links to files.
		info, err := os.Stat(full)
		if err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		if !info.IsDir() {
			paths = append(paths, full)
		}
	}
	return paths, nil
}
