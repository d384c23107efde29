"""Secrets and hashlocks, by the published vectors."""

from typing import Any

import pytest

from parley.hashlock import hashlock_of, new_secret, opens, parse_hashlock, parse_secret

from .conftest import vectors

VECTORS = vectors("hashlocks")


def test_each_vector_has_its_hashlock_and_each_spelling_its_secret() -> None:
    for each in VECTORS["hashlocks"]:
        assert hashlock_of(each["secret"]) == each["hashlock"]
    for each in VECTORS["spelled"]:
        assert parse_secret(each["text"]) == each["secret"]
    for each in VECTORS["opens"]:
        assert opens(each["secret"], each["hashlock"]) is each["opens"]


@pytest.mark.parametrize("each", VECTORS["refused"])
def test_a_malformed_secret_is_refused_and_not_repeated(each: Any) -> None:
    for read in (parse_secret, parse_hashlock, hashlock_of):
        with pytest.raises(ValueError, match="32 bytes as 64 hex characters") as refused:
            read(each["text"])
        assert each["text"] == "" or each["text"] not in str(refused.value)


def test_secrets_are_new_and_open_their_own_hashlock() -> None:
    one, other = new_secret(), new_secret()
    assert one != other
    assert opens(one, hashlock_of(one)) and not opens(other, hashlock_of(one))
