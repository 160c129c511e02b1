import type { InstallPlan, Subscription } from '../../cluster/kinds/operator-lifecycle.ts'
import { compareOperatorVersions, stemOf, versionOfCsv } from '../../releases/operator-version.ts'

/** What an InstallPlan is held to before anybody approves it (ocp 2.3, night E4). */
export interface PlanQuestion {
  subscription: Subscription
  /** The CSV of this hop, and nothing else. */
  csv: string
  /** CSVs, or packages that one begins with, that may come along: `--approve-also`. */
  approveAlso: readonly string[]
  /** Why the platform does not let an operator be updated now, in words; undefined where nothing is in the way. */
  platformBusy?: string | undefined
  /** Why the hop's operator is ahead of the platform, in words; undefined where it is not, or nothing tells. */
  beyondPlatform?: string | undefined
}

/**
 * `right`: it waits for approval and installs exactly what is wanted. `joined`: it is approved already, by whomever. `not-yet`: it
 * may become right by itself. `wrong`: it is never approved.
 */
export type PlanVerdict =
  | { is: 'right' }
  | { is: 'joined' }
  | { is: 'not-yet'; why: string }
  /** `others`: what it would install besides. `offers`: the release of the same operator that it would install instead. */
  | { is: 'wrong'; reason: WrongPlan; why: string; others?: readonly string[]; offers?: string }

export type WrongPlan =
  | 'foreign-plan'
  | 'plan-failed'
  | 'plan-goes-back'
  | 'plan-off-path'
  | 'plan-names-twice'
  | 'plan-installs-more'
  | 'operator-before-platform'
  | 'automatic-unapproved'

/** Pure. Order matters: what can never become right is said before what has to be waited for. */
export function judgeInstallPlan(plan: InstallPlan, question: PlanQuestion): PlanVerdict {
  for (const rule of [unreferenced, offPath, finished, tooMuch, isBeyond, notForUs, tooEarly]) {
    const verdict = rule(plan, question)
    if (verdict !== undefined) return verdict
  }
  return { is: 'right' }
}

type Rule = (plan: InstallPlan, question: PlanQuestion) => PlanVerdict | undefined

/** ocp 2.3 #6: several plans may hold the same CSV; OLM goes on with the one that it names. */
const unreferenced: Rule = ({ metadata }, { subscription }) => {
  const { namespace: here = '', name: asking } = subscription.metadata
  const reference = subscription.status?.installPlanRef ?? {}
  const { namespace = here } = reference
  if (metadata.namespace !== here || namespace !== here)
    return wrong(
      'foreign-plan',
      `it lies in namespace ${metadata.namespace ?? ''}, the Subscription in ${here}`,
    )
  if (isReferenced(reference, metadata)) return undefined
  return wrong(
    'foreign-plan',
    `the Subscription ${asking} names ${reference.name ?? 'no InstallPlan'}, not this one`,
  )
}

function isReferenced(
  reference: { name?: string; uid?: string },
  { name, uid }: InstallPlan['metadata'],
): boolean {
  return reference.name === name && (!reference.uid || reference.uid === uid)
}

const offPath: Rule = ({ spec }, { csv, subscription }) => {
  const names = spec?.clusterServiceVersionNames ?? []
  return names.includes(csv) ? undefined : otherThan(csv, names, subscription)
}

/** Only of a plan that is to be approved: what is approved is under way, whatever it holds. */
const tooMuch: Rule = ({ spec }, { csv, approveAlso }) => {
  const names = spec?.clusterServiceVersionNames ?? []
  if (new Set(names).size < names.length)
    return wrong('plan-names-twice', `it names a CSV twice: ${names.join(', ')}`)
  const others = names.filter((name) => name !== csv && !isAllowed(name, approveAlso))
  if (others.length === 0) return undefined
  return { ...wrong('plan-installs-more', `it would also install ${others.join(', ')}`), others }
}

/** By the CSV's whole name, or that of its package: what stands before the version. */
function isAllowed(csv: string, approveAlso: readonly string[]): boolean {
  return approveAlso.some((name) => csv === name || stemOf(csv) === name)
}

function otherThan(csv: string, names: readonly string[], { status }: Subscription): PlanVerdict {
  const own = names.find((name) => stemOf(name) === stemOf(csv))
  const [offered, installed] = [versionOfCsv(own), versionOfCsv(status?.installedCSV)]
  if (offered && installed && compareOperatorVersions(offered, installed) < 0)
    return wrong('plan-goes-back', `it would install ${own}, which is older than ${status?.installedCSV}`)
  const holds = names.length === 0 ? 'no CSV' : names.join(', ')
  const why = `it would install ${holds} and not ${csv}`
  return { ...wrong('plan-off-path', why), ...(own !== undefined && { offers: own }) }
}

/** ocp 2.2: Complete and Failed are final. */
const finished: Rule = ({ spec, status }) => {
  if (status?.phase === 'Failed')
    return wrong(
      'plan-failed',
      `it has failed, and OLM never tries it again: ${status.message ?? 'no message'}`,
    )
  if (status?.phase === 'Complete' || status?.phase === 'Installing' || spec?.approved === true)
    return { is: 'joined' }
  return undefined
}

/** Night E8. */
const isBeyond: Rule = (_, { beyondPlatform }) =>
  beyondPlatform === undefined
    ? undefined
    : wrong('operator-before-platform', `its operator ${beyondPlatform}`)

/** Night E4: automatic approval, which is what nothing means, is joined and never replaced (ocp 2.3 #1, #4). */
const notForUs: Rule = (_, { subscription: { metadata, spec } }) =>
  spec?.installPlanApproval !== 'Manual'
    ? wrong(
        'automatic-unapproved',
        `the Subscription ${metadata.name} approves by itself, but this plan waits: another Subscription in the namespace is Manual, or it was made before`,
      )
    : undefined

/** ocp 2.3 #5: approved before its status is there, it is made a second time. */
const tooEarly: Rule = ({ spec, status }, { platformBusy }) => {
  const phase = status?.phase ?? ''
  if (phase !== 'RequiresApproval')
    return {
      is: 'not-yet',
      why: `it is ${phase === '' ? 'being made' : phase}, and not waiting for approval`,
    }
  if (spec?.approved === undefined) return { is: 'not-yet', why: 'it does not say whether it is approved' }
  return platformBusy === undefined ? undefined : { is: 'not-yet', why: platformBusy }
}

const wrong = (reason: WrongPlan, why: string) => ({ is: 'wrong', reason, why }) as const
