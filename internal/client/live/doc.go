// Package live is what a reader knows of a session while it runs: a fold over the updates that a client receives. It knows the wire
// and the vocabulary, and not how a session is shown: texts are as the server sent them, which is not safe to print.
package live
