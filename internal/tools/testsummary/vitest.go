package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// runVitest runs a command that writes a vitest JSON report to a file, and prints where its time went.
func runVitest(ctx context.Context, out io.Writer, report string, command []string) (bool, error) {
	root, err := os.Getwd()
	if err != nil {
		return false, err
	}

	if err := os.Remove(report); err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}

	m := startMeter(root)
	suite := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...) //nolint:gosec // the caller names the command on purpose
	suite.Stdout, suite.Stderr = out, os.Stderr

	err = suite.Run()
	if suite.ProcessState == nil {
		return false, fmt.Errorf("start %s: %w", command[0], err)
	}

	m.print(out, "browser suite", suite.ProcessState)

	tests, readErr := readVitest(report, filepath.Join(root, "web"))
	printSlowestByGroup(out, tests)

	return err == nil, readErr
}

// readVitest reads the tests of a report. It makes their files relative to directory.
func readVitest(file, directory string) ([]tested, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the report of vitest: %w", err)
	}

	var report struct {
		TestResults []struct {
			Name             string `json:"name"`
			AssertionResults []struct {
				FullName string  `json:"fullName"`
				Duration float64 `json:"duration"` // in milliseconds
			} `json:"assertionResults"`
		} `json:"testResults"`
	}

	if err := json.Unmarshal(raw, &report); err != nil {
		return nil, fmt.Errorf("read the report of vitest: %w", err)
	}

	var tests []tested

	for _, result := range report.TestResults {
		name := result.Name
		if inside, err := filepath.Rel(directory, name); err == nil {
			name = filepath.ToSlash(inside)
		}

		for _, test := range result.AssertionResults {
			tests = append(tests, tested{testName{name, test.FullName}, test.Duration / 1000})
		}
	}

	return tests, nil
}
