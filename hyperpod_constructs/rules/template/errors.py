"""What a user can do wrong with a template's file."""

from __future__ import annotations

from pathlib import Path


class TemplateError(Exception):
    """A file that cannot be read as a CloudFormation template or cloud assembly.

    The text is one line for a person: the file and the line where they are known, what was found, what was expected.
    """

    def __init__(self, message: str, *, file: Path | None = None, line: int | None = None) -> None:
        """
        :param message: what was found and what was expected.
        :param file: the file; ``None`` for templates that came as objects.
        :param line: from 1; ``None`` if the reader does not know it.
        """
        where = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.file = file
        self.line = line

    def at(self, file: Path) -> TemplateError:
        """The same mistake, with the file in which it is."""
        return TemplateError(self.message, file=file, line=self.line)
