"""Hooks of MkDocs (mkdocs.yml): a link that leaves docs/ becomes the path of the file, since the site has no page for it."""
import posixpath
import re

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#\s]*)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, **_):
    folder = posixpath.dirname(page.file.src_path)

    def inside(match):
        path = posixpath.normpath(posixpath.join(folder, match[2]))
        return match[0] if not path.startswith("..") else f"{match[1]} (`{path.lstrip('./')}`)"

    return LINK.sub(inside, markdown)
