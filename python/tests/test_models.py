"""The models against the examples of the API description: no field of one is lost or renamed."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from parley import frames, models
from parley._model import OpenAnswer

from .conftest import given


def read(name: str) -> Any:
    return json.loads((Path(given("PARLEY_TEST_DOCS")) / name).read_text())


def examples(of: Any) -> list[Any]:
    """The examples of a media type or a message."""
    more = of.get("examples", {})
    named = [each["value"] for each in more.values()] if isinstance(more, dict) else []
    return [of["example"], *named] if "example" in of else named


def cases() -> list[tuple[str, Any, Any]]:
    """A name, the component of that place, and an example of it."""
    found: list[tuple[str, Any, Any]] = []
    for of in read("openapi.json")["paths"].values():
        for operation in of.values():
            contents = {"body": operation.get("requestBody", {})} | operation["responses"]
            for place, each in contents.items():
                media = each.get("content", {}).get("application/json", {})
                name = media.get("schema", {}).get("$ref", "").rpartition("/")[2]
                if name and (place == "body" or place.startswith("2")):
                    at = f"{operation['operationId']} {place}"
                    found += [(at, getattr(models, name), value) for value in examples(media)]
    for name, message in read("asyncapi.json")["components"]["messages"].items():
        frame = getattr(frames, message["payload"]["$ref"].rpartition("/")[2], None)
        if frame is not None:
            found += [(name, frame, each["payload"]) for each in message["examples"]]
    return found


CASES = cases()


def test_every_operation_and_frame_has_an_example() -> None:
    assert len(CASES) > 80 and {type(value) for _, _, value in CASES} == {dict}


@pytest.mark.parametrize(("name", "model", "value"), CASES, ids=[name for name, _, _ in CASES])
def test_an_example_is_read_whole(name: str, model: Any, value: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(model)
    got = adapter.validate_python(value)
    said = adapter.dump_json(got, exclude_unset=True)
    assert json.loads(said) == value
    assert adapter.validate_json(said) == got


def test_no_model_lets_a_field_shadow_what_models_have() -> None:
    for each in vars(models).values():
        if isinstance(each, type) and issubclass(each, BaseModel):
            assert not each.model_fields.keys() & vars(BaseModel).keys(), each


def test_a_request_with_an_unknown_field_is_refused_and_an_open_answer_keeps_it() -> None:
    with pytest.raises(ValidationError):
        models.QuoteBody.model_validate({"quoteAmount": "1", "other": 1})
    signed = models.SignedTron.model_validate(
        {"raw_data_hex": "00", "signature": ["00"], "visible": False}
    )
    assert isinstance(signed, OpenAnswer)
    assert signed.model_dump()["visible"] is False
