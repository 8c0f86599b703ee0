"""Decompress layers: gzip, zstd or plain, decided by their first bytes as container runtimes do.

Rule of this file: memory is constant. A piece of output has at most 1 MiB, whatever the input claims, and the caller
bounds the sum; a zstd window has at most the 128 MiB that its library allows without being asked.
"""

import zlib
from collections.abc import Iterable, Iterator

from krm_function.lock.lock_problem import malformed

PIECE = 1 << 20  # bytes of one piece of output
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
LONGEST_MAGIC = 4


def decompressed(data: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress, in pieces. Raises LockProblem for a stream that is damaged or ends early."""
    chunks = iter(data)
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= LONGEST_MAGIC:
            break
    if head.startswith(GZIP):
        return _gzip(_behind(head, chunks))
    if head.startswith(ZSTD) or (head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50):  # or a skippable frame
        return _zstd(_behind(head, chunks))
    return _behind(head, chunks)


def _behind(head: bytes, chunks: Iterable[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from chunks


def _gzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield all members of a gzip stream, as Go reads them: nothing else may follow."""
    stream = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                if stream.eof:
                    stream = zlib.decompressobj(wbits=31)
                piece = stream.decompress(rest, PIECE)
                if piece:
                    yield piece
                rest = stream.unused_data if stream.eof else stream.unconsumed_tail
        while not stream.eof and (piece := stream.decompress(b"", PIECE)):
            yield piece
    except zlib.error:
        raise malformed("CC1204.gzip", "a layer") from None
    if not stream.eof:
        raise malformed("CC1204.gzip-end", "a layer")


def _zstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield all frames of a zstd stream, skippable ones left out."""
    import sys

    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor, ZstdError
    else:
        from backports.zstd import ZstdDecompressor, ZstdError

    stream = ZstdDecompressor()
    try:
        for chunk in chunks:
            rest = chunk
            if stream.eof:
                stream = ZstdDecompressor()
            while rest or not stream.needs_input:
                piece = stream.decompress(rest, PIECE)
                rest = b""
                if piece:
                    yield piece
                if stream.eof:
                    rest = stream.unused_data
                    if not rest:
                        break
                    stream = ZstdDecompressor()
    except ZstdError:
        raise malformed("CC1204.zstd", "a layer") from None
    if not stream.eof:
        raise malformed("CC1204.zstd-end", "a layer")
