"""Certificates are what Kubernetes reads in them, and are made once."""

import stat
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from e2e.cluster.ca import Authority, Identity


def read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_a_certificate_names_user_groups_and_hosts(tmp_path: Path) -> None:
    identity = Identity("system:node:one", ("system:nodes",), ("one", "10.0.0.1"))
    certificate = read(Authority(tmp_path, "ca").issue("one", identity).certificate)
    user = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [each.value for each in user] == ["system:node:one"]
    assert [each.value for each in groups] == ["system:nodes"]
    assert names.get_values_for_type(x509.DNSName) == ["one"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.1"]


def test_only_its_authority_vouches_for_a_certificate(tmp_path: Path) -> None:
    authority, other = Authority(tmp_path, "ca"), Authority(tmp_path, "other-ca")
    certificate = read(authority.issue("one", Identity("one")).certificate)
    certificate.verify_directly_issued_by(read(authority.files.certificate))
    assert certificate.issuer != read(other.files.certificate).subject


def test_a_certificate_is_made_once_and_its_key_is_private(tmp_path: Path) -> None:
    first = Authority(tmp_path, "ca").issue("one", Identity("one"))
    before = first.certificate.read_bytes()
    assert (
        Authority(tmp_path, "ca").issue("one", Identity("one")).certificate.read_bytes() == before
    )
    assert stat.S_IMODE(first.key.stat().st_mode) == 0o600
