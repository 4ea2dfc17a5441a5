"""``burstlab model``: closed forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burstlab.cli.flags import Json, Settings
from burstlab.cli.printing import console
from burstlab.cli.tables import table

if TYPE_CHECKING:
    from burstlab.analytic import Model


def model(
    name: str | None = None,
    /,
    *,
    set_: Settings = None,
    json_: Json = False,
) -> int:
    """Evaluate closed forms of the literature at one point, corrected and as printed.

    Parameters
    ----------
    name
        Name of the model; without it, the models and their parameters are listed.
    set_
        Set a parameter: name=value, a number in the unit that the list names. Repeatable.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.analytic import MODELS
    from burstlab.errors import InputError, unknown

    if name is None:
        if set_:
            raise InputError(
                f"--set {set_[0]}: no model is named\n  fix: write burstlab model NAME --set ..."
            )
        _list(MODELS, json_)
        return 0
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    chosen = MODELS[name]
    given = _settings(chosen, set_ or [])
    try:
        document = chosen.document(given)
    except ValueError as error:
        raise InputError(_with_fix(str(error))) from None
    if json_:
        print(json.dumps(document, allow_nan=False))
    else:
        _print(document)
    return 0


def _settings(model: Model, settings: list[str]) -> dict[str, str]:
    from burstlab.errors import InputError, unknown

    names = [parameter.name for parameter in model.parameters]
    given: dict[str, str] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise InputError(
                f"--set {setting}: no value\n  fix: write name=value, for example --set p=0.1"
            )
        if name not in names:
            raise unknown(f"parameter of {model.name}", name, names)
        given[name] = value
    return given


def _with_fix(message: str) -> str:
    problem, colon, fix = message.partition(": ")
    return f"{problem}\n  fix: {fix if colon else 'burstlab model lists the parameters'}"


def _list(models: Mapping[str, Model], json_: bool) -> None:
    if json_:
        listed = [
            {
                "model": model.name,
                "description": model.description,
                "reference": model.reference,
                "parameters": [
                    {
                        "name": parameter.name,
                        "unit": parameter.unit,
                        "default": parameter.default,
                        "description": parameter.description,
                    }
                    for parameter in model.parameters
                ],
            }
            for model in models.values()
        ]
        print(json.dumps({"models": listed}))
        return
    for model in models.values():
        print(f"{model.name}: {model.description}\n  {model.reference}")
        for parameter in model.parameters:
            value = f"{parameter.default:g} {parameter.unit}".strip()
            print(f"  {parameter.name:14} {value:16} {parameter.description}")


def _print(document: Mapping[str, Any]) -> None:
    settings = ", ".join(
        f"{name} = {entry['value']:g} {entry['unit']}".strip()
        for name, entry in document["parameters"].items()
    )
    print(f"{document['reference']}\n{settings}")
    made = table(["result"], ["value", "as printed"], ["unit", "equation", "what"])
    for name, result in document["results"].items():
        value, printed = _cell(result["value"]), _cell(result["as_printed"])
        same = "" if printed == value else printed
        made.add_row(name, value, same, result["unit"], result["equation"], result["description"])
    console(140).print(made)
    print("as printed: what the formula gives as the paper has it, where that is something else")


def _cell(value: float | str | None) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.4g}"
