"""Options with which machines mount file systems of NFS and of Lustre, and the values that these take (as of 2026-12-01).

Sources: https://man7.org/linux/man-pages/man5/nfs.5.html, https://man7.org/linux/man-pages/man8/mount.8.html and
https://github.com/lustre/lustre-release/blob/master/lustre/doc/mount.lustre.8
"""

from __future__ import annotations

from collections.abc import Mapping

Taken = range | tuple[str, ...] | None
"""The values of an option: numbers, words, or any."""

_SECONDS, _PORTS, _BYTES = range(1 << 31), range(1 << 16), range(1024, 1 << 31)
_TRANSPORTS = ("udp", "udp6", "tcp", "tcp6", "rdma", "rdma6")
_OF_NFS: Mapping[str, Taken] = {
    **dict.fromkeys(("acdirmax", "acdirmin", "acregmax", "acregmin", "actimeo", "timeo"), _SECONDS),
    **dict.fromkeys(("retrans", "retry", "namlen"), _SECONDS),
    **dict.fromkeys(("rsize", "wsize"), _BYTES),
    **dict.fromkeys(("mountport", "port"), _PORTS),
    **dict.fromkeys(("nconnect", "max_connect"), range(1, 17)),
    **dict.fromkeys(("nfsvers", "vers"), ("2", "3", "4", "4.0", "4.1", "4.2")),
    "minorversion": range(3),
    "mountvers": range(1, 4),
    "proto": _TRANSPORTS,
    "mountproto": ("udp", "udp6", "tcp", "tcp6"),
    "sec": ("none", "sys", "krb5", "krb5i", "krb5p"),
    "xprtsec": ("none", "tls", "mtls"),
    "lookupcache": ("all", "none", "pos", "positive"),
    "local_lock": ("all", "flock", "posix", "none"),
    "write": ("lazy", "eager", "wait"),
    **dict.fromkeys(("clientaddr", "mountaddr", "mounthost", "addr", "cert_serial", "privkey_serial"), None),
}
_WITHOUT_VALUE_OF_NFS = (
    *("ac", "acl", "bg", "cto", "fg", "fsc", "hard", "intr", "lock", "migration", "noac", "noacl", "nocto", "nofsc", "nointr"),
    *("nolock", "nomigration", "noposix", "nordirplus", "noresvport", "nosharecache", "notrunkdiscovery", "posix", "rdirplus"),
    *("rdma", "resvport", "sharecache", "soft", "softerr", "softreval", "nosoftreval", "tcp", "udp"),
)
_OF_LUSTRE: Mapping[str, Taken] = {"retry": _SECONDS, **dict.fromkeys(("exclude", "network", "skpath"), None)}
_WITHOUT_VALUE_OF_LUSTRE = (
    *("32bitapi", "always_ping", "checksum", "encrypt", "flock", "lazystatfs", "localflock", "lruresize", "nochecksum"),
    *(
        "noencrypt",
        "noflock",
        "nolazystatfs",
        "nolruresize",
        "nouser_fid2path",
        "nouser_xattr",
        "noverbose",
        "test_dummy_encryption",
    ),
    *("user_fid2path", "user_xattr", "verbose", "acl", "noacl", "abort_recov", "foreign"),
)
OF_KINDS: Mapping[str, Mapping[str, Taken]] = {
    "lustre": {**dict.fromkeys(_WITHOUT_VALUE_OF_LUSTRE), **_OF_LUSTRE},
    "nfs": {**dict.fromkeys(_WITHOUT_VALUE_OF_NFS), **_OF_NFS},
    "nfs4": {**dict.fromkeys(_WITHOUT_VALUE_OF_NFS), **_OF_NFS},
}
"""The options of a type, and the values that each takes."""
OF_ALL = frozenset(
    {
        *("async", "atime", "auto", "bind", "context", "defaults", "defcontext", "dev", "diratime", "dirsync", "exec", "fscontext"),
        *("group", "iversion", "lazytime", "loud", "mand", "move", "noatime", "noauto", "nodev", "nodiratime", "noexec", "nofail"),
        *("noiversion", "nolazytime", "nomand", "norelatime", "nostrictatime", "nosuid", "nosymfollow", "nouser", "owner", "rbind"),
        *("relatime", "remount", "ro", "rootcontext", "rw", "silent", "strictatime", "suid", "sync", "user", "users", "_netdev"),
    }
)
"""Options of `mount` for all types."""
