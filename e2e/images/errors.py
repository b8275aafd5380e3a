"""What stops an image build, as one line."""


class ImageError(Exception):
    """A build or check that cannot go on; the text says what is missing and what to do."""
