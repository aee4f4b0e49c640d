from __future__ import annotations

from tests.docs.markdown import Block, anchors, blocks, inline_code, local_links

SAMPLE = """
Run `make deploy`, see [the app](app.py#settings), [below](#below) and [AWS](https://aws.amazon.com).

```console
$ make deploy
cluster  demo
$ hyperpod deploy \\
    --yes
```

```console aws
$ make deploy TARGET=aws
```

```python
print("`not inline`")
```
"""


def test_blocks_have_language_marks_and_commands() -> None:
    console, on_aws, python = blocks(SAMPLE)
    assert console.commands() == ["make deploy", "hyperpod deploy      --yes"]
    assert (on_aws.language, on_aws.marks) == ("console", frozenset({"aws"}))
    assert python == Block(15, "python", frozenset(), 'print("`not inline`")\n')


def test_shell_block_is_one_command() -> None:
    assert blocks("```sh\ncd /\nls\n```")[0].commands() == ["cd /\nls\n"]


def test_inline_code_and_links_are_those_of_running_text() -> None:
    assert inline_code(SAMPLE) == ["make deploy"]
    assert local_links(SAMPLE) == [("app.py", "settings"), ("", "below")]


def test_anchors_are_those_of_github() -> None:
    page = "# Check, plan & `cost`\n\n```sh\n# no heading\n```\n\n## The [app](a.md)\n\n## The app\n"
    assert anchors(page) == ["check-plan--cost", "the-app", "the-app-1"]
