package identity

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"
)

// DeviceLifetime is how long a device is known: as long as browsers keep a cookie at most (RFC 6265bis section 5.5).
const DeviceLifetime = 400 * 24 * time.Hour

// NewDevice is what a device that has signed in to an e-mail address shows the next time: a name drawn for it, and an HMAC of both. It
// opens nothing; attempts of a device that shows it are counted apart from everybody else's (OWASP: device cookies).
func (s *Store) NewDevice(ctx context.Context, email string) (string, error) {
	key, _ := emailKey(email)
	name := rand.Text()
	seal, err := s.sealOfDevice(ctx, key, name)
	return name + "." + seal, err
}

// deviceOf is the first of some texts that NewDevice made for an e-mail address in lower case; empty: none is.
func (s *Store) deviceOf(ctx context.Context, emailKey string, shown []string) (string, error) {
	for _, device := range shown {
		name, seal, _ := strings.Cut(device, ".")
		want, err := s.sealOfDevice(ctx, emailKey, name)
		if err != nil {
			return "", err
		}
		if hmac.Equal([]byte(seal), []byte(want)) {
			return device, nil
		}
	}
	return "", nil
}

func (s *Store) sealOfDevice(ctx context.Context, emailKey, name string) (string, error) {
	salt, err := s.windowSalt(ctx)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write([]byte("device\x00" + name + "\x00" + emailKey))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}
