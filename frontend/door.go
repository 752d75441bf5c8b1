package frontend

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// door is a loopback listener of the embedded server that opens to this front alone: both sides show the one certificate that
// was made for it, and whose key nobody else has. Three configurations need it: nats-server starts its routes only after a listener,
// it lets users whose JWT says "standard connections" in through a listener only, and it maps certificates to users (verify_and_map)
// only if it sees one: it is shown a copy of the client's, which the front has verified. Immutable.
type door struct {
	inside, outside *tls.Config // of the embedded server and of the front
	maps            bool        // clients' certificates are copied
}

// doorName is the name on the certificate.
const doorName = "mq9 front"

func newDoor(maps bool) (*door, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("a key for the embedded server: %w", err)
	}
	const century = 100 * 365 * 24 * time.Hour
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: doorName}, DNSNames: []string{doorName},
		NotBefore: time.Now().Add(-century), NotAfter: time.Now().Add(century), // the clock is not what it relies on
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("a certificate for the embedded server: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("a certificate for the embedded server: %w", err)
	}
	own := []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &door{
		maps:    maps,
		inside:  &tls.Config{Certificates: own, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS13},
		outside: &tls.Config{Certificates: own, RootCAs: pool, ServerName: doorName, MinVersion: tls.VersionTLS13},
	}, nil
}

// pass goes through the door with a connection that has been introduced, on behalf of a client. A server that refuses the
// connection says why in plain text instead of shaking hands: that text can then be read from what is returned.
func (d *door) pass(ctx context.Context, conn, client net.Conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	config := d.outside
	if from, ok := client.(*tls.Conn); ok && d.maps {
		copied, err := d.copyOf(from.ConnectionState())
		if err != nil {
			return nil, err
		}
		config = config.Clone()
		config.Certificates = []tls.Certificate{copied}
	}
	secured := tls.Client(conn, config)
	err := secured.HandshakeContext(ctx)
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return &headedConn{conn, plain.RecordHeader[:]}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("embedded nats-server: %w", err)
	}
	return secured, nil
}

// copyOf makes a certificate for the names of the client's that was verified.
func (d *door) copyOf(state tls.ConnectionState) (tls.Certificate, error) {
	if len(state.VerifiedChains) == 0 {
		return tls.Certificate{}, errors.New("the client's certificate was not verified")
	}
	theirs, own := state.PeerCertificates[0], d.outside.Certificates[0]
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), RawSubject: theirs.RawSubject,
		DNSNames: theirs.DNSNames, EmailAddresses: theirs.EmailAddresses, IPAddresses: theirs.IPAddresses, URIs: theirs.URIs,
		NotBefore: own.Leaf.NotBefore, NotAfter: own.Leaf.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, own.Leaf, own.Leaf.PublicKey, own.PrivateKey)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("a copy of the client's certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: own.PrivateKey}, nil
}
