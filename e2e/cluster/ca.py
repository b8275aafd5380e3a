"""A small certificate authority, kept in files: one certificate per identity, made once."""

import datetime
import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = datetime.timedelta(days=3650)


@dataclass(frozen=True)
class Identity:
    """Whom a certificate names. Kubernetes reads its organisations as `groups`."""

    name: str
    groups: tuple[str, ...] = ()
    hosts: tuple[str, ...] = field(default=())
    """DNS names and addresses that a server answers for; empty for a pure client."""

    def subject(self) -> x509.Name:
        groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in self.groups]
        return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, self.name)])


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, both PEM files."""

    certificate: Path
    key: Path


class Authority:
    """The authority `name` in `directory`; created when it is not there yet."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory = directory
        self.name = name
        self.files = KeyPair(directory / f"{name}.crt", directory / f"{name}.key")
        if not self.files.certificate.exists():
            directory.mkdir(parents=True, exist_ok=True)
            key = ec.generate_private_key(ec.SECP256R1())
            subject = Identity(f"orthrus-{name}").subject()
            constraints = x509.BasicConstraints(ca=True, path_length=0)
            certificate = (
                _builder(subject, subject, key)
                .add_extension(constraints, critical=True)
                .add_extension(_usage(signs_certificates=True), critical=True)
                .sign(key, hashes.SHA256())
            )
            _write(self.files, certificate, key)

    def issue(self, file_name: str, identity: Identity) -> KeyPair:
        """The key pair `file_name`, made on the first call; it serves as client and as server."""
        files = KeyPair(self.directory / f"{file_name}.crt", self.directory / f"{file_name}.key")
        if files.certificate.exists():
            return files
        ca_certificate = x509.load_pem_x509_certificate(self.files.certificate.read_bytes())
        ca_key = load_key(self.files.key)
        key = ec.generate_private_key(ec.SECP256R1())
        purposes = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        builder = _builder(identity.subject(), ca_certificate.subject, key)
        builder = builder.add_extension(x509.BasicConstraints(False, None), critical=True)
        builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        if identity.hosts:
            names = x509.SubjectAlternativeName([_host_name(host) for host in identity.hosts])
            builder = builder.add_extension(names, critical=False)
        _write(files, builder.sign(ca_key, hashes.SHA256()), key)
        return files


def load_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """Read a private key that this module wrote."""
    key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{path} is not an elliptic-curve key")
    return key


def signing_key(directory: Path, name: str) -> KeyPair:
    """A bare key pair (public key instead of a certificate), for service account tokens."""
    files = KeyPair(directory / f"{name}.pub", directory / f"{name}.key")
    if not files.certificate.exists():
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        _write_key(files.key, key)
        files.certificate.write_bytes(public)
    return files


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _LIFETIME)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _host_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(files: KeyPair, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    """The certificate last: it marks the pair as whole, should we be killed in between."""
    _write_key(files.key, key)
    partial = files.certificate.with_suffix(".partial")
    partial.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    partial.rename(files.certificate)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
