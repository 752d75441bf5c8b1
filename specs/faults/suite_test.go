package faults_test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var program string // the mq9 under test

func TestFaults(t *testing.T) {
	if os.Geteuid() != 0 {
		runInNamespace(t)
		return
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "A broker whose disk fails")
}

// runInNamespace runs the tests again as root of a user namespace, where file systems may be mounted.
func runInNamespace(t *testing.T) {
	self := exec.Command("/proc/self/exe", os.Args[1:]...)
	self.Stdout, self.Stderr = os.Stdout, os.Stderr
	one := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	self.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: one(os.Getuid()), GidMappings: one(os.Getgid()),
	}
	if err := self.Run(); err != nil {
		t.Fatalf("the specs, run in a user namespace: %v (if namespaces are not permitted here, run them as root)", err)
	}
}

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(20 * time.Second)
	SetDefaultEventuallyPollingInterval(10 * time.Millisecond)
	program = harness.BuildBroker()
})

// onDisk prepares a broker whose data are on a small file system of its own.
func onDisk(megabytes int) (*harness.Broker, *disk) {
	GinkgoHelper()
	d := mount(megabytes)
	b := prepared(program)
	b.DataDir = d.path + "/data"
	return b, d
}

// prepared is a broker that is stopped, and its log checked, when the spec ends.
func prepared(binary string, flags ...string) *harness.Broker {
	GinkgoHelper()
	b := harness.NewBroker(binary, GinkgoT().TempDir(), flags...)
	host := fmt.Sprintf("127.71.%d.%d", os.Getpid()>>8&255, GinkgoParallelProcess())
	b.Addr, b.HTTP = harness.FreeAddr(host), harness.FreeAddr(host)
	DeferCleanup(func() {
		b.Kill()
		b.CheckLog()
	})
	return b
}

// disk is a file system in memory, of a size of its own.
type disk struct{ path string }

func mount(megabytes int) *disk {
	GinkgoHelper()
	d := &disk{GinkgoT().TempDir()}
	err := syscall.Mount("tmpfs", d.path, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes))
	Expect(err).NotTo(HaveOccurred(), "a file system must be mounted for this spec: run it as root with CAP_SYS_ADMIN, or where user namespaces are permitted")
	DeferCleanup(func() { Expect(syscall.Unmount(d.path, syscall.MNT_DETACH)).To(Succeed()) })
	return d
}

// fill takes all the space that is left.
func (d *disk) fill() {
	GinkgoHelper()
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	Expect(err).NotTo(HaveOccurred())
	for size := 1 << 20; size >= 4<<10; {
		if _, err = f.Write(make([]byte, size)); err != nil {
			Expect(err).To(MatchError(syscall.ENOSPC))
			size /= 2
		}
	}
	Expect(f.Close()).To(Succeed())
}

// free gives back what fill took.
func (d *disk) free() {
	GinkgoHelper()
	Expect(os.Remove(d.ballast())).To(Succeed())
}

// grow gives the file system another size.
func (d *disk) grow(megabytes int) {
	GinkgoHelper()
	Expect(syscall.Mount("tmpfs", d.path, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dm", megabytes))).To(Succeed())
}

func (d *disk) ballast() string { return d.path + "/ballast" }

const (
	critical = ".critical"
	urgent   = ".urgent"
)

// send sends a message as a request. It returns the msg_id, or the code of a refusal.
func send(c *harness.Client, to, payload string) (id string, code int) {
	GinkgoHelper()
	var reply struct {
		MsgID string `json:"msg_id"`
		harness.Refusal
	}
	c.Ask(harness.Send+to, payload, &reply)
	return reply.MsgID, reply.Code
}
