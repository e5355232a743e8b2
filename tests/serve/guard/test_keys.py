"""Keys: hashed at rest, good for what they say, and for nothing once revoked."""

from __future__ import annotations

import time

import pytest
from served import KeysInMemory

from jurors.serve.auth import check_key, make_key
from jurors.serve.errors import ApiError


@pytest.fixture
def store() -> KeysInMemory:
    return KeysInMemory()


def _given(store: KeysInMemory, *about: str) -> str:
    token, key = make_key(*about)  # type: ignore[arg-type]
    store.add_key(key)
    return token


def test_a_key_does_what_it_is_for(store: KeysInMemory) -> None:
    token = _given(store, "write", "shop")
    assert check_key(store, f"Bearer {token}", "read", "shop").project == "shop"
    assert check_key(store, f"bearer  {token}", "write", "shop").scope == "write"


@pytest.mark.parametrize(
    ("scope", "project"), [("admin", "shop"), ("read", "bank"), ("read", None)], ids=["more", "other", "all"]
)
def test_a_key_does_nothing_else(store: KeysInMemory, scope: str, project: str | None) -> None:
    token = _given(store, "write", "shop")
    with pytest.raises(ApiError) as refused:
        check_key(store, f"Bearer {token}", scope, project)  # type: ignore[arg-type]
    assert (refused.value.status, refused.value.code) == (403, "forbidden")


def _spoilt(token: str) -> list[str]:
    other = "A" if token[-1] != "A" else "B"
    return [token[:-1] + other, token[:-1], token + "A", token.upper(), f"jk_{'0' * 12}_{token[16:]}", "", "jk_", "é"]


def test_a_key_that_is_nearly_right_is_refused(store: KeysInMemory) -> None:
    token = _given(store, "admin")
    for wrong in _spoilt(token):
        with pytest.raises(ApiError) as refused:
            check_key(store, f"Bearer {wrong}", "read", None)
        assert refused.value.status == 401
        assert token not in str(refused.value)


@pytest.mark.parametrize("header", [None, "Basic x", "Bearer"], ids=["none", "basic", "bare"])
def test_another_scheme_is_refused(store: KeysInMemory, header: str | None) -> None:
    with pytest.raises(ApiError) as refused:
        check_key(store, header, "read", None)
    assert (refused.value.status, refused.value.headers) == (401, {"WWW-Authenticate": "Bearer"})


def test_a_revoked_key_is_refused_as_one_that_never_was(store: KeysInMemory) -> None:
    token = _given(store, "admin")
    assert store.revoke_key(token[3:15], time.time())
    with pytest.raises(ApiError) as revoked:
        check_key(store, f"Bearer {token}", "read", None)
    with pytest.raises(ApiError) as unknown:
        check_key(KeysInMemory(), f"Bearer {token}", "read", None)
    assert (str(revoked.value), revoked.value.code) == (str(unknown.value), unknown.value.code)


def test_what_is_kept_of_a_key_does_not_hold_it(store: KeysInMemory) -> None:
    token = _given(store, "read")
    assert token[16:] not in repr(store)
