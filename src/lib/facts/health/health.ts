import type { Cause } from '../cause.ts'
import { isTerminal } from '../causes.ts'
import { earliest } from '../elapsed.ts'
import { operatorName } from '../stamps.ts'
import type { Standing, Verdict } from '../standing.ts'
import { type Answers, answersUnread, silentAnswers } from './answers.ts'
import { vmCauses, type VmTroubles } from './vm-troubles.ts'
import { type SilentLease, silentLeaseCause } from './lease-watch.ts'

/**
 * What KubeVirt's own conditions do not tell of it: whether its leaders live, and whether somebody answers behind its APIs and webhooks. virt-operator
 * that is dead goes on being `Available=True`, for only it could say otherwise.
 */
export interface Health {
  /** Absent where it was not asked for. */
  answers?: Answers
  leases: readonly SilentLease[]
  /** Absent where they were not looked at. */
  vms?: VmTroubles
}

/**
 * The standing with what else was measured. A leader that is gone is Degraded whatever is under way, unless the pods of it tell why already. An
 * API that nobody answers is part of every roll of virt-api: it counts once nothing is under way, after 15 s. Pure.
 */
export function withHealth(judged: Standing, health: Health, at: Date): Standing {
  const dead = health.leases.filter(({ name }) => !isReplaced(judged, name)).map(silentLeaseCause)
  const silent = health.answers ? silentAnswers(health.answers) : []
  const unread = health.answers ? answersUnread(health.answers) : []
  const rest = { ...judged, remarks: [...judged.remarks, ...unread] }
  const idle = health.vms ? vmCauses(health.vms, at) : []
  const faults = [...dead, ...silent, ...idle]
  const [first] = faults
  if (first === undefined) return rest
  const verdict = verdictWith(judged, { dead, silent: [...silent, ...idle] }, at)
  const why = [...dead, ...judged.why, ...silent, ...idle]
  return {
    ...rest,
    verdict,
    why,
    waitingFor: judged.waitingFor ?? waitedFor(first),
    ...(verdict !== judged.verdict && sinceOf(faults)),
  }
}

/** While its pods are replaced nobody leads for as long as the new ones take to start, and these tell why. */
function isReplaced({ operator, components }: Standing, name: string): boolean {
  const part = name === operatorName ? operator : components.find((component) => component.name === name)
  return part?.rolled === false
}

function verdictWith(
  { verdict, why, since }: Standing,
  { dead, silent }: Record<'dead' | 'silent', readonly Cause[]>,
  at: Date,
): Verdict {
  const explained = verdict === 'Stalled' && why.some((cause) => isTerminal(cause, at))
  if (dead.length > 0) return explained ? verdict : 'Degraded'
  if (verdict !== 'Settled') return verdict
  // Endpoints do not say since when they are gone: not longer than everything else has been at rest.
  const known = silent.map((cause) => ({ ...(since !== undefined && { since }), ...cause }))
  return known.some((cause) => isTerminal(cause, at)) ? 'Degraded' : 'Updating'
}

function waitedFor({ kind, component }: Cause): string {
  if (kind === 'vms') return 'VMs that should run'
  if (kind === 'lease') return `${component} to renew its Lease`
  return `somebody to answer behind Service ${component}`
}

function sinceOf(faults: readonly Cause[]): Pick<Standing, 'since'> {
  const from = earliest(faults.map(({ since }) => since))
  return from === undefined ? {} : { since: from }
}
