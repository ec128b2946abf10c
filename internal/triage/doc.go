// Package triage decides how to handle alerts that have an identity: they are investigated by their own session, counted on a
// session that already investigates them, grouped into a storm, suppressed by a silence or a maintenance window, or recorded as
// resolved. Nothing is dropped: alerts that are not investigated are listed as suppressed and can still be investigated.
//
// Decide is a pure function of the stored state; Desk runs it, with one transaction per delivery. The package knows nothing of
// HTTP, and of sessions only how to create one.
package triage
