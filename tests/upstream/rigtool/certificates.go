// SPDX-License-Identifier: Apache-2.0

// One authority for everything on the rig, another for the proxy in front of it, and the kubeconfigs of its users.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// subject of a certificate: what Kubernetes takes for user and group, and what a server is called.
type subject struct {
	file   string
	user   string
	group  string
	server bool
	signer string // the authority; empty: ca
}

var subjects = []subject{
	{file: "server", user: "kube-apiserver", server: true}, // all servers of the control plane; etcd also as a client
	{file: "admin", user: "admin", group: "system:masters"},
	{file: "kube-controller-manager", user: "system:kube-controller-manager"},
	{file: "kube-scheduler", user: "system:kube-scheduler"},
	{file: "extender", user: "extender", server: true}, // for tests of extenders over TLS
	{file: "extender-client", user: "extender-client"},
	// Whom servers believe about who is asking (X-Remote-User). Signed by another authority: it is not a user itself.
	{file: "front-proxy", user: "front-proxy", signer: frontProxyAuthority},
	// The same authority, but not one of the names that are allowed.
	{file: "back-proxy", user: "back-proxy", signer: frontProxyAuthority},
}

const frontProxyAuthority = "front-proxy-ca"

var serverNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
	"kubernetes.default.svc.cluster.local"}

type signer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// writeAuthority makes one with an RSA key, as kubeadm does: the API server checks the signature on a client's certificate with every
// request, which takes less than half as long as with ECDSA. The keys of those who are signed for cost nothing but handshakes.
func writeAuthority(dir, file, name string) (signer, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return signer{}, err
	}
	authority := template(name, "")
	authority.IsCA = true
	authority.BasicConstraintsValid = true
	authority.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	return signer{authority, key}, writePair(dir, file, authority, authority, key, key)
}

func writeCertificates(dir string) error {
	authority, err := writeAuthority(dir, "ca", "berth-rig")
	if err != nil {
		return err
	}
	frontProxy, err := writeAuthority(dir, frontProxyAuthority, "berth-rig-front-proxy")
	if err != nil {
		return err
	}
	for _, s := range subjects {
		by := authority
		if s.signer == frontProxyAuthority {
			by = frontProxy
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		certificate := template(s.user, s.group)
		certificate.KeyUsage = x509.KeyUsageDigitalSignature
		certificate.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		if s.server {
			certificate.ExtKeyUsage = append(certificate.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
			certificate.DNSNames = serverNames
			certificate.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1), net.IPv6loopback}
		}
		if err := writePair(dir, s.file, certificate, by.certificate, key, by.key); err != nil {
			return err
		}
	}
	return writeAccountKeys(dir)
}

func template(user, group string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand does not fail on any system we run on
	}
	name := pkix.Name{CommonName: user}
	if group != "" {
		name.Organization = []string{group}
	}
	now := time.Now()
	return &x509.Certificate{SerialNumber: serial, Subject: name, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0)}
}

func writePair(dir, name string, certificate, parent *x509.Certificate, key, parentKey crypto.Signer) error {
	der, err := x509.CreateCertificate(rand.Reader, certificate, parent, key.Public(), parentKey)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", name, err)
	}
	if err := writePEM(dir, name+".crt", "CERTIFICATE", der); err != nil {
		return err
	}
	return writeKey(dir, name+".key", key)
}

// writeAccountKeys makes the keys that sign and check the tokens of service accounts.
func writeAccountKeys(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(dir, "service-account.pub", "PUBLIC KEY", public); err != nil {
		return err
	}
	return writeKey(dir, "service-account.key", key)
}

func writeKey(dir, name string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(dir, name, "PRIVATE KEY", der)
}

func writePEM(dir, name, kind string, der []byte) error {
	return os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func printKubeconfig(dir, user, server string) error {
	data := map[string]string{}
	for _, name := range []string{"ca.crt", user + ".crt", user + ".key"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		data[name] = base64.StdEncoding.EncodeToString(content)
	}
	fmt.Printf(`apiVersion: v1
kind: Config
clusters:
- name: berth-rig
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %s
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: berth-rig
  context:
    cluster: berth-rig
    user: %s
current-context: berth-rig
`, server, data["ca.crt"], user, data[user+".crt"], data[user+".key"], user)
	return nil
}
