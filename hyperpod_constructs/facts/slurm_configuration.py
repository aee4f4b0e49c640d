"""The options of Slurm's configuration files, and the values that exclude each other (as of 2026-12-01).

Names have small letters, as Slurm reads them in any case.

Sources: https://slurm.schedmd.com/slurm.conf.html, https://slurm.schedmd.com/slurmdbd.conf.html,
https://slurm.schedmd.com/cgroup.conf.html, https://slurm.schedmd.com/gres.conf.html and
https://slurm.schedmd.com/topology.conf.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

SLURM, SLURMDBD, CGROUP, GRES, PLUGSTACK, TOPOLOGY = (
    *("slurm.conf", "slurmdbd.conf", "cgroup.conf", "gres.conf", "plugstack.conf", "topology.conf"),
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


OPTIONS: Mapping[str, tuple[str, ...]] = {
    SLURM: _words("""
        AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
        AccountingStorageLoc AccountingStorageParameters AccountingStoragePass AccountingStoragePort
        AccountingStorageTRES AccountingStorageType AccountingStorageUser AccountingStoreFlags
        AccountingStoreJobComment AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType
        AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters
        AuthAltTypes AuthInfo AuthType BackupAddr BackupController BatchStartTimeout BcastExclude BcastParameters
        BurstBufferParameters BurstBufferType CertgenParameters CertgenType CertmgrParameters CertmgrType
        CliFilterParameters CliFilterPlugins ClusterName CommunicationParameters CompleteWait ControlAddr
        ControlMachine CoreSpecPlugin CpuFreqDef CpuFreqGovernors CredType CryptoType DataParserParameters DebugFlags
        DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DependencyParameters DisableRootJobs DownNodes EioTimeout
        EnforcePartLimits Epilog EpilogMsgTime EpilogSlurmctld EpilogTimeout ExtSensorsFreq ExtSensorsType
        FairShareDampeningFactor FastSchedule FederationParameters FirstJobId FrontendName GetEnvTimeout GpuFreqDef
        GresTypes GroupUpdateForce GroupUpdateTime HashPlugin HealthCheckInterval HealthCheckNodeState
        HealthCheckProgram HttpParserType InactiveLimit Include InteractiveStepOptions JobAcctGatherFrequency
        JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPassScript
        JobCompPort JobCompType JobCompUser JobContainerType JobCredentialPrivateKey JobCredentialPublicCertificate
        JobFileAppend JobRequeue JobSubmitPlugins KeepAliveTime KillOnBadExit KillWait LaunchParameters LaunchType
        Licenses LogTimeFormat MailDomain MailProg MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId
        MaxMemPerCPU MaxMemPerNode MaxNodeCount MaxStepCount MaxTasksPerNode MCSParameters MCSPlugin MessageTimeout
        MetricsAuthUsers MetricsParameters MetricsType MinJobAge MpiDefault MpiParams NamespaceType
        NodeFeaturesPlugins NodeName NodeSet OverTimeLimit PartitionName PluginDir PlugStackConfig PowerParameters
        PowerPlugin PreemptExemptTime PreemptMode PreemptParameters PreemptType PrEpParameters PrEpPlugins
        PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityParameters
        PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod PriorityWeightAge
        PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS
        PriorityWeightTRES PrivateData ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld
        PrologTimeout PropagatePrioProcess PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram
        ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram ResumeProgram ResumeRate ResumeTimeout ResvEpilog
        ResvOverRun ResvProlog ReturnToService RoutePlugin SallocDefaultCommand SbcastParameters SchedulerParameters
        SchedulerTimeSlice SchedulerType ScronParameters SelectType SelectTypeParameters SlurmctldAddr SlurmctldDebug
        SlurmctldHost SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort
        SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug SlurmdLogFile
        SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug SlurmdTimeout SlurmdUser
        SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation
        SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram SuspendRate SuspendTime SuspendTimeout
        SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog TCPTimeout TLSParameters TLSType
        TmpFS TopologyParam TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram UnkillableStepTimeout
        UrlParserType UsePAM VSizeFactor WaitTime X11Parameters
    """),
    SLURMDBD: _words("""
        AllowNoDefAcct AllResourcesAbsolute ArchiveDir ArchiveEvents ArchiveJobs ArchiveResvs ArchiveScript
        ArchiveSteps ArchiveSuspend ArchiveTXN ArchiveUsage AuthAltParameters AuthAltTypes AuthInfo AuthType
        CommitDelay CommunicationParameters DbdAddr DbdBackupHost DbdHost DbdPort DebugFlags DebugLevel
        DebugLevelSyslog DefaultQOS DisableCoordDBD HashPlugin DisableArchiveCommands Include LogFile LogTimeFormat
        MaxPurgeLimit MaxQueryTimeRange MessageTimeout Parameters PidFile PluginDir PreserveCaseUser PrivateData
        PurgeEventAfter PurgeJobAfter PurgeJobEnvAfter PurgeJobScriptAfter PurgeResvAfter PurgeStepAfter
        PurgeSuspendAfter PurgeTXNAfter PurgeUsageAfter SlurmUser StorageBackupHost StorageHost StorageLoc
        StorageParameters StoragePass StoragePassScript StoragePort StorageType StorageUser TCPTimeout TLSParameters
        TLSType TrackSlurmctldDown TrackWCKey
    """),
    CGROUP: _words("""
        AllowedDevicesFile AllowedKmemSpace AllowedRAMSpace AllowedSwapSpace CgroupAutomount CgroupMountpoint
        CgroupPlugin CgroupReleaseAgentDir ConstrainCores ConstrainDevices ConstrainKmemSpace ConstrainRAMSpace
        ConstrainSwapSpace EnableControllers EnableExtraControllers IgnoreSystemd IgnoreSystemdOnFailure Include
        MaxKmemPercent MaxRAMPercent MaxSwapPercent MemorySwappiness MinKmemSpace MinRAMSpace SignalChildrenProcesses
        SystemdTimeout TaskAffinity
    """),
    GRES: _words("AutoDetect Count Cores CPUs File Flags Include Links MultipleFiles Name NodeName Type"),
    TOPOLOGY: ("BlockName", "BlockSizes", "Include", "LinkSpeed", "Nodes", "SwitchName", "Switches"),
}
"""The options of a file."""

BEGINNINGS: Mapping[str, tuple[str, ...]] = {
    GRES: ("autodetect", "name", "nodename"),
    TOPOLOGY: ("blockname", "blocksizes", "switchname"),
}
"""The options with which lines begin, where a line has several."""

_YES = ("yes", "no", "true", "false", "up", "down", "1", "0")
_LEVELS = (*("quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3", "debug4", "debug5"), *map(str, range(10)))
_LIMITS = _words("all none as core cpu data fsize memlock nofile nproc rss stack")
_CONSTRAINTS = ("constraincores", "constraindevices", "constrainkmemspace", "constrainramspace", "constrainswapspace")

CHOICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    SLURM: {
        "accountingstorageenforce": (
            "all",
            "associations",
            "limits",
            "nojobs",
            "nosteps",
            "qos",
            "safe",
            "wckeys",
            "none",
            "0",
            "1",
        ),
        "acctgatherenergytype": tuple(
            f"acct_gather_energy/{one}" for one in ("none", "gpu", "ibmaem", "ipmi", "pm_counters", "rapl", "xcc")
        ),
        "acctgatherprofiletype": tuple(f"acct_gather_profile/{one}" for one in ("none", "hdf5", "influxdb")),
        "enforcepartlimits": ("all", "any", "no", "yes"),
        "healthchecknodestate": ("alloc", "any", "cycle", "idle", "nondrained_idle", "mixed", "start_only"),
        "jobacctgathertype": tuple(f"jobacct_gather/{one}" for one in ("none", "cgroup", "linux")),
        "jobcomptype": tuple(f"jobcomp/{one}" for one in ("none", "elasticsearch", "filetxt", "kafka", "lua", "mysql", "script")),
        "preemptmode": ("off", "cancel", "gang", "requeue", "suspend", "within"),
        "preempttype": tuple(f"preempt/{one}" for one in ("none", "partition_prio", "qos")),
        "prioritytype": ("priority/basic", "priority/multifactor"),
        "proctracktype": tuple(f"proctrack/{one}" for one in ("cgroup", "cray_aries", "linuxproc", "pgid")),
        "prologflags": (
            *("alloc", "contain", "deferbatch", "forcerequeueonfail", "nohold", "runinjob", "serial", "x11"),
            *("force_requeue_on_fail", "run_in_job"),
        ),
        "schedulertype": ("sched/backfill", "sched/builtin"),
        "selecttype": tuple(f"select/{one}" for one in ("cons_res", "cons_tres", "cray_aries", "linear")),
        "selecttypeparameters": (
            *("cr_cpu", "cr_cpu_memory", "cr_core", "cr_core_memory", "cr_socket", "cr_socket_memory", "cr_memory", "cr_lln"),
            *("cr_one_task_per_core", "cr_core_default_dist_block", "cr_pack_nodes", "ll_shared_gres", "enforce_binding_gres"),
            *("multiple_sharing_gres_pj", "one_task_per_sharing_gres", "other_cons_res", "other_cons_tres"),
            *("nhc_absolutely_no", "nhc_no_steps", "nhc_no"),
        ),
        "slurmctlddebug": _LEVELS,
        "slurmctldsyslogdebug": _LEVELS,
        "slurmddebug": _LEVELS,
        "slurmdsyslogdebug": _LEVELS,
        "accountingstoreflags": _words("job_comment job_env job_extra job_script no_stdio"),
        "authtype": ("auth/munge", "auth/slurm", "auth/none"),
        "mcsplugin": tuple(f"mcs/{one}" for one in _words("none account group label user")),
        "privatedata": _words("accounts all cloud events jobs nodes none partitions reservations usage users"),
        "propagateresourcelimits": _LIMITS,
        "propagateresourcelimitsexcept": _LIMITS,
        "taskplugin": ("task/affinity", "task/cgroup", "task/none", "task/cray_aries"),
    },
    SLURMDBD: {"debuglevel": _LEVELS, "debuglevelsyslog": _LEVELS},
    CGROUP: {
        "cgroupplugin": ("cgroup/v1", "cgroup/v2", "autodetect", "disabled"),
        **dict.fromkeys((*_CONSTRAINTS, "cgroupautomount", "ignoresystemd", "ignoresystemdonfailure"), _YES),
    },
    GRES: {"autodetect": ("nvidia", "nvml", "nrt", "off", "oneapi", "rsmi")},
}
"""The values of options that have few, in small letters; several stand behind commas."""

NEAR: Mapping[str, tuple[str, ...]] = {
    "slurmctldparameters": _words("""
        allow_user_triggers cloud_dns cloud_reg_addrs conmgr_max_connections disable_triggers enable_configless
        enable_job_state_cache enable_stepmgr idle_on_node_suspend max_dbd_msg_action max_powered_nodes node_reg_mem_percent
        no_quick_restart power_save_interval power_save_min_interval preempt_send_user_signal reboot_from_controller
        rl_bucket_size rl_enable rl_log_freq rl_refill_period rl_refill_rate rl_table_size user_resv_delete
    """),
    "slurmdparameters": _words("""
        allow_ecores config_overrides contain_spank l3cache_as_socket numa_node_as_socket shutdown_on_reboot
    """),
    "launchparameters": _words("""
        batch_step_set_cpu_freq cray_net_exclusive disable_send_gids enable_nss_slurm lustre_no_flush mem_sort
        mpir_use_nodeaddr slurmstepd_memlock slurmstepd_memlock_all test_exec use_interactive_step ulimit_pam_adopt
    """),
    "priorityflags": _words("""
        accrue_always calculate_running depth_oblivious no_fair_tree incr_only max_tres max_tres_gres no_normal_all
        no_normal_assoc no_normal_part no_normal_qos no_normal_tres small_relative_to_time
    """),
}
"""Values of options of `slurm.conf` to which each version adds some."""

NUMBERS: Mapping[str, tuple[str, ...]] = {
    SLURM: _words("""
        accountingstorageport acctgathernodefreq batchstarttimeout completewait eiotimeout epilogmsgtime epilogtimeout
        fairsharedampeningfactor firstjobid getenvtimeout groupupdatetime healthcheckinterval inactivelimit jobfileappend
        killwait maxarraysize maxdbdmsgs maxjobcount maxjobid maxmempercpu maxmempernode maxnodecount maxstepcount
        maxtaskspernode messagetimeout minjobage priorityweightage priorityweightassoc priorityweightfairshare
        priorityweightjobsize priorityweightpartition priorityweightqos prologepilogtimeout prologtimeout resumerate
        resumetimeout returntoservice schedulertimeslice slurmctldtimeout slurmdport slurmdtimeout suspendrate suspendtimeout
        tcptimeout unkillablesteptimeout vsizefactor waittime
    """),
    SLURMDBD: _words("dbdport messagetimeout storageport tcptimeout"),
}
"""Options whose value is a number, or a word for none or no end."""
NO_NUMBERS = ("infinite", "unlimited", "none", "yes", "no")
PURGES = "purge"
"""The beginning of options of `slurmdbd.conf` with an age: a number of months, or of another unit."""
AGES = ("hours", "days", "months")
AGREEING = ("authtype", "slurmuser")
"""Options that `slurm.conf` and `slurmdbd.conf` have with the same value."""


class Excluded(NamedTuple):
    """Two options with values that Slurm does not take together, both in small letters.

    :param values: some values of the second option, of which none may stand beside the first one's.
    """

    option: str
    value: str
    other: str
    values: tuple[str, ...]


_CORES = ("cr_cpu", "cr_cpu_memory", "cr_core", "cr_core_memory", "cr_socket", "cr_socket_memory")
EXCLUDED = (
    Excluded("selecttype", "select/linear", "selecttypeparameters", (*_CORES, "cr_lln", "cr_pack_nodes")),
    Excluded("preempttype", "preempt/qos", "preemptmode", ("off",)),
    Excluded("preempttype", "preempt/partition_prio", "preemptmode", ("off",)),
    Excluded("prologflags", "nohold", "prologflags", ("contain", "x11", "runinjob")),
    Excluded("prologflags", "x11", "proctracktype", ("proctrack/linuxproc",)),
    Excluded("selecttypeparameters", "cr_one_task_per_core", "selecttypeparameters", ("cr_cpu", "cr_cpu_memory")),
    Excluded("jobacctgatherparams", "noshared", "jobacctgatherparams", ("usepss",)),
    Excluded("slurmdparameters", "l3cache_as_socket", "slurmdparameters", ("numa_node_as_socket",)),
)
RIVALS = (("defmempercpu", "defmempergpu", "defmempernode"), ("maxmempercpu", "maxmempernode"))
"""Options of `slurm.conf` of which one file has one."""

TRES = ("billing", "cpu", "energy", "mem", "node", "pages", "vmem")
TRES_KINDS = ("bb", "fs", "gres", "ic", "license", "interconnect")
"""Trackable resources: those with a name alone, and the kinds whose names stand behind a slash."""
OF_GRES = ("gpu", "mps", "nic", "shard")
"""Names of generic resources."""

LOCAL = ("slurmdspooldir",)
"""Folders of `slurm.conf` that each node has for itself, or with its name in them."""
OWN_NAMES = ("%h", "%n")
KEPT = ("statesavelocation",)
"""Folders of `slurm.conf` that a reboot leaves as they are."""
IN_MEMORY = ("/dev/shm", "/run", "/tmp", "/var/run")
"""Folders that a boot empties."""
SCRIPTS = ("prolog", "epilog", "taskprolog", "taskepilog", "prologslurmctld", "epilogslurmctld", "healthcheckprogram")
"""Options of `slurm.conf` with a script, which nodes need at this place."""
LOGS = ((SLURM, "slurmctldlogfile"), (SLURM, "slurmdlogfile"), (SLURMDBD, "logfile"))
"""The options with the log of a daemon."""
PORTS: Mapping[str, str] = {SLURM: "accountingstorageport", SLURMDBD: "dbdport"}
"""The options with the port of `slurmdbd`."""
CONFIGLESS = "enable_configless"
"""The parameter of `slurmctld` with which it serves its configuration to nodes with `slurmd --conf-server`."""
TASK_CGROUP = "task/cgroup"
CONSTRAINING = _CONSTRAINTS
"""The options of `cgroup.conf` that `task/cgroup` applies."""
