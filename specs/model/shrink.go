package model

import (
	"slices"
	"time"
)

// Shrink makes a failing plan smaller as long as it fails and the time lasts. It returns the smallest plan found and its failure.
func Shrink(plan Plan, failure error, fails func(Plan) error, limit time.Duration) (Plan, error) {
	deadline := time.Now().Add(limit)
	try := func(smaller Plan) bool {
		if time.Now().After(deadline) {
			return false
		}
		if err := fails(smaller); err != nil {
			plan, failure = smaller, err
			return true
		}
		return false
	}
	for chunk := max(len(plan.Steps)/2, 1); ; chunk = max(chunk/2, 1) {
		removed := false
		for at := len(plan.Steps); at > 0; at -= chunk {
			if at > len(plan.Steps) {
				continue
			}
			smaller := plan
			smaller.Steps = slices.Delete(slices.Clone(plan.Steps), max(at-chunk, 0), at)
			removed = try(smaller) || removed
		}
		if chunk == 1 && !removed {
			break
		}
	}
	for i := range plan.Steps {
		for at := len(plan.Steps[i].Items) - 1; at >= 0; at-- {
			smaller := plan
			smaller.Steps = slices.Clone(plan.Steps)
			smaller.Steps[i].Items = slices.Delete(slices.Clone(plan.Steps[i].Items), at, at+1)
			try(smaller)
		}
	}
	return plan, failure
}
