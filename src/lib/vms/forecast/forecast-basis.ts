import { type Version, versionOf } from '../../releases/release-versions.ts'
import type { Judging } from './vm-forecast.ts'
import { speedOf } from './migration-time.ts'
import type { ReadCluster } from '../../kubevirt/read-cluster.ts'
import type { SelectedVms } from '../vm-selection.ts'
import { nodesIn, readRoom, type Room } from './cluster-room.ts'
import { onceCached } from '../../kube/read-cache.ts'
import type { VirtualMachineInstance } from '../../kube/kinds/kubevirt-kinds.ts'
import { homeOf, listKubeVirts } from '../../kubevirt/snapshot.ts'
import { parseImage } from '../../kubevirt/installation.ts'
import type { Override } from '../../engine/journal.ts'
import { openOverrides } from '../../engine/journal-config-map.ts'
import { knownReleases } from '../../releases/releases.ts'
import {
  dueFor,
  launchersOf,
  type OutlookRules,
  readContext,
  rulesFrom,
  type UpdaterContext,
} from '../workload-updater.ts'
import { keptMethods, overrideId } from '../update-methods.ts'

export const judgingOf = async (basis: Promise<Basis>) => (await basis).judging

/** Everything that a forecast rests on besides the VMs. */
export interface Basis {
  /** When it was read. */
  at: Date
  context: UpdaterContext
  methodsFrom: 'cluster' | 'loan' | 'flag' | 'unknown'
  room: Room
  /** Undefined: the KubeVirt CR may not be read. */
  judging: Judging | undefined
  remarks: readonly string[]
}

interface Asked {
  selection: SelectedVms
  to: Version | undefined
  /** Of --methods. */
  methods: readonly string[] | undefined
}

/** Borrowed methods are given back: what they were decides. Throws what reading throws but 403 and 404. */
export async function readForForecast({ cluster, clock }: ReadCluster, asked: Asked): Promise<Basis> {
  const reader = onceCached(cluster.reader)
  const home = listKubeVirts(reader).then(homeOf)
  const surrounding = home.then((known) => readContext(reader, clock, asked.selection.namespace, known))
  const [context, room, { loan, unread }] = await Promise.all([
    surrounding,
    readRoom(
      reader,
      surrounding.then((known) => known.kubevirt),
    ),
    home.then((known) => overrideOf(cluster, known, clock)),
  ])
  const { kubevirt } = context
  const at = clock.now()
  const rules = rulesFrom(context, { asked: asked.selection, releases: knownReleases, at })
  const kept = loan && keptMethods(loan)
  const methods = asked.methods ?? kept ?? rules?.methods ?? []
  const judged = rules && rulesAfter({ ...rules, ...nodesIn(room), methods }, asked.to, at)
  return {
    at,
    context,
    room,
    methodsFrom: whence(asked, { loan: loan !== undefined, known: rules !== undefined }),
    judging: judged && kubevirt && { rules: judged, room, speed: speedOf(kubevirt) },
    remarks: [...context.remarks, ...unread],
  }
}

async function overrideOf(
  cluster: ReadCluster['cluster'],
  namespace: string | undefined,
  clock: ReadCluster['clock'],
): Promise<{ loan?: Override | undefined; unread: readonly string[] }> {
  if (namespace === undefined) return { unread: [] }
  const found = await openOverrides(cluster, { namespace, clock })
  if ('unread' in found)
    return { unread: [`whether workload updates are held is not known: ${found.unread}`] }
  return { loan: found.loans.find(({ id }) => id === overrideId), unread: [] }
}

function whence(
  { methods }: Asked,
  { loan, known }: { loan: boolean; known: boolean },
): Basis['methodsFrom'] {
  if (methods !== undefined) return 'flag'
  if (loan) return 'loan'
  return known ? 'cluster' : 'unknown'
}

/** After an upgrade nothing of today is the new launcher, and the upgrade is over. */
function rulesAfter(rules: OutlookRules, to: Version | undefined, at: Date): OutlookRules {
  if (to === undefined) return rules
  const launcher = launchersOf({ image: undefined, version: undefined }, knownReleases, at)
  return { ...rules, updating: false, launcher }
}

/** Which VMIs have nothing to be done for: by the version of their launcher where an upgrade is asked for, else as KubeVirt counts. */
export function isCurrentFor(
  { context: { launcher } }: Basis,
  to: Version | undefined,
): (vmi: VirtualMachineInstance) => boolean {
  if (to === undefined) return (vmi) => vmi.status?.phase === 'Running' && dueFor(vmi, launcher) === undefined
  return ({ status }) =>
    versionOf(parseImage(status?.launcherContainerImageVersion ?? '').tag)?.text === to.text
}
