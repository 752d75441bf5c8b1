package harness

import (
	"os"
	"os/exec"
	"syscall"
)

// Confine has a command see nothing of the machine's files but those in root, with its working directory there. Who is not root runs it
// as root of a user namespace.
func Confine(cmd *exec.Cmd, root string) {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Geteuid() != 0 {
		one := func(id int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		}
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = one(os.Getuid()), one(os.Getgid())
	}
}
