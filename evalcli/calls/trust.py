"""Which data a provider may receive, by its trust zone; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalcli.declarations.prompt_set import DataClass
from evalcli.declarations.resolution import ResolvedConfiguration
from evalcli.declarations.workspace import TrustZone
from evalcli.errors import TrustZoneError

CEILINGS: Final[Mapping[TrustZone, DataClass]] = {
    TrustZone.LOCAL: DataClass.SECRET_ADJACENT,
    TrustZone.PRIVATE_HOSTED: DataClass.SYSTEM_DIAGNOSTICS,
    TrustZone.EXTERNAL_EU: DataClass.INTERNAL_CONFIGURATION,
    TrustZone.EXTERNAL_GLOBAL: DataClass.EDITOR_CONTENT,
}
"""The most sensitive data that a provider of each zone may receive."""

_SENSITIVITY: Final = {data_class: place for place, data_class in enumerate(DataClass)}


def check_data_class(provider: str, zone: TrustZone, data_class: DataClass) -> None:
    """Check that a provider may receive data of this class.

    Raises:
        TrustZoneError: it may not.
    """
    ceiling = CEILINGS[zone]
    if _SENSITIVITY[data_class] > _SENSITIVITY[ceiling]:
        raise TrustZoneError(
            f'provider "{provider}" is in the trust zone {zone} and may receive {ceiling} at '
            f"most, not {data_class}",
            advice="ask a provider of a more trusted zone, or correct its `trust_zone`",
        )


def check_reachable(target: ResolvedConfiguration, data_class: DataClass) -> None:
    """Check that every provider a call can reach may receive data of this class.

    Raises:
        TrustZoneError: one may not.
    """
    for leg in target.legs:
        check_data_class(leg.provider, leg.entry.trust_zone, data_class)


def more_sensitive(one: DataClass, other: DataClass) -> DataClass:
    """Choose the more sensitive of two classes."""
    return max(one, other, key=_SENSITIVITY.__getitem__)
