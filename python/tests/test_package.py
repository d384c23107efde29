"""The installed package is the wheel."""

from importlib.metadata import distribution, version
from importlib.resources import files

import parley


def test_the_version_is_that_of_the_wheel_and_its_types_are_there() -> None:
    assert parley.__version__ == version("parley")
    assert files("parley").joinpath("py.typed").is_file()
    inside = [str(each) for each in distribution("parley").files or []]
    assert any(each.endswith("licenses/LICENSE") for each in inside)
    assert not [each for each in inside if "test" in each]
