"""What a key that opens the replica may consist of."""


def can_be_sent(key: str) -> bool:
    """Whether every client can send it in a header.

    Of other characters than printable ASCII some clients send UTF-8, and others Latin-1
    (RFC 9110, 5.5).
    """
    return key.isascii() and key.isprintable()
