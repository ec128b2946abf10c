// Package docs contains the documents of this directory, for the server to show at /docs.
//
// It knows nothing of Markdown and HTTP. The documents of the repository's root are not in it: a package can embed only what is below it.
package docs

import "embed"

// Index is the document that lists all others, in the order of a reader.
const Index = "README.md"

// Files are the documents with their pictures, and the JSON Schemas that they link to.
//
//go:embed *.md internals/*.md events.schema.json script.schema.json
//go:embed images/alerts.png images/note.png images/review.png images/session-live-dark.png
var Files embed.FS
