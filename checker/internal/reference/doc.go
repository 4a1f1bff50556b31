// Package reference is a second judge of histories, for tests: brute force over
// all pairs, written from the definitions of the anomaly catalogue and not from
// the rules of package checker, so that one can be compared with the other.
//
// It is slow on purpose (quadratic, the interleavings cubic), keeps everything in
// memory, and imports nothing but the history.
//
// # Three values
//
// An answer is No (must not be reported as a violation), Open (the definition
// leaves room: either is right) or Violation (must be reported). Each claim names
// the events that prove it, so that a witness can be compared with them too.
//
// What is known of a hold is kept as two bounds. Its surely held spans are what
// no reading of the definitions disputes; its possible span is what some reading
// grants. A violation follows from the former, and No from the latter.
//
// # How the rules follow from the definitions
//
// Time. Between two events of one process the later line came later; between
// others an order counts when their stamps differ by more than ε. Own deadlines
// are compared with stamps. An operation's own stamps for when it began and ended
// count instead of its events' times.
//
// Holds. C(g) = [ok(g), min(D(g), inv(release), loss)). A deadline moves with an
// extension that was answered; when the answer came after the old deadline, the
// gap is no surely held time. A refusal of an extension ends the hold between its
// invocation and its answer. An operation that bears a token is about the leases with
// that token, one without is about the newest lease. When an inner lease of a
// re-entrant hold is released, which of the deadlines is left is open.
//
//   - S1: surely held spans of two owners overlap by more than ε, not both readers.
//   - S5: a release that began at or after its owner's deadline by more than ε,
//     inside another's hold, and a third grant behind it, all surely in this order.
//   - S6: an extension or an owner-checked release that is ok, and another's grant,
//     asked for after g was answered, surely held for more than ε before it.
//   - S7: ok(g) ≥ D(g), unless g was waited for inside the lock and promises no D.
//   - S10: an S1 whose second grant was asked for after the first was answered,
//     while the first one's TTL ran, and nobody had sent a release.
//   - S4: ok(g1) surely before inv(g2), f2 < f1; not both readers, and g2 no re-entry. Open where they overlap, the
//     first had been given back when the second was granted, and a store that compares tokens rejected the second's write.
//   - S4b: one token in two grants: of two owners unless both read; of one owner
//     when the second grant cannot be a re-entry. A re-entry or an extension with
//     another token.
//   - S2: fenced; accepted tokens that decrease in the store's order (by seq, else
//     by events).
//   - S3: an accepted write of another owner between two of one section; or two
//     acknowledged updates of one base in different sections.
//   - S8, S3z: what ended the writer's newest lease: an ending (see holds.go) or its deadline.
//     Of a lease that was waited for inside the lock and promises no deadline, the TTL counts from its answer.
//   - Evidence: grants, unknown outcomes, and hand-overs as far as re-entry leaves them sure.
//   - L9: an acknowledged release, three refusals behind it before its lease's TTL ended, with nobody holding, and
//     a grant asked for only after that; nothing else may explain it.
//   - R1 to R5: the store's log, where there is one, compared with what was asked
//     and answered, and the tokens of writes against those of grants.
package reference
