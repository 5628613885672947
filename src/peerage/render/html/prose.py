"""Markdown that models write, as HTML: lists, tables, code, formulas. Links lead nowhere, and tags are text.

What comes out holds no address, script, style or id, whatever went in: the policy of pages stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from peerage.render.rows import maybe_markdown
from peerage.values.texts import visible

MOST_CODE, MOST_FORMULA, MOST_FORMULAS = 5_000, 1_000, 500
"""Characters of code that is colored and of a formula that is set, and formulas that one text may hold."""
LANGUAGES = frozenset(
    [
        "bash",
        "c",
        "c++",
        "cpp",
        "csharp",
        "css",
        "diff",
        "go",
        "html",
        "java",
        "javascript",
        "js",
        "json",
        "jsonc",
        "kotlin",
        "php",
        "python",
        "py",
        "ruby",
        "rust",
        "sh",
        "sql",
        "swift",
        "toml",
        "ts",
        "typescript",
        "xml",
        "yaml",
    ]
)
"""Languages whose code is colored: lexers of others were not tried with hostile code."""
_MORE_THAN_LINES = re.compile(r"<(?!/?p>|br>)")
_TEXT_WITH_MARKUP = re.compile(r"\\(?:text|mbox)\w*\s*\{[^}]*<")
_ALIGNED = {"text-align:right": "n", "text-align:center": "mid"}
_FORMULA_TAGS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "ms",
        "mtext",
        "mspace",
        "msup",
        "msub",
        "msubsup",
        "mfrac",
        "msqrt",
        "mroot",
        "mover",
        "munder",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
        "menclose",
        "mmultiscripts",
        "mprescripts",
    ]
)
_FORMULA_ATTRIBUTES = {
    "math": {"display"},
    "mo": {"stretchy", "fence", "form", "separator", "movablelimits", "largeop", "minsize", "maxsize"},
    "mi": {"mathvariant"},
    "mspace": {"width", "linebreak"},
    "mfrac": {"linethickness"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtd": {"columnalign"},
    "mtable": {"columnalign"},
}


@lru_cache(maxsize=1024)
def prose(text: str) -> str:
    """Return a text's Markdown as HTML; empty where there is none and the text says the same as it stands."""
    if not maybe_markdown(text):
        return ""
    if text.count("\\(") + text.count("\\[") > MOST_FORMULAS:
        return ""
    made: str = _markdown().render(visible(text))
    return made if _MORE_THAN_LINES.search(made) else ""


@cache
def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    reader.enable(["table", "strikethrough"])
    try:
        import nh3  # noqa: F401  formulas need all three
        from mdit_py_plugins.dollarmath import dollarmath_plugin
        from mdit_py_plugins.texmath import texmath_plugin
    except ImportError:  # a notebook without the extra `site` shows formulas as they are written
        return reader
    reader.use(texmath_plugin, delimiters="brackets")
    reader.use(dollarmath_plugin, allow_space=False, allow_digits=False, allow_labels=False)
    for name in ("math_inline", "math_inline_double", "math_block", "math_block_eqno"):
        reader.add_render_rule(name, _Renderer.formula)
    return reader


class _Renderer(RendererHTML):
    """Writes what Markdown says without anything that leads elsewhere or stands out of its place."""

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return f'<span class="link" title="{escape(str(tokens[at].attrs.get("href", "")))}">'

    def link_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "</span>"

    def image(self, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]) -> str:
        about = escape(self.renderInlineAsText(tokens[at].children or [], options, env))
        source = escape(str(tokens[at].attrs.get("src", "")))
        return f'<span class="link" title="{source}">[{about}]</span>'

    def heading_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return '<p class="head">'  # headings of a page are the page's own

    def heading_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "</p>\n"

    def fence(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        return f"<pre><code>{_colored(token.content, token.info.strip().lower())}</code></pre>\n"

    def th_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        kind = _ALIGNED.get(str(token.attrs.get("style", "")).replace(" ", ""), "")
        return f'<{token.tag} class="{kind}">' if kind else f"<{token.tag}>"

    td_open = th_open

    def formula(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        return _formula(token.content.strip(), display=token.type != "math_inline")


def _colored(code: str, language: str) -> str:
    """Return code with spans for what its language knows it by, as classes that begin with `k-`."""
    if language not in LANGUAGES or len(code) > MOST_CODE:
        return escape(code)
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(language, stripnl=False)
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="k-")))


def _formula(tex: str, *, display: bool) -> str:
    """Return LaTeX as MathML, and as code where it is none that can be set."""
    import nh3
    from latex2mathml.converter import convert

    source = f"<code>{escape(tex)}</code>"
    if len(tex) > MOST_FORMULA or _TEXT_WITH_MARKUP.search(tex):
        return source
    for starred in ("aligned", "gathered", "split"):
        tex = tex.replace(f"{{{starred}}}", "{align*}")
    try:
        made = convert(tex, display="block" if display else "inline")
    except Exception:
        return source
    allowed: Mapping[str, set[str]] = _FORMULA_ATTRIBUTES
    return nh3.clean(made, tags=set(_FORMULA_TAGS), attributes=dict(allowed), link_rel=None) or source
