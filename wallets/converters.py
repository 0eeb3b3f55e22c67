"""What stands in the path of an address of the API."""

from eth_utils.address import to_checksum_address


class AddressConverter:
    """A wallet's address in any casing; a view gets it in EIP-55 form."""

    regex = "0[xX][0-9a-fA-F]{40}"

    def to_python(self, value: str) -> str:
        """Read it."""
        return to_checksum_address(value)

    def to_url(self, value: str) -> str:
        """Write it."""
        return value
