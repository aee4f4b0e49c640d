"""Certificate authorities for one control plane, each with the certificates by it; an authority's key is thrown away."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hyperpod_constructs.local import private

_DAYS = 30
_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
_SERVER, _CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH


class Pair(NamedTuple):
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


class Certificates(NamedTuple):
    """The authority's certificate as PEM, and the files of the server's certificate and key."""

    authority: bytes
    certificate: Path
    key: Path


class StoreCertificates(NamedTuple):
    """Files for etcd: the authority's certificate, the member's pair and the pair of its one client."""

    authority: Path
    member: Pair
    client: Pair


def make(directory: Path, name: str) -> Certificates:
    """Make an authority and one certificate by it, for the API server on 127.0.0.1."""
    authority = _Authority(f"{name} local ca")
    pair = authority.issue(directory / "apiserver", "kube-apiserver", (_SERVER,), names=_NAMES)
    return Certificates(authority.pem, pair.certificate, pair.key)


def make_for_store(directory: Path, name: str) -> StoreCertificates:
    """Make an authority of etcd's own, so that no other certificate of the control plane opens the store."""
    authority = _Authority(f"{name} local etcd ca")
    path = directory / "etcd-ca.crt"
    _write(path, authority.pem)
    member = authority.issue(directory / "etcd", "etcd", (_SERVER, _CLIENT), names=("localhost",))
    return StoreCertificates(path, member, authority.issue(directory / "etcd-client", "kube-apiserver-etcd-client", (_CLIENT,)))


class _Authority:
    """An authority that lives as long as it issues."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(authority=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, stem: Path, name: str, uses: tuple[x509.ObjectIdentifier, ...], *, names: tuple[str, ...] = ()) -> Pair:
        """Write `<stem>.crt` and `<stem>.key`; with names, the certificate is also one for 127.0.0.1."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(_name(name), self._name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if names:
            addresses = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), *map(x509.DNSName, names)]
            builder = builder.add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        pair = Pair(stem.with_suffix(".crt"), stem.with_suffix(".key"))
        _write(pair.certificate, builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        _write(
            pair.key,
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        )
        return pair


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:64])])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
    )


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )


def _write(path: Path, content: bytes) -> None:
    with private.open_file(path) as file:
        file.write(content)
