// Package app wires a TARSy server and manages its lifecycle: New, Start, Stop, Addr. Commands and the test kit use the same wiring; they
// differ only in the Options. No logic lives here that another package could own.
package app
