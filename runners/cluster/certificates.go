package cluster

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/argon2"
)

// authorityKey derives the key of the installation's certificate authority from its secret, with argon2id (RFC 9106):
// whoever connects is sent a certificate signed by that key before it has shown one, and could try secrets on it.
func authorityKey(secret []byte) ed25519.PrivateKey {
	const passes, memoryKiB, lanes = 2, 19 << 10, 1 // OWASP Password Storage Cheat Sheet; 30 ms, once in a process
	return ed25519.NewKeyFromSeed(argon2.IDKey(secret, []byte("reckon peers, version 1"), passes, memoryKiB, lanes, ed25519.SeedSize))
}

// peerName is the name in every certificate. Which process answers is asked for in a header: a process knows another
// one's id only from the log, and all who know the secret may act for the installation.
const peerName = "peer.reckon.internal"

// peerTLS returns the configuration of both ends of a connection between processes that know secret: TLS 1.3 (RFC 8446),
// each with a certificate of its own that the authority derived from the secret has signed. Nothing is read of a client that
// shows none, no recorded bytes mean anything in another connection, and no clock is compared.
func peerTLS(secret []byte) (*tls.Config, error) {
	key := authorityKey(secret)
	authority, err := certificate(&x509.Certificate{
		Subject: pkix.Name{CommonName: "reckon peers"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, key.Public(), key)
	if err != nil {
		return nil, err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	own, err := certificate(&x509.Certificate{
		Subject: pkix.Name{CommonName: peerName}, DNSNames: []string{peerName}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, authority, public, key)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(authority)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: peerName, RootCAs: trusted, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert,
		Certificates: []tls.Certificate{{Certificate: [][]byte{own.Raw}, PrivateKey: private}},
	}, nil
}

// certificate signs what template says of the key public. It is valid at all times: the secret ends it (RFC 5280, 4.1.2.5).
func certificate(template, parent *x509.Certificate, public crypto.PublicKey, signer ed25519.PrivateKey) (*x509.Certificate, error) {
	if parent == nil {
		parent = template // its own authority
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(1), time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return nil, fmt.Errorf("certificate between processes: %w", err)
	}
	return x509.ParseCertificate(der)
}
