// Package fair shares a fixed number of places, each the right to run one worker
// process, between the accounts that want them.
//
// The rule: a free place goes to the waiting account that has begun the fewest requests
// that have not ended, among equals to the one that has computed least recently, then to
// the one whose turn has waited longest; and an account that holds a place never takes
// the last free one. A request is short until it has run for Short, or sooner where its
// account has recently computed, but for Brief at least. While a short one waits of an
// account that has begun less and computed less than half as much, long ones keep half of
// the places: beyond that the youngest, of the account that has begun most, is paused. A
// paused one goes on where none that is short may have the place, or where long ones have
// less than their half. As many are paused as there are places; beyond that, and after the
// time that it was willing to wait, one is ended. What a request runs within Brief counts
// for nothing.
//
// It promises that
//   - while one account wants more than there is, another's first request gets a place at once;
//   - however many accounts hold the places, the first request of an account that has computed
//     less recently than those that wait, and less than half as much as those that hold one, gets
//     one within Short, where there are two or more and all work can be paused; and within Brief, where those that hold places have each
//     computed for nine times Short recently;
//   - a place stays free only when it is the last one and every waiting account holds one;
//   - requests of one account are served in the order in which they came;
//   - what is paused has run for Short, and holds up nobody's first request.
//
// It knows nothing of what is run.
package fair
