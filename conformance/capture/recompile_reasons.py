"""Canonical texts of recompile reasons and graph breaks, the same for every torch release."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_COMPILE_ID = re.compile(r"^\s*(?:\[?(\d+)/(\d+)\]?: )?")
_DTYPES = {
    "Float": "f32", "Double": "f64", "Half": "f16", "BFloat16": "bf16", "Long": "i64", "Int": "i32", "Short": "i16",
    "Char": "i8", "Byte": "u8", "Bool": "b8", "ComplexFloat": "c64", "ComplexDouble": "c128",
}  # fmt: skip
_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def canonical_recompile(texts: Iterable[str]) -> str:
    """The reasons for which no earlier compilation fitted, in the order of those compilations, each reason once."""
    numbered = []
    for text in texts:
        match = _COMPILE_ID.match(text)
        number = (int(match[1]), int(match[2])) if match and match[1] else (0, 0)
        numbered.append((number, _reason(text[match.end() :] if match else text)))
    numbered.sort(key=lambda pair: pair[0])
    return "; ".join(dict.fromkeys(reason for _, reason in numbered)) or "unknown"


def canonical_break(text: str) -> str:
    """The kind of a graph break, as torch names it: its first line, without place, explanation and hints."""
    body = text.split("Graph Break Reason:", 1)[-1]
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", body) if part.strip()]
    # From 2.13 on a sentence about the bytecode precedes the kind.
    while len(paragraphs) > 1 and re.match(r"Encountered graph break|Failed to handle graph break", paragraphs[0]):
        paragraphs.pop(0)
    kind = paragraphs[0].splitlines()[0].strip() if paragraphs else ""
    return _clean(kind) or "unknown"


def _reason(text: str) -> str:
    text = text.split("\nUser stack trace:")[0]
    text = re.sub(r"\s{2,}# .*", "", text, flags=re.DOTALL).strip()
    text = _sources(text)
    for pattern, write in _RULES:
        if match := pattern.fullmatch(text):
            return write(match)
    return _clean(text)


def _sources(text: str) -> str:
    """Names as in the program: `L['x']` is `x`, `G['z']` is `global z`, a module's parts are attributes."""
    text = re.sub(r"L\[\s*['\"]([^'\"]*)['\"]\s*\]", r"\1", text)
    text = re.sub(r"G\[\s*['\"]([^'\"]*)['\"]\s*\]", r"global \1", text)
    return re.sub(r"(?:\._modules|\._parameters|\._buffers|\.__dict__)\[['\"]([^'\"]*)['\"]\]", r".\1", text)


def _clean(text: str) -> str:
    """The text without what varies from run to run: addresses, ids, files and lines."""
    text = re.sub(r"\bat 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+", "0x...", text)
    # On a GPU inductor adds that a 32-bit index suffices; no size of a case comes near that bound.
    text = re.sub(r"(<= [^;<]+?) <= \d{9,}(?!\S)", r"\1", text)
    text = re.sub(r"\b\d{9,}\b", "...", text)
    text = re.sub(r"(?:/[\w.\-]+)+\.py(?::\d+)?", "...py", text)
    return re.sub(r"\s+", " ", text).strip()


def _duplicates(match: re.Match[str]) -> str:
    groups = re.findall(r"\[([^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]", match[1])
    written = []
    for group in groups:
        names = [_unquoted(name) for name in re.split(r",\s*(?=['\"])", group)]
        written.append(" is not ".join(names) if len(names) == 2 else f"{', '.join(names)} are distinct")
    return "; ".join(written) or _clean(match[0])


def _unquoted(name: str) -> str:
    return _sources(name.strip().strip("\"'"))


def _overlap(match: re.Match[str]) -> str:
    parts = [("storage overlap of", match[1]), ("no storage overlap of", match[2])]
    return "; ".join(f"{what} {names}" for what, names in parts if names.strip())


def _expected(what: str) -> Callable[[re.Match[str]], str]:
    def write(match: re.Match[str]) -> str:
        expected, actual = (_DTYPES.get(value, value) for value in (match["expected"], match["actual"]))
        place = f" at {match['at']}" if "at" in match.re.groupindex else ""
        return f"{what} of {match['name']}{place}: expected {expected}, actual {actual}"

    return write


def _grad(match: re.Match[str]) -> str:
    expected = match[2] in ("1", "True")
    return f"requires_grad of {match[1]}: expected {expected}, actual {not expected}"


def _sizes(text: str) -> str:
    text = re.sub(r"([\w.\[\]'\"]+?)\.size\(\)\[(\d+)\]", r"size of \1 at \2", text)
    # Torch 2.9 says of a size that it is more than a number, later releases that it is at least the next one.
    text = re.sub(r"(size of \S+ at \d+) > (\d+)", lambda found: f"{int(found[2]) + 1} <= {found[1]}", text)
    text = re.sub(r"([\w.\[\]'\"]+?)\.stride\(\)\[(\d+)\]", r"stride of \1 at \2", text)
    return re.sub(r"([\w.\[\]'\"]+?)\.storage_offset\(\)", r"storage offset of \1", text)


_TENSOR = r"[Tt]ensor '(?P<name>.+)' "
_ENDS = r"expected (?P<expected>.+?), actual (?P<actual>.+?)\.?"
_RULES: list[_Rule] = [
    (re.compile(r"Duplicate tensors? found:? ?(.*)", re.DOTALL), _duplicates),
    (re.compile(r"tensor '(.+)' requires_grad mismatch\. expected requires_grad=(\w+).*"), _grad),
    (re.compile(_TENSOR + r"size mismatch at index (?P<at>\d+)\. " + _ENDS), _expected("size")),
    (re.compile(_TENSOR + r"stride mismatch at index (?P<at>\d+)\. " + _ENDS), _expected("stride")),
    (re.compile(_TENSOR + r"rank mismatch\. " + _ENDS), _expected("rank")),
    (re.compile(_TENSOR + r"dtype mismatch\. " + _ENDS), _expected("dtype")),
    (re.compile(_TENSOR + r"device index mismatch\. .*"), lambda match: f"device of {match['name']}"),
    # The keys name the device and the autograd state: too much to be one text everywhere.
    (re.compile(_TENSOR + r"dispatch key set mismatch\. .*"), lambda match: f"dispatch keys of {match['name']}"),
    (re.compile(r"expected type of '(.+)' to be a tensor type, '? ?but found .*"), lambda match: f"type of {match[1]}"),
    (re.compile(r"___check_type_id\((.+), \d+\).*", re.DOTALL), lambda match: f"type of {match[1]}"),
    (re.compile(r"___check_obj_id\((.+), \d+\).*", re.DOTALL), lambda match: f"identity of {match[1]}"),
    (re.compile(r"check_overlapping\(overlapping=\[(.*)\], non_overlapping=\[(.*)\]\)"), _overlap),
    (re.compile(r"GLOBAL_STATE changed: (.*)"), lambda match: f"global state changed: {match[1].strip()}"),
    (re.compile(r"BACKEND_MATCH failure.*", re.DOTALL), lambda match: "backend changed"),
    (re.compile(r".*\.(?:size|stride|storage_offset)\(\).*"), lambda match: _clean(_sizes(match[0]))),
]


def canonical_reason(text: str) -> str:
    """One text for a guard failure as any release words it: `x is y`, `size of x at 0: expected 3, actual 4`."""
    return canonical_recompile([text])
