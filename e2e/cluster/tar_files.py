"""Small tar archives in memory."""

import io
import tarfile


def tar(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """The archive of `members`, the same bytes for the same members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def tar_files(files: dict[str, bytes]) -> bytes:
    """The archive of plain files."""
    return tar([(tarfile.TarInfo(name), content) for name, content in files.items()])
