package job

import (
	"fmt"
	"time"
)

// Words tells the job's owner why it waits although it was claimed; empty where there is nothing to tell.
func (s State) Words() string {
	if s.Status == Queued && s.Untried > 0 {
		return fmt.Sprintf("no runner could try the job so far: %s; it is tried again from %s, and no attempt is counted", s.Lacked, s.NotBefore)
	}
	return ""
}

// Words tells the owner of a job why it was lost; lacked is what WasLost says. It is empty for what was not recorded.
func (l Loss) Words(lacked string) string {
	const returned = "; your slot was returned"
	switch l {
	case SpentAttempts:
		return fmt.Sprintf("%d attempts ended without an outcome, the last by the job's work, which is taken for the cause; no attempt is left", MaxAbandoned)
	case RunnersEnded:
		return fmt.Sprintf("%d attempts ended without an outcome, the last because its runner ended, which need not be the job's doing; no attempt is left", MaxAbandoned) + returned
	case InSession:
		return "the job was interrupted before it had ended, and a job in a session is not run twice" + returned
	case NeverTried:
		return fmt.Sprintf("no runner could try the job for %d hours: %s%s", GiveUpAfter/time.Hour, lacked, returned)
	}
	return ""
}
