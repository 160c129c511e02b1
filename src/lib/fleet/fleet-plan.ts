import { parseDocument } from 'yaml'
import { readSealed, sha256 } from '../engine/sealed-plan.ts'
import { usageError } from '../kube/errors.ts'
import { isRecord } from '../kube/object.ts'
import type { PlanDocument } from '../upgrade/plan/plan-document.ts'
import type { AlertRule } from './fleet-alerts.ts'
import type { FleetWave } from './fleet-waves.ts'

/** A cluster of a fleet plan, with its own sealed plan. */
export interface PlannedCluster {
  name: string
  context: string
  /** Absent: that of the command line. A path that is not whole is one from the folder of the plan. */
  kubeconfig?: string
  /** Of its namespace kube-system: the plan is for no other cluster. */
  uid: string
  windows: readonly string[]
  /** Alerts that fired when the plan was made: they do not end the run. Absent where no alert does. */
  firing?: readonly string[]
  /** Absent where nothing could be planned: `error` says why. */
  plan?: PlanDocument
  error?: { code: number; reason: string; message: string; remedy?: readonly string[] }
}

/** What is sealed besides the plan of each cluster. */
export interface FleetPlanDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'FleetPlan'
  to: string
  waves: readonly FleetWave[]
  /** Between the end of a wave and the next. */
  soakSeconds: number
  /** So many failures end it: a number, or a share. The canary wave allows none. */
  stopAfter: string
  /** New alerts in clusters that are done end it as well. Absent: no alert does. */
  alerts?: AlertRule
  clusters: readonly PlannedCluster[]
  /** Absent where one of the clusters cannot be upgraded so. */
  seal?: { uid: string; at: string; by: string; kvup: string; digest: string }
  next?: readonly string[]
}

/** A fleet plan that is carried out. */
export type SealedFleet = Omit<FleetPlanDocument, 'clusters' | 'seal'> &
  Required<Pick<FleetPlanDocument, 'seal'>> & {
    file: string
    clusters: readonly (PlannedCluster & { plan: PlanDocument })[]
  }

/** What was planned, under one seal: the plan of each cluster by the digest of its own. */
export function sealFleet(
  document: FleetPlanDocument,
  { uid, at, by, kvup }: { uid: string; at: string; by: string; kvup: string },
): FleetPlanDocument {
  const seal = { uid, at, by, kvup }
  return { ...document, seal: { ...seal, digest: digestOf(document, seal) } }
}

function digestOf(document: FleetPlanDocument, seal: object): string {
  const { to, waves, soakSeconds, stopAfter, alerts, clusters } = document
  const own = clusters.map(({ name, context, kubeconfig, uid, windows, firing, plan }) => {
    const { digest } = (plan?.seal ?? {}) as { digest?: string }
    return { name, context, kubeconfig, uid, windows, firing, plan: digest }
  })
  return sha256({ to, waves, soakSeconds, stopAfter, alerts, clusters: own, seal })
}

/** Reads what `kvup fleet plan --to-file` wrote. Throws `usage` for what is no such plan, and for one that was edited after it was sealed. */
export function readFleetPlan(text: string, file: string): SealedFleet {
  const parsed = parseDocument(text, { prettyErrors: false })
  const value = parsed.errors.length === 0 ? plainOf(parsed) : undefined
  if (!isFleetPlan(value))
    throw usageError('not-a-plan', `cannot use ${file}: it is no sealed kvup.io/v1alpha1 FleetPlan`, {
      remedy: "kvup fleet plan --contexts 'prod-*' --to v1.8.4 --to-file fleet-plan.yaml     makes one",
    })
  const { digest, ...seal } = value.seal
  for (const { name, plan } of value.clusters)
    readSealed(JSON.stringify(plan), `${file}, cluster ${name}`, 'UpgradePlan')
  if (digest !== digestOf(value, seal))
    throw usageError('plan-edited', `${file} was edited after it was sealed`, {
      remedy: 'make a new plan with other flags: kvup fleet plan --help',
    })
  return { ...value, file }
}

/** Undefined for aliases that lead nowhere, or to very much. */
function plainOf(parsed: ReturnType<typeof parseDocument>): unknown {
  try {
    return parsed.toJS()
  } catch {
    return undefined
  }
}

function isFleetPlan(value: unknown): value is Omit<SealedFleet, 'file'> {
  if (!isRecord(value) || value['kind'] !== 'FleetPlan' || value['apiVersion'] !== 'kvup.io/v1alpha1')
    return false
  const { seal, clusters, waves, soakSeconds, stopAfter, alerts, to } = value
  return (
    isRecord(seal) &&
    ['uid', 'at', 'by', 'kvup', 'digest'].every((key) => typeof seal[key] === 'string') &&
    typeof to === 'string' &&
    typeof stopAfter === 'string' &&
    Number.isFinite(soakSeconds) &&
    (alerts === undefined || isAlertRule(alerts)) &&
    Array.isArray(waves) &&
    waves.every(
      (wave) => isRecord(wave) && Number.isSafeInteger(wave['wave']) && isTexts(wave['clusters']),
    ) &&
    Array.isArray(clusters) &&
    clusters.every(isPlanned) &&
    areInWaves(clusters, waves as readonly FleetWave[])
  )
}

/** Each cluster in one wave, and no wave with another one: none would be left out, or be upgraded twice. */
function areInWaves(clusters: readonly { name: string }[], waves: readonly FleetWave[]): boolean {
  const names = clusters.map(({ name }) => name)
  const inWaves = waves.flatMap((wave) => wave.clusters)
  return (
    new Set(inWaves).size === inWaves.length &&
    inWaves.length === names.length &&
    names.every((name) => inWaves.includes(name))
  )
}

const isAlertRule = (value: unknown): boolean =>
  isRecord(value) &&
  ['critical', 'warning'].includes(String(value['atLeast'])) &&
  ['proxy', 'route'].includes(String(value['by']))

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

const isPlanned = (value: unknown): boolean =>
  isRecord(value) &&
  ['name', 'context', 'uid'].every((key) => typeof value[key] === 'string') &&
  ['string', 'undefined'].includes(typeof value['kubeconfig']) &&
  isTexts(value['windows']) &&
  (value['firing'] === undefined || isTexts(value['firing'])) &&
  isRecord(value['plan'])
