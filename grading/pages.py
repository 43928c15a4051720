"""The frame of every page the grader writes: no script, nothing loaded, light and dark, from a phone's width up."""

from __future__ import annotations

from html import escape

from grading.visible import visible

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
form-action 'none'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --line: #ccc; --box: #f4f4f4; --ok: #0a5c2f;
  --no: #8f1d14; --look: #6b4300; --link: #0b4f9e; --quiet: #595959; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e8e8e8; --paper: #161616; --line: #555; --box: #262626;
  --ok: #7fd6a0; --no: #ff9b90; --look: #ffc46b; --link: #9ec5ff; --quiet: #b0b0b0; }} }}
* {{ box-sizing: border-box; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: {width}rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }}
h1 {{ font-size: 1.5rem; line-height: 1.25; }} h2 {{ font-size: 1.15rem; margin: 2rem 0 .5rem; }}
h3 {{ font-size: 1rem; margin: 0; display: inline; }}
a {{ color: var(--link); }} .ok, a.ok {{ color: var(--ok); }} .no, a.no {{ color: var(--no); }}
.look, a.look {{ color: var(--look); }} .quiet {{ color: var(--quiet); }}
pre {{ background: var(--box); padding: .5rem .75rem; margin: .5rem 0 0; font-size: .875rem; line-height: 1.45;
  white-space: pre-wrap; }}
.tests {{ list-style: none; padding: 0; margin: 0; }}
.tests > li {{ border-bottom: 1px solid var(--line); padding: .7rem 0; }}
.tests > li:first-child {{ border-top: 1px solid var(--line); }}
.tests p {{ margin: .35rem 0 0; white-space: pre-line; }}
.points {{ float: right; margin-left: 1rem; white-space: nowrap; font-variant-numeric: tabular-nums; }}
.wide {{ overflow-x: auto; }} table {{ border-collapse: collapse; }}
caption {{ text-align: left; padding-bottom: .5rem; }}
th, td {{ text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: normal; }}
thead th {{ white-space: nowrap; }} .wide td {{ white-space: nowrap; font-variant-numeric: tabular-nums; }}
tbody th {{ font-weight: normal; min-width: 9rem; overflow-wrap: anywhere; }}
small {{ font-size: .8125rem; display: block; }}
ul.many {{ columns: 18rem; padding-left: 1.25rem; margin-top: .25rem; }}
nav ul {{ list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; }}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def page(title: str, body: str, width: int = 46) -> str:
    """A whole page; `body` is HTML, `title` is text, `width` the widest it gets, in rem."""
    return PAGE.format(title=text(title), body=body, width=width)


def text(words: str) -> str:
    """Any text as HTML: escaped, and with every character that acts or hides shown.

    >>> text("<b>\\u202e")
    '&lt;b&gt;⟨U+202E⟩'
    """
    return escape(visible(words))
