import type { Lease } from '../../cluster/kinds/core.ts'
import type { SilentLease } from '../../facts/health/lease-watch.ts'
import { since } from '../../facts/elapsed.ts'
import { itemsOf } from '../../facts/known.ts'
import { holds } from '../../facts/leader.ts'
import { formatDuration } from '../../system/duration.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'

/** Leases last 15 s; this is far beyond, and leaves room for the clock of a node that is a minute off. */
const fresh = 2 * 60_000
/** A Lease outlives the pod that held it, and the next one tries for it every few seconds: each roll has such a moment. */
const handover = 30_000

/** Facts 2.10: ready pods say nothing about which of them leads. Without a leader nothing is rolled, nothing migrates. */
export const leaderLeases: Check = {
  id: 'leader-leases',
  group: 'machinery',
  title: 'virt-operator and virt-controller are led by a pod that is there',
  needs: ['leases', 'pods'],
  blocks: true,
  assess: (question) => ['virt-operator', 'virt-controller'].flatMap((name) => judged(name, question)),
}

function judged(name: string, question: Question): Finding[] {
  const { namespace } = question.installation
  const lease = itemsOf(question.evidence.leases).find(
    ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
  )
  const fault = faultOf(name, lease, question)
  if (fault === undefined) return []
  return [
    {
      id: 'leader-leases',
      level: 'blocker',
      summary: `nobody leads ${name}: ${fault}`,
      objects: [`lease/${name}`],
      remedy: [
        `kubectl -n ${namespace} get lease ${name} -o yaml`,
        `kubectl -n ${namespace} get pods -l kubevirt.io=${name}`,
      ],
    },
  ]
}

/** Outside of a cluster network a process is known by its machine's name: of that nothing can be said. */
function isGone(name: string, holder: string, { pods }: Question['evidence']): boolean {
  return holder.startsWith(`${name}-`) && !itemsOf(pods).some((pod) => holds(pod, holder))
}

function faultOf(name: string, lease: Lease | undefined, { evidence, at }: Question): string | undefined {
  const holder = lease?.spec?.holderIdentity
  if (!lease) return 'its Lease is not there'
  if (!holder) return 'nobody holds its Lease'
  const age = since(lease.spec?.renewTime, at)
  if ((age ?? Infinity) > handover && isGone(name, holder, evidence))
    return `its Lease is held by ${holder}, which is not there`
  return evidence.silentLeases?.known ? silent(name, evidence.silentLeases.items) : unrenewed(holder, age)
}

function silent(name: string, leases: readonly SilentLease[]): string | undefined {
  const found = leases.find((lease) => lease.name === name)
  return found && `${found.holder} did not renew its Lease while it was watched for ${found.watchedFor} s`
}

/** Where it could not be watched. */
function unrenewed(holder: string, age: number | undefined): string | undefined {
  if (age === undefined) return 'its Lease was never renewed'
  return age > fresh
    ? `its Lease was renewed ${formatDuration(age)} ago by ${holder} (or the clock of its node is off)`
    : undefined
}
