package faults_test

import (
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// mappedIDs are the lines of this process's user mapping. In a user namespace made by runInNamespace it is one id.
func mappedIDs() []string {
	GinkgoHelper()
	text, err := os.ReadFile("/proc/self/uid_map")
	Expect(err).NotTo(HaveOccurred())
	if fields := strings.Fields(string(text)); len(fields) == 3 && fields[2] == "1" {
		return fields[:1]
	}
	return strings.Fields(string(text))
}
