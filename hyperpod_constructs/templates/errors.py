"""The error for an unusable template file."""

from __future__ import annotations

from pathlib import Path


class TemplateError(Exception):
    """A file that is not a readable CloudFormation template or cloud assembly.

    The text is one line: file and line (where known), the finding, the expectation.
    """

    def __init__(self, message: str, *, file: Path | None = None, line: int | None = None) -> None:
        """
        :param message: the finding and the expectation.
        :param file: the file; by default the template came as an object.
        :param line: the line, from 1; unknown by default.
        """
        where = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.file = file
        self.line = line

    def at(self, file: Path) -> TemplateError:
        """The same error with the name of its file."""
        return TemplateError(self.message, file=file, line=self.line)
