package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/licenses"
)

const root = "../../.."

// of returns the parts of a kind.
func of(t *testing.T, kind string) []licenses.Part {
	t.Helper()

	parts, err := licenses.Parts()
	require.NoError(t, err)

	var found []licenses.Part

	for _, p := range parts {
		if p.Kind == kind {
			found = append(found, p)
		}
	}

	return found
}

func names(parts []licenses.Part) []string {
	found := make([]string, 0, len(parts))
	for _, p := range parts {
		found = append(found, p.Name+"@"+p.Version)
	}

	return found
}

func TestLicencesOfLinkedModulesAreUpToDate(t *testing.T) {
	t.Parallel()

	linked, err := goParts(t.Context(), root)
	require.NoError(t, err)

	written := of(t, licenses.KindGo)
	linked = sorted(linked)
	require.Equal(t, names(written), names(linked), "the program links other modules or versions; run make licenses")

	for i := range linked {
		if linked[i].Name == standardLibrary {
			continue // its text comes from this machine's toolchain
		}

		require.Equal(t, written[i], linked[i], "run make licenses")
	}
}

func TestLicencesOfPackagesInPageAreUpToDate(t *testing.T) {
	t.Parallel()

	bundled, err := bundledPackages(root)
	require.NoError(t, err)
	require.Equal(t, names(of(t, licenses.KindNPM)), names(sorted(split(bundled))), "the page contains other packages or versions; run make licenses")

	locked, err := lockedDirectories(root)
	require.NoError(t, err)

	for _, name := range bundled {
		require.Contains(t, locked, name, "web/package-lock.json has another version; run make web and make licenses")
	}

	installed, err := npmParts(root)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the texts are not compared: the packages of the dashboard are not installed")
	}

	require.NoError(t, err)
	require.Equal(t, of(t, licenses.KindNPM), sorted(installed), "run make licenses")
}

func TestLicenceOfDataIsUpToDate(t *testing.T) {
	t.Parallel()

	data, err := dataParts(root)
	require.NoError(t, err)
	require.Equal(t, of(t, licenses.KindData), data, "run make licenses")
}

func TestAllLicencesAreAllowed(t *testing.T) {
	t.Parallel()

	parts, err := licenses.Parts()
	require.NoError(t, err)
	require.NotEmpty(t, parts)
	require.Empty(t, notAllowed(parts))
}

func TestOtherLicencesAreRefused(t *testing.T) {
	t.Parallel()

	for _, license := range []string{"GPL", "AGPL", "SSPL", unknown, "", "MIT AND GPL"} {
		require.Equal(t, []string{"some/module v1.0.0 (" + license + ")"}, notAllowed([]licenses.Part{{Name: "some/module", Version: "v1.0.0", License: license}}))
	}

	require.Empty(t, notAllowed([]licenses.Part{{Name: "some/module", Version: "v1.0.0", License: "BSD-3-Clause AND MIT"}}))
}

func TestLicencesAreRecognized(t *testing.T) {
	t.Parallel()

	const bsd = "Redistribution and use in source and binary forms, with or without modification, are permitted"

	for text, want := range map[string]string{
		"   Apache License\n   Version 2.0, January 2004":                               "Apache-2.0",
		"Mozilla Public License Version 2.0":                                            "MPL-2.0",
		"Permission is hereby granted, free of charge,\nto any person obtaining a copy": "MIT",
		bsd: "BSD-2-Clause",
		bsd + ". Neither the name may be used to endorse or promote products":                                                                                                       "BSD-3-Clause",
		"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice is kept.": "ISC",
		"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.":                                                   "0BSD",
		"GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007":                                                                                                                     "GPL",
		"GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3, 19 November 2007":                                                                                                           "AGPL",
		"All rights reserved.": unknown,
	} {
		require.Equal(t, want, expression(classify(text)), text)
	}
}

func TestLicencesBesideCopiedCodeAreFound(t *testing.T) {
	t.Parallel()

	directory := t.TempDir()
	below := filepath.Join(directory, "internal", "copied")
	require.NoError(t, os.MkdirAll(below, 0o755))

	for file, text := range map[string]string{
		filepath.Join(directory, "LICENSE"):          "Mozilla Public License Version 2.0",
		filepath.Join(directory, "NOTICE"):           "A notice.",
		filepath.Join(directory, "license.go"):       "package some",
		filepath.Join(below, "LICENSE-MIT.txt"):      "Permission is hereby granted, free of charge, to any person obtaining a copy",
		filepath.Join(directory, "unlinked-LICENSE"): "GNU General Public License Version 3",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}

	module := goModule{path: "some/module", version: "v1.0.0", directory: directory, packages: []string{below}}

	var texts, ids []string

	for _, directory := range module.directories() {
		found, known, err := read(directory)
		require.NoError(t, err)

		texts, ids = append(texts, found...), append(ids, known...)
	}

	require.Equal(t, "MIT AND MPL-2.0", expression(ids))
	require.Equal(t, []string{"Mozilla Public License Version 2.0", "A notice.", "Permission is hereby granted, free of charge, to any person obtaining a copy"}, texts)
}

func TestMissingRepositoryIsReported(t *testing.T) {
	t.Parallel()

	var problems bytes.Buffer

	require.Equal(t, 1, run(t.Context(), []string{"-C", t.TempDir()}, &problems))
	require.Contains(t, problems.String(), "licenses: go list")
}

// split makes parts from name@version.
func split(bundled []string) []licenses.Part {
	var parts []licenses.Part

	for _, name := range bundled {
		at := strings.LastIndex(name, "@")
		parts = append(parts, licenses.Part{Kind: licenses.KindNPM, Name: name[:at], Version: name[at+1:]})
	}

	return parts
}
