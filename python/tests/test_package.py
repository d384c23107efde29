"""What is installed is the wheel."""

from importlib.metadata import version
from importlib.resources import files

import parley


def test_the_version_is_that_of_the_wheel_and_its_types_are_there() -> None:
    assert parley.__version__ == version("parley")
    assert files("parley").joinpath("py.typed").is_file()
