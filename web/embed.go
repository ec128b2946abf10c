// Package web holds the dashboard as it was built, for the server to serve. Where it was not built, for want of Node or
// of `make web`, it holds a page that says so: the binary builds and runs all the same.
//
// It knows nothing of HTTP.
package web

import (
	"embed"
	"io/fs"
)

// The directories are embedded whole: one that is empty but for the file that Git keeps it by must not break the build.
//
//go:embed all:dist all:placeholder
var files embed.FS

// Index is the file that is the page itself.
const Index = "index.html"

// Built reports whether the dashboard was built before this binary was.
func Built() bool {
	_, err := fs.Stat(sub("dist"), Index)

	return err == nil
}

// Files are the dashboard's files, or those of the placeholder where it was not built.
func Files() fs.FS {
	if !Built() {
		return Placeholder()
	}

	return sub("dist")
}

// Placeholder are the files of the page that says that there is none.
func Placeholder() fs.FS { return sub("placeholder") }

func sub(dir string) fs.FS {
	below, err := fs.Sub(files, dir)
	if err != nil {
		panic("web: " + err.Error()) // the name is a constant
	}

	return below
}
