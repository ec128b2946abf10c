// Package deploycheck checks the files of an installation with the parsers of the programs that read them: Helm, BuildKit, Compose and
// GoReleaser. It is a module of its own, because these bring hundreds of modules that the product does not need. make lint-deploy runs it.
package deploycheck
