package reports

import (
	"cmp"
	"slices"

	"locktorture/checker"
	"locktorture/checker/anomaly"
)

// A Judge is one property, and the findings of the anomalies that break it.
type Judge struct {
	Name string
	IDs  []string

	Violations []checker.Finding // neither expected nor accepted by the scenario
	Expected   []checker.Finding
	Accepted   []checker.Finding
	Suspicious []checker.Finding

	Void string // why nothing was decided, or not about all of IDs; or empty
	part bool   // something was decided
}

// Properties lists the properties that are judged and the anomalies that break
// each.
func Properties() (all []Judge) {
	for _, p := range anomaly.Properties() {
		all = append(all, Judge{Name: string(p), IDs: anomaly.Of(p)})
	}
	return all
}

// Judges sorts the findings of a report by the property that they break. A
// finding that no property lists gets a judge of its own.
func Judges(r checker.Report) []Judge {
	all := Properties()
	of := func(id string) *Judge {
		for i := range all {
			if slices.Contains(all[i].IDs, id) {
				return &all[i]
			}
		}
		all = append(all, Judge{Name: id, IDs: []string{id}})
		return &all[len(all)-1]
	}
	for _, f := range r.Violations {
		j := of(f.ID)
		switch {
		case f.Expected:
			j.Expected = append(j.Expected, f)
		case f.Accepted:
			j.Accepted = append(j.Accepted, f)
		default:
			j.Violations = append(j.Violations, f)
		}
	}
	for _, f := range r.Suspicious {
		j := of(f.ID)
		j.Suspicious = append(j.Suspicious, f)
	}
	for i := range all {
		all[i].void(r.Void)
	}
	return all
}

// void notes which of the property's anomalies the history does not decide. A
// bound of service is always judged: what missed it missed it, whoever was slow.
func (j *Judge) void(voids []checker.Void) {
	undecided := map[string]bool{}
	for _, v := range voids {
		for _, id := range v.IDs {
			if slices.Contains(j.IDs, id) {
				undecided[id], j.Void = true, cmp.Or(j.Void, v.Why)
			}
		}
	}
	j.part = slices.ContainsFunc(j.IDs, func(id string) bool { return !undecided[id] && !anomaly.Has(id, anomaly.Service) })
}

// Status is the result for the property, in a word.
func (j Judge) Status() string {
	switch {
	case len(j.Violations) > 0:
		return "VIOLATED"
	case len(j.Expected) > 0:
		return "violated as expected"
	case len(j.Accepted) > 0:
		return "violated as accepted"
	case j.Void != "" && j.part:
		return "judged in part"
	case j.Void != "":
		return "not judged"
	default:
		return "ok"
	}
}

// WorstFirst lists the violations, those that the scenario accepts or means to see
// last.
func WorstFirst(r checker.Report) []checker.Finding {
	rank := func(f checker.Finding) int {
		if f.Expected || f.Accepted {
			return 1
		}
		return 0
	}
	out := slices.Clone(r.Violations)
	slices.SortStableFunc(out, func(a, b checker.Finding) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}
