import json

import pytest

from orthrus_operator.api.adapters import Adapter as Declared
from orthrus_operator.builders.adapters import declaration, declaration_digest
from orthrus_serving.engine.frontend.adapters.adapter_error import AdapterError
from orthrus_serving.engine.frontend.adapters.declaration import Adapter, parse_adapters

ENTRY = "{name: e5, source: /adapters/e5, task: embed}"


def test_yaml_and_json_declare_the_same() -> None:
    yaml = """
adapters:
- {name: e5, source: "pvc://adapters/e5", task: embed, pooling: last, endToken: </s>}
- name: sql
  source: hf://org/sql@main
  task: generate
"""
    json = """{"adapters": [
        {"name": "e5", "source": "pvc://adapters/e5", "task": "embed", "pooling": "last",
         "endToken": "</s>"},
        {"name": "sql", "source": "hf://org/sql@main", "task": "generate"}]}"""
    declared = parse_adapters(yaml, ())
    assert declared == parse_adapters(json, ())
    assert declared == (
        Adapter(
            name="e5",
            source="pvc://adapters/e5",
            task="embed",
            pooling="last",
            end_token="</s>",  # noqa: S106 (a token of the vocabulary)
        ),
        Adapter(name="sql", source="hf://org/sql@main", task="generate"),
    )
    assert parse_adapters("adapters: []", ()) == ()


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{name: e5, source: /a}", "e5: the field task is missing"),
        ("{name: e5, task: embed}", "e5: the field source is missing"),
        ("{source: /a, task: embed}", "adapter 0: the field name is missing"),
        ("{name: 5, source: /a, task: embed}", "5: name: "),
        ("{name: 'a b', source: /a, task: embed}", "a b: name: "),
        ("{name: e5, source: /a, task: rerank}", "e5: task: "),
        ("{name: e5, source: a/b, task: embed}", "e5: source must be an absolute path"),
        ("{name: e5, source: 's3://b/c', task: embed}", "e5: source must be an absolute path"),
        ("{name: e5, source: /a/../b, task: embed}", r"e5: source may not contain \.\."),
        ("{name: e5, source: 'pvc://c/../b', task: embed}", r"e5: source may not contain \.\."),
        ("{name: e5, source: /a, task: embed, pooling: median}", "e5: pooling 'median' is none"),
        ("{name: e5, source: /a, task: embed, normalize: maybe}", "e5: normalize: "),
        ("{name: e5, source: /a, task: embed, dimensions: 0}", "e5: dimensions"),
        ("{name: e5, source: /a, task: embed, dimensions: [64, -1]}", "e5: dimensions"),
        ("{name: e5, source: /a, task: embed, dimensions: []}", "e5: dimensions"),
        ("{name: e5, source: /a, task: embed, endtoken: x}", "e5: there is no field endtoken"),
        ("{name: e5, source: /a, task: embed, endToken: ''}", "e5: endToken"),
        ("{name: sql, source: /a, task: generate, pooling: last}", "pooling is only for adapters"),
        ("{name: sql, source: /a, task: generate, endToken: x}", "endToken is only for adapters"),
        ("e5", "adapter 0: "),
    ],
)
def test_each_error_is_one_sentence_that_names_the_adapter(entry: str, said: str) -> None:
    with pytest.raises(AdapterError, match=said) as error:
        parse_adapters(f"adapters: [{entry}]", ())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the one key `adapters`"),
        ("[]", "the one key `adapters`"),
        ("adapters: 5", "the one key `adapters`"),
        ("{adapters: [], models: []}", "the one key `adapters`"),
        ("adapters: [", "not YAML"),
        (f"adapters: [{ENTRY}, {ENTRY}]", "e5 is declared twice"),
        ("adapters: [{name: served, source: /a, task: embed}]", "name of the served model"),
    ],
)
def test_a_file_of_another_form_is_refused(text: str, said: str) -> None:
    with pytest.raises(AdapterError, match=said):
        parse_adapters(text, ["served"])


def test_sizes_are_those_listed_or_all_up_to_a_number() -> None:
    def sizes(dimensions: int | tuple[int, ...] | None) -> list[int]:
        adapter = Adapter(name="a", source="/a", task="embed", dimensions=dimensions)
        return [size for size in range(-1, 7) if adapter.allows(size)]

    assert sizes(None) == []
    assert sizes(3) == [1, 2, 3]
    assert sizes((2, 5)) == [2, 5]


@pytest.mark.parametrize(
    "fields",
    [
        {"task": "generate"},
        {"task": "embed"},
        {
            "task": "embed",
            "pooling": "last",
            "normalize": True,
            "endToken": "</s>",
            "instruction": "Frage: „ä“ 😀\nQuery:\t",
            "dimensions": [64, 32],
        },
    ],
)
def test_an_entry_has_the_digest_that_the_operator_waits_for(fields: dict[str, object]) -> None:
    declared = Declared.model_validate({"name": "e5", "source": "hf://org/e5@main"} | fields)
    written = json.dumps({"adapters": [declaration(declared)]}, ensure_ascii=False)
    (parsed,) = parse_adapters(written, ())
    assert parsed.digest() == declaration_digest(declared)


def test_each_field_of_an_entry_changes_its_digest() -> None:
    entries = [
        "{name: e5, source: /adapters/e5, task: embed}",
        "{name: e5, source: /adapters/other, task: embed}",
        "{name: e5, source: /adapters/e5, task: generate}",
        "{name: e5, source: /adapters/e5, task: embed, pooling: last}",
        "{name: e5, source: /adapters/e5, task: embed, normalize: true}",
        "{name: e5, source: /adapters/e5, task: embed, dimensions: [64]}",
    ]
    digests = {parse_adapters(f"adapters: [{entry}]", ())[0].digest() for entry in entries}
    assert len(digests) == len(entries)
