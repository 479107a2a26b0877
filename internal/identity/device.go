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

// isDeviceOf tells whether NewDevice made a text for an e-mail address in lower case.
func (s *Store) isDeviceOf(ctx context.Context, emailKey, device string) (bool, error) {
	name, seal, _ := strings.Cut(device, ".")
	want, err := s.sealOfDevice(ctx, emailKey, name)
	return err == nil && device != "" && hmac.Equal([]byte(seal), []byte(want)), err
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
