"""What a page of HTML consists of."""

from html.parser import HTMLParser


class Outline(HTMLParser):
    """Elements, events and addresses in them, and the text of scripts and of everything else."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.events, self.addresses, self.ids, self.images = [], [], [], [], []
        self.scripts, self.texts, self.labels = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        self.events += [name for name in found if name.startswith("on")]
        self.addresses += [v for k, v in found.items() if k in ("src", "href", "action", "data")]
        self.labels += [v for k, v in found.items() if k in ("aria-label", "placeholder", "title")]
        self.ids += [found["id"]] if "id" in found else []
        self.images += [found.get("aria-label")] if found.get("role") == "img" else []

    def handle_data(self, data):
        inside = self.tags and self.tags[-1] in ("script", "style")
        (self.scripts if inside else self.texts).append(data)
