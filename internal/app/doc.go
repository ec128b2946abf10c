// Package app is the wiring of a TARSy server and its lifecycle: New, Start, Stop, Addr. Commands and the test kit
// use the same wiring; they differ in the Options only. No behaviour lives here that another package could own.
package app
