// Package fair shares a fixed number of places, each the right to run one worker
// process, between the accounts that want them.
//
// The rule: a free place goes to the waiting account that holds the fewest, among
// equals to the one whose turn has waited longest; and an account that holds a
// place never takes the last free one.
//
// It promises that
//   - while one account wants more than there is, another's first request gets a place at once;
//   - an account that holds none gets one after at most one request of each account
//     that waited before it;
//   - a place stays free only when it is the last one and every waiting account holds one;
//   - requests of one account are served in the order in which they came.
//
// It knows nothing of what is run.
package fair
