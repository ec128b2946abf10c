// Package triage decides what becomes of alerts that have an identity: investigated by a session of their own, counted on one that
// investigates them already, grouped into a storm, kept back by a silence or a maintenance window, or recorded as resolved. Nothing is
// dropped: what is not investigated is listed as suppressed and can be investigated anyway.
//
// Decide is a pure function of what is stored; Desk runs it, one transaction per delivery. The package knows nothing of HTTP, and of
// sessions only how one is created.
package triage
