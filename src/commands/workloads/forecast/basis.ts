import { oneLook } from '../../../lib/cluster/one-look.ts'
import type { VirtualMachineInstance } from '../../../lib/cluster/kinds/virtual-machines.ts'
import { findKubeVirts } from '../../../lib/facts/find-kubevirts.ts'
import { parseImage } from '../../../lib/facts/image.ts'
import { homeOf } from '../../../lib/facts/snapshot.ts'
import type { Loan } from '../../../lib/procedure/journal.ts'
import { openLoans } from '../../../lib/procedure/open-loans.ts'
import { knownReleases } from '../../../lib/releases/releases.ts'
import { type Version, versionOf } from '../../../lib/releases/version.ts'
import type { Judging } from '../../../lib/workloads/forecast/judge.ts'
import { speedOf } from '../../../lib/workloads/forecast/migration-time.ts'
import { nodesIn, readRoom, type Room } from '../../../lib/workloads/forecast/room.ts'
import { dueFor } from '../../../lib/workloads/outdated/due.ts'
import { launchersOf } from '../../../lib/workloads/outdated/launchers.ts'
import type { OutlookRules } from '../../../lib/workloads/outdated/rules.ts'
import { rulesFrom } from '../../../lib/workloads/outdated/rules-from.ts'
import { readSurroundings, type Surroundings } from '../../../lib/workloads/outdated/surroundings.ts'
import { keptMethods, loanId } from '../../../lib/workloads/update-methods.ts'
import type { LookedAt } from '../../reader-for.ts'
import type { SelectedVms } from '../outdated/selection.ts'

/** Everything that a forecast rests on besides the VMs. */
export interface Basis {
  /** When it was read. */
  at: Date
  surroundings: Surroundings
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
export async function lookForForecast({ cluster, clock }: LookedAt, asked: Asked): Promise<Basis> {
  const reader = oneLook(cluster.reader)
  const home = findKubeVirts(reader).then(homeOf)
  const surrounding = home.then((known) => readSurroundings(reader, clock, asked.selection.namespace, known))
  const [surroundings, room, { loan, unread }] = await Promise.all([
    surrounding,
    readRoom(
      reader,
      surrounding.then((known) => known.kubevirt),
    ),
    home.then((known) => loanOf(cluster, known, clock)),
  ])
  const { kubevirt } = surroundings
  const at = clock.now()
  const rules = rulesFrom(surroundings, { asked: asked.selection, releases: knownReleases, at })
  const kept = loan && keptMethods(loan)
  const methods = asked.methods ?? kept ?? rules?.methods ?? []
  const judged = rules && rulesAfter({ ...rules, ...nodesIn(room), methods }, asked.to, at)
  return {
    at,
    surroundings,
    room,
    methodsFrom: whence(asked, { loan: loan !== undefined, known: rules !== undefined }),
    judging: judged && kubevirt && { rules: judged, room, speed: speedOf(kubevirt) },
    remarks: [...surroundings.remarks, ...unread],
  }
}

async function loanOf(
  cluster: LookedAt['cluster'],
  namespace: string | undefined,
  clock: LookedAt['clock'],
): Promise<{ loan?: Loan | undefined; unread: readonly string[] }> {
  if (namespace === undefined) return { unread: [] }
  const found = await openLoans(cluster, { namespace, clock })
  if ('unread' in found)
    return { unread: [`whether workload updates are held is not known: ${found.unread}`] }
  return { loan: found.loans.find(({ id }) => id === loanId), unread: [] }
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
  { surroundings: { launcher } }: Basis,
  to: Version | undefined,
): (vmi: VirtualMachineInstance) => boolean {
  if (to === undefined) return (vmi) => vmi.status?.phase === 'Running' && dueFor(vmi, launcher) === undefined
  return ({ status }) =>
    versionOf(parseImage(status?.launcherContainerImageVersion ?? '').tag)?.text === to.text
}
