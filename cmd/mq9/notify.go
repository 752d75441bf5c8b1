package main

import (
	"fmt"
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// notify tells systemd about the broker's state, if systemd has started it and asked to be told (Type=notify).
func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd cannot be told of a change of state", "state", state, "error", err)
	}
}

// notifyReloading tells systemd that a reload begins; notify(daemon.SdNotifyReady) must follow. With the time, which has to be
// of systemd's clock, it knows which of its own requests this answers.
func notifyReloading(log *slog.Logger) {
	state := daemon.SdNotifyReloading
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err == nil {
		state += fmt.Sprintf("\nMONOTONIC_USEC=%d", now.Nano()/1000)
	}
	notify(log, state)
}
