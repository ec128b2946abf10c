// Package published answers calls of programs that were written for the published TARSy: the same paths below Prefix, with the parameters
// and fields that it documents. Each call becomes requests to the API, which decides who may do what. docs/migrating.md lists the calls.
package published
