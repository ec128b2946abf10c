package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// and joins the identifiers of licences that apply together, as in SPDX expressions.
const and = " AND "

// unknown identifies a text that classify does not recognize. It is never allowed.
const unknown = "unknown"

// allowed lists the licences under which third-party code can be part of an Apache-2.0 program that is distributed as a binary. Their
// conditions are to keep notices and texts, which the generated file does; for MPL-2.0, that the sources of an unchanged module are
// available, which its public address ensures; for OFL-1.1, that a font is not sold by itself.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "OFL-1.1", "Unlicense"}

// marks are phrases that identify a licence, in lower case and with single spaces. A text can contain several licences.
var marks = []struct{ id, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"OFL-1.1", "sil open font license version 1.1"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"CC0-1.0", "cc0 1.0 universal"},
	{"BlueOak-1.0.0", "blue oak model license"},
	{"AGPL", "gnu affero general public license version 3, 19 november 2007"},
	{"LGPL", "gnu lesser general public license version"},
	{"GPL", "gnu general public license version"},
	{"SSPL", "server side public license"},
	{"BUSL", "business source license"},
}

var (
	blanks      = regexp.MustCompile(`[\s*#/]+`)
	punctuation = strings.NewReplacer(", version", " version")

	// secondary matches the definition in the MPL that names other licences.
	secondary = regexp.MustCompile(`[“"]secondary license[”"] means either [^;]*?or any later versions of those licenses`)

	licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]es?([.-].*)?$|^copying([.-].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)([.-].*)?$`)
)

// classify returns the identifiers of the licences in a text.
func classify(text string) []string {
	text = punctuation.Replace(strings.ToLower(blanks.ReplaceAllString(text, " ")))
	text = secondary.ReplaceAllString(text, "")

	var ids []string

	for _, mark := range marks {
		if strings.Contains(text, mark.phrase) {
			ids = append(ids, mark.id)
		}
	}

	if strings.Contains(text, "redistribution and use in source and binary forms") {
		if strings.Contains(text, "endorse or promote products") {
			ids = append(ids, "BSD-3-Clause")
		} else {
			ids = append(ids, "BSD-2-Clause")
		}
	}

	if strings.Contains(text, "permission to use, copy, modify, and") && strings.Contains(text, "distribute this software for any purpose with or without fee is hereby granted") {
		if strings.Contains(text, "provided that the above copyright notice") {
			ids = append(ids, "ISC")
		} else {
			ids = append(ids, "0BSD")
		}
	}

	if len(ids) == 0 {
		return []string{unknown}
	}

	return ids
}

// read returns the licences and notices in a directory, and the licences' identifiers.
func read(directory string) (texts, ids []string, err error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, nil, err
	}

	for _, entry := range entries {
		licence := licenceFile.MatchString(entry.Name())
		if entry.IsDir() || strings.HasSuffix(entry.Name(), ".go") || !licence && !noticeFile.MatchString(entry.Name()) {
			continue
		}

		raw, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		if err != nil {
			return nil, nil, err
		}

		// Vite appends the licences of code bundled into Vite itself, which the page does not contain.
		own, _, _ := strings.Cut(string(raw), "\n# Licenses of bundled dependencies")
		text := tidy(own)
		texts = append(texts, text)

		if licence {
			ids = append(ids, classify(text)...)
		}
	}

	return texts, ids, nil
}

// tidy removes invisible differences between texts.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\f")
	}

	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// expression joins identifiers without duplicates.
func expression(ids []string) string {
	if len(ids) == 0 {
		return unknown
	}

	slices.Sort(ids)

	return strings.Join(slices.Compact(ids), and)
}
