// Command licences knows what the mq9 binary carries besides its own code, and under which licences: the Go modules that are compiled into it,
// what is kept in this repository from others, and, in the tarball, the C and C++ libraries of Debian that are linked into it.
//
//	go run ./cmd/mq9/packaging/licences list          prints the list that is kept as LICENCES.md beside this file
//	go run ./cmd/mq9/packaging/licences check         fails when that list is stale, or when something has no licence, or none that is allowed
//	go run ./cmd/mq9/packaging/licences texts         prints every licence and notice in full, as whoever hands on the binary must
//	go run ./cmd/mq9/packaging/licences sbom <BOM     adds licences and Debian's libraries to a CycloneDX bill of materials
//
// Run it in the repository's root; texts and sbom want Debian's development packages to be installed (make rocksdb). What a licence
// file says is judged by google/licensecheck. Allowed are permissive licences, and those whose copyleft ends with the file (MPL).
package main
