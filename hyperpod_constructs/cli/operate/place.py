"""Where a command works: the options that all commands on running clusters share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Concatenate, ParamSpec, get_type_hints

import typer

from hyperpod_constructs.cli.console import CliError, Interrupted, is_aws_error, reported
from hyperpod_constructs.cli.target import AwsAccount, Target, TargetName, running_embedded_aws

_P = ParamSpec("_P")


def _option(name: str, help: str, **settings: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel="Where", **settings)


_LOCAL_OR_AWS = "The embedded AWS (local) or your account (aws); local, unless an option below is given."
Where = Annotated[TargetName | None, _option("--target", _LOCAL_OR_AWS, envvar="HYPERPOD_TARGET")]
Profile = Annotated[str | None, _option("--profile", "Profile of your AWS configuration; AWS_PROFILE says it too.")]
Region = Annotated[str | None, _option("--region", "Region, such as us-west-2; AWS_REGION says it too.")]
EndpointUrl = Annotated[str | None, _option("--endpoint-url", "Another endpoint; AWS_ENDPOINT_URL says it too.", metavar="URL")]
_OPTIONS: dict[str, Any] = {"where": Where, "profile": Profile, "region": Region, "endpoint_url": EndpointUrl}


@dataclass(frozen=True, slots=True)
class Place:
    """An account in a region, and its name on the command line."""

    target: Target
    where: TargetName
    _clients: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def client(self, service: str) -> Any:
        """A boto3 client, made once: the model of SageMaker takes a third of a second to read."""
        if service not in self._clients:
            self._clients[service] = self.target.client(service)
        return self._clients[service]


def chosen(
    where: TargetName | None, profile: str | None = None, region: str | None = None, endpoint_url: str | None = None
) -> Place:
    """The place that the options name.

    :raises CliError: if it is the embedded AWS and that does not run, or if the options contradict each other.
    """
    given = {"--profile": profile, "--region": region, "--endpoint-url": endpoint_url}
    of_an_account = [option for option, value in given.items() if value is not None]
    if where is TargetName.AWS or (where is None and of_an_account):
        return Place(AwsAccount.of_caller(profile=profile, region=region, endpoint_url=endpoint_url), TargetName.AWS)
    if of_an_account:
        raise CliError(f"{of_an_account[0]} is for your account: write --target aws, or leave it out")
    aws = running_embedded_aws()
    if aws is None:
        raise CliError(
            "the embedded AWS does not run, so it has no cluster: deploy one first (hyperpod deploy), "
            "or look into your account with --target aws"
        )
    return Place(aws, TargetName.LOCAL)


def placed(command: Callable[Concatenate[Place, _P], None]) -> Callable[..., None]:
    """Give a command the options of a place, and report its errors.

    The command's first parameter takes the place. A missing permission is explained with the statement that grants it.
    """
    hints = get_type_hints(command, include_extras=True)
    own = list(inspect.signature(command).parameters.values())[1:]
    parameters = [parameter.replace(annotation=hints[parameter.name]) for parameter in own]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _OPTIONS.items()
    ]

    @reported
    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        place = chosen(**{name: kwargs.pop(name) for name in _OPTIONS})
        with errors_explained():
            command(place, *args, **kwargs)

    del run.__wrapped__  # type: ignore[attr-defined]
    run.__signature__ = inspect.Signature([*parameters, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*parameters, *shared]}
    return run


@contextmanager
def errors_explained() -> Iterator[None]:
    """Explain a missing permission with the statement that grants it, and throttling and an interruption in one sentence.

    An interruption is taken for one before anything was changed; after that a command says what it has done.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("nothing was changed") from None
    except Exception as error:
        if not is_aws_error(error):
            raise
        from botocore.exceptions import ClientError

        from hyperpod_constructs.cli.operate.denied import advice

        if not isinstance(error, ClientError):
            raise
        if (sentence := advice(error)) is not None:
            raise CliError(sentence) from None
        raise
