// Package published serves programs that were written for the published TARSy: the same paths under Prefix, with the documented
// parameters and fields. Each call becomes requests to the API, which authorizes them. docs/migrating.md lists the calls.
package published
