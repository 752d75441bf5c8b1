// Package faults shows what the broker does when the disk lets it down (protocol section 8): a full disk, a log that is torn or has a
// flipped bit, a sync that fails, a directory that cannot be used. It also looks with strace at the order of the system calls: no reply to a durable
// message leaves before its sync has returned.
//
// The specs drive the real binary. They need strace, and mount small file systems of their own: as root, or else in a user namespace, in which the
// test binary then runs itself again. Where neither is permitted they fail and say so: a disk that cannot be filled shows nothing.
//
// What the store does with faults of its engine is tested beside it, in persistence; what the binary says when it cannot start, in specs.
package faults
