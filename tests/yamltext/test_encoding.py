"""Bytes in, the same bytes out."""

import pytest

from krm_function.text.errors import Limits, YamlError, decode, encode


@pytest.mark.parametrize("data", [b"", b"a: 1\r\n", b"\xef\xbb\xbfa: 1\n", b"\xef\xbb\xbf", "é: \U0001f600\n".encode()])
def test_encode_is_the_inverse_of_decode(data: bytes) -> None:
    assert encode(*decode(data)) == data


def test_a_byte_order_mark_is_taken_off_and_remembered() -> None:
    assert decode(b"\xef\xbb\xbfa: 1") == ("a: 1", True)


def test_bytes_that_are_not_utf_8_are_refused_with_their_place() -> None:
    with pytest.raises(YamlError) as caught:
        decode(b"a: 1\nb: \xff\n")
    assert (caught.value.code, caught.value.line, caught.value.column) == ("encoding", 2, 4)


def test_utf_16_is_called_by_its_name() -> None:
    with pytest.raises(YamlError, match="UTF-16"):
        decode("a: 1".encode("utf-16"))


def test_an_input_beyond_the_limit_is_refused() -> None:
    with pytest.raises(YamlError) as caught:
        decode(b"a" * 11, Limits(bytes=10))
    assert caught.value.code == "size"


def test_half_a_surrogate_pair_cannot_be_encoded() -> None:
    with pytest.raises(YamlError, match="surrogate"):
        encode("\ud800")
