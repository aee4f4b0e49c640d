"""What `sacctmgr` and `scontrol` take (as of 2026-12-01).

Sources: https://slurm.schedmd.com/sacctmgr.html, https://slurm.schedmd.com/scontrol.html and
https://slurm.schedmd.com/resource_limits.html
"""

from __future__ import annotations

from collections.abc import Mapping

PROGRAM, CONTROL = "sacctmgr", "scontrol"
VERBS = ("add", "create", "delete", "modify", "remove", "update")
"""What changes the database, and asks before it does so."""
IMMEDIATE = ("i", "immediate")
"""The option with which it does not ask."""
ENTITIES: Mapping[str, str] = {
    **dict.fromkeys(("account", "accounts", "acct", "accts"), "account"),
    **dict.fromkeys(("association", "associations", "assoc"), "association"),
    **dict.fromkeys(("cluster", "clusters"), "cluster"),
    **dict.fromkeys(("qos", "qoses"), "qos"),
    **dict.fromkeys(("user", "users"), "user"),
}
"""What it keeps, by all its names."""
FIRST_QOS, FIRST_ACCOUNT = "normal", "root"
"""The quality of service and the account that every database has."""

QOS_SETTINGS = ("qos", "qoslevel", "qoslevels", "defaultqos", "defqos")
"""Settings of associations with qualities of service."""
WALL = ("maxwall", "maxwallduration", "maxwalldurationperjob", "maxwallperjob")
"""The longest time of a job."""
NODES = ("maxnodes", "maxnodesperjob", "grpnodes", "maxnodesperuser")
RESOURCES = ("maxtres", "maxtresperjob", "grptres", "maxtresperuser", "maxtrespu", "maxtresperaccount", "maxtrespa")
"""The most nodes, and the most of some resources: more than that, no job gets."""

NEEDS_REASON = ("down", "drain", "fail")
"""The states of nodes that `scontrol` sets only with a reason."""
NODE_STATES = (
    *("cancel_reboot", "down", "drain", "fail", "future", "idle", "noresp", "power_down", "power_down_asap", "power_down_force"),
    *("power_up", "resume", "undrain"),
)
"""The states that it sets."""
ENFORCED: Mapping[str, tuple[str, ...]] = {
    "associations": ("all", "associations", "limits", "qos", "safe", "wckeys", "1"),
    "limits": ("all", "limits", "safe"),
    "qos": ("all", "qos"),
}
"""The values of `AccountingStorageEnforce` that enforce something."""
