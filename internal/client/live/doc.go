// Package live holds the state of a running session as a reader knows it: a fold over the updates that a client receives. It knows the API
// and the vocabulary, but not how a session is shown: texts are unchanged from the server and not safe to print.
package live
