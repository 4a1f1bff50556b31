package search

// unseen estimates from n rounds, and from in how many of them each species was
// reached, how many species no round has reached yet, and how likely it is that
// one that the next round reaches is new.
//
// The chance is Good and Turing's: the share of species seen only once among all
// that was seen (I. J. Good, "The Population Frequencies of Species and the
// Estimation of Population Parameters", Biometrika 1953). The number is Chao's
// lower bound for incidences, in its form without bias (A. Chao, "Estimating the
// Population Size for Capture-Recapture Data with Unequal Catchability",
// Biometrics 1987). That fuzzing may be seen so: M. Böhme, "STADS: Software Testing
// as Species Discovery", TOSEM 2018. A search that follows what it finds does not
// sample evenly: both are orders of magnitude.
func unseen(n int, rounds map[string]int) (species, chance float64) {
	once, twice, all := 0, 0, 0
	for _, in := range rounds {
		all += in
		switch in {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	if n == 0 || all == 0 {
		return 0, 1
	}
	f1, f2 := float64(once), float64(twice)
	return float64(n-1) / float64(n) * f1 * (f1 - 1) / (2 * (f2 + 1)), f1 / float64(all)
}
