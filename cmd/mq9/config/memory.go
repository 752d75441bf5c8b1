package config

import (
	"bufio"
	"errors"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// machineMemory is how much memory the broker may use, bytes: what the machine has, or the limit of its control
// group (a container's, a unit's) if that is less.
func machineMemory() (int64, error) {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0, errors.New("the machine's memory cannot be read: give a size such as 2GB")
	}
	return min(int64(info.Totalram)*int64(info.Unit), groupMemory("/proc/self/cgroup", "/sys/fs/cgroup")), nil
}

// groupMemory is the limit of the control group that the file names, and of those around it. Whatever cannot be read is no limit: there may
// be no control groups, or those of the first version.
func groupMemory(file, mount string) int64 {
	const none = 1<<63 - 1
	f, err := os.Open(file) //nolint:gosec // one of the system's
	if err != nil {
		return none
	}
	defer func() { _ = f.Close() }() // it was only read
	least := int64(none)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		group, ok := strings.CutPrefix(lines.Text(), "0::/")
		if !ok {
			continue
		}
		for group = path.Join("/", group); ; group = path.Dir(group) {
			text, err := os.ReadFile(path.Join(mount, group, "memory.max")) //nolint:gosec // one of the system's
			if limit, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil {
				least = min(least, limit)
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}
