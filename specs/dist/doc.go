// Package dist shows that the tarball of `make dist` is whole: its binary runs where there is nothing else, no C library and no device, and
// it brings along what a user needs to run it and whoever hands it on needs to say about it.
//
// MQ9_DIST names the directory that holds the tarball; without it, the suite makes one. The processes see an empty root: as root, or else in a
// user namespace. Where neither is permitted the specs fail.
package dist
