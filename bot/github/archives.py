"""One file out of an artifact's zip archive. The archive is foreign: anything may be in it, and it may be none at all."""


def read_member(archive: bytes, name: str, most: int) -> bytes | None:
    """The file of exactly that name; None if there is none, it unpacks to more than `most` bytes, or it cannot be read."""
    import io
    import zipfile  # with its compressors it takes 20 ms to import, and an idle tick reads no archive

    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as content:
            info = content.getinfo(name)
            return content.read(info) if info.file_size <= most else None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - on spoilt bytes zipfile raises what its codecs do: zlib, LZMA, OS, EOF, value errors ...
        return None
