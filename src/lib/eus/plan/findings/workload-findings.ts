import { blocker, warning } from '../../../releases/hop-findings.ts'
import type { Finding } from '../../../checks/check-definition.ts'
import { itemsOf } from '../../../kube/known.ts'
import { evictionFinding } from '../../../vms/forecast/vm-forecast.ts'
import { overrideId } from '../../../vms/update-methods.ts'
import { isOverridden, type Judged, unreadRemedy } from '../eus-snapshot.ts'
import { counted, someOf } from '../../../kube/text.ts'

/** What becomes of VMs: before the first hop, at the end, and when their nodes are drained. */
export const workloadFindings = (judged: Judged): readonly Finding[] => [
  ...methodsEmpty(judged),
  ...outdated(judged),
  ...staying(judged),
  ...evicted(judged),
  ...blocking(judged),
  ...outages(judged),
]

/**
 * What nobody of ours has borrowed is not filled in by guess (night C7). What kvup itself has emptied was something before, and is asked about; where paused
 * pools tell of a window it is asked about with them.
 */
function methodsEmpty({ snapshot }: Judged): readonly Finding[] {
  const [methods] = itemsOf(snapshot.snapshot.methods)
  if (methods === undefined || methods.length > 0 || isOverridden(snapshot, overrideId)) return []
  if (snapshot.snapshot.emptiedByKvup && snapshot.window === undefined)
    return blocker({
      id: 'methods-empty-without-override',
      summary:
        'kvup emptied workloadUpdateMethods, but the journal has no saved value: it would still be empty at the end',
      remedy: ['kvup workloads strategy set --methods LiveMigrate     or the value that it had'],
    })
  return warning({
    id: 'methods-empty-without-override',
    summary: 'automatic VM updates are off (not by kvup): VMs remain on the old virt-launcher',
    remedy: ['kvup workloads strategy set --methods LiveMigrate'],
  })
}

/** VMs on an old launcher, where a hop wants none of them (ocp 6.3). */
function outdated({ snapshot, hops }: Judged): readonly Finding[] {
  const [tally] = itemsOf(snapshot.snapshot.instances)
  const hop = hops.find(({ outdatedMustBeZero }) => outdatedMustBeZero)
  if (hop === undefined) return []
  const { instances } = snapshot.snapshot
  if (!instances.known)
    return [
      {
        id: 'outdated-launchers',
        level: 'not-checked',
        summary: `kvup does not know whether VMs run an older virt-launcher: ${instances.why}`,
        remedy: [unreadRemedy(instances.why)],
      },
    ]
  if (tally === undefined || tally.outdated === 0) return []
  return blocker({
    id: 'outdated-launchers',
    summary: `${counted(tally.outdated, 'VM', ['runs', 'run'])} an older virt-launcher: since 4.16, none may when the platform goes to ${hop.minor}`,
    remedy: ['kvup workloads outdated', 'kvup workloads update      moves them'],
  })
}

function staying({ snapshot, hops }: Judged): readonly Finding[] {
  const [tally] = itemsOf(snapshot.snapshot.instances)
  if (tally === undefined || tally.notMigratable.count === 0 || hops.length === 0) return []
  const { count, names } = tally.notMigratable
  return warning({
    id: 'vms-that-stay',
    summary: `${counted(count, 'running VM', ['cannot', 'cannot'])} be migrated: ${someOf(names, count)}. They keep the old virt-launcher until they are restarted`,
    objects: names,
    remedy: ['kvup workloads forecast', 'kvup workloads restart      restarts those that need a restart'],
  })
}

/** Accepted by name, as in an upgrade. */
function evicted({ snapshot, hops }: Judged): readonly Finding[] {
  const [methods] = itemsOf(snapshot.snapshot.methods)
  const [forecast] = itemsOf(snapshot.snapshot.forecast)
  if (methods === undefined || forecast === undefined || hops.length === 0) return []
  return evictionFinding(methods, forecast).map((finding) =>
    Object.assign({}, finding, {
      remedy: ['kvup workloads strategy set --methods LiveMigrate      removes Evict first'],
    }),
  )
}

/** What does not come back, or comes back with less, is never taken by --yes alone (night E10, W2). */
function outages({ snapshot, hops }: Judged): readonly Finding[] {
  const { outages: all } = snapshot.snapshot
  const reboots = hops.filter(({ platform }) => !platform.done).length
  if (snapshot.topology.is !== 'single-node' || reboots === 0) return []
  if (!all.known)
    return [
      {
        id: 'vm-outages',
        level: 'not-checked',
        summary: `which VMs are down while the node reboots, and which of them come back: ${all.why}`,
        remedy: [unreadRemedy(all.why)],
      },
    ]
  const worse = all.items.filter(
    ({ afterwards, loses }) => afterwards !== 'comes-back' || loses !== undefined,
  )
  if (all.items.length === 0) return []
  const times = reboots === 1 ? 'once' : `${reboots} times`
  const not =
    worse.length === 0 ? '' : `. Not running as before afterwards: ${someOf(worse.map(({ vm }) => vm))}`
  return [
    {
      id: 'vm-outages',
      level: worse.length === 0 ? 'warning' : 'blocker',
      summary: `${counted(all.items.length, 'VM', ['is', 'are'])} down while the node reboots, ${times}${not}`,
      objects: all.items.map(({ vm }) => vm),
      remedy: ['kvup workloads forecast', 'shut VMs down cleanly before'],
    },
  ]
}

/** Seed 003, ocp 1.4: on hostpath or EBS volumes a VM cannot be migrated, and its eviction is denied until None is set on the VM itself. */
function blocking({ snapshot, route }: Judged): readonly Finding[] {
  const names = itemsOf(snapshot.snapshot.undrainable)
  if (
    names.length === 0 ||
    snapshot.topology.is === 'single-node' ||
    (route.minors.length === 0 && snapshot.began === snapshot.here)
  )
    return []
  return warning({
    id: 'vms-block-drains',
    summary: `${counted(names.length, 'VM', ['cannot', 'cannot'])} be migrated and refuses its eviction: ${someOf(names)}. A pool hangs at ${names.length === 1 ? 'its node' : 'their nodes'}, and is degraded after an hour`,
    objects: names,
    remedy: [
      'kvup workloads unblock --all      lets drains evict them after their restart; undo: kvup restore-settings',
      'kvup workloads restart      restarts those that need it',
    ],
  })
}
