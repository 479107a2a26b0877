package identity

import "context"

// WindowsOfStrangers is how many windows of one kind there can be.
const WindowsOfStrangers = windowsOfStrangers

// Bounds of the clients that nobody has approved.
const (
	MaxUnapprovedClients = maxUnapprovedClients
	ClientSweepEvery     = clientSweepEvery
)

// WindowKey is the key of a client's or e-mail address.
func (s *Store) WindowKey(ctx context.Context, what, whose string) (string, error) {
	return s.windowKey(ctx, what, whose)
}
