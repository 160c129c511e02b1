import * as kube from '../kinds.ts'
import rows from './csv-phases.json' with { type: 'json' }
import {
  type Again,
  control,
  type ControllerContext,
  foundIn,
  made,
  seconds,
  soonest,
  templateHash,
} from '../machinery/controller.ts'
import { type Phase, phaseDriver, type Phases } from '../machinery/phases.ts'
import { msSince, type Olm, ownOnes, ownServiceVersions } from './olm-context.ts'
import { type Condition, condition } from '../../lib/kube/object.ts'
import { type CarriedDeployment, ownedLabels, permissionsOf } from './operator-bundle.ts'
import { ownerReference } from '../machinery/owned-pods.ts'

/** A phase lasts at least so long, ms: the CSV is looked at once a second. */
const shortest = 1000
/** What time alone moves is looked at as often, ms. */
const slow = 5000
/** As many phases are remembered. */
const remembered = 20

/** The OLM operator: takes each CSV from phase to phase. */
export function runServiceVersions(cx: Olm): Promise<void> {
  const watched = [
    { kind: kube.Csvs, where: ownOnes },
    { kind: kube.Deployments, where: { labels: 'olm.owner' } },
    { kind: kube.OperatorConditions },
    { kind: kube.OperatorGroups },
    { kind: kube.CustomResourceDefinitions },
  ]
  const advance = phaseDriver(cx, phasesOf(cx))
  return control(cx, watched, async () => {
    const all = await ownServiceVersions(cx.reader)
    const again: Again[] = []
    for (const csv of all) again.push(await advance(csv, await readCsv(cx, csv, all)))
    return soonest(again)
  })
}

/** Installing may take as long, ms (ocp 2.4). */
const installTimeout = 300_000

/** Where a CSV comes to, and why. */
type Move = readonly [phase: string, reason: string, message: string]
/** What holds of a CSV; its text takes the place of `{}` in the message of its row. */
type Judge = (csv: kube.Csv, snapshot: CsvSnapshot) => string | boolean | undefined

/** A CSV's phases (ocp 2.4) are the rows of `csv-phases.json`: from a phase, `*` from any, if something holds, to a phase with reason and message; a row without them stays. */
function phasesOf(cx: Olm): Phases<kube.Csv, CsvSnapshot> {
  const holds = judges(cx)
  const phases = rows.map(
    ([from, when = '', phase = '', reason = '', text = '']): Phase<kube.Csv, CsvSnapshot> => ({
      since: lastTransition,
      after,
      again,
      when: (csv, snapshot) =>
        (from === '*' || from === phaseOf(csv)) && (holds[when]?.(csv, snapshot) ?? false) !== false,
      write: async (csv, snapshot) => {
        const message = text.replace('{}', String(holds[when]?.(csv, snapshot)))
        const { status } = csv
        const isThere = status?.phase === phase && status.reason === reason && status.message === message
        if (phase === '' || isThere) return undefined
        if (phaseOf(csv) === 'InstallReady' && phase === 'Installing') await installCsv(cx, csv)
        return statusAt(cx, csv, [phase, reason, message], snapshot)
      },
    }),
  )
  const deleting = {
    since: lastTransition,
    after,
    when: 'Deleting',
    write: (csv: kube.Csv) => removeCsv(cx, csv),
  }
  return { kind: kube.Csvs, phases: [deleting, ...phases] }
}

/** By the names that rows have for them. */
const judges = (cx: Olm): Readonly<Record<string, Judge>> => ({
  always: () => true,
  replacedForGood: isReplacedForGood,
  successor: (csv, { all }) => successorOf(csv, all)?.metadata.name,
  noGroup: (_csv, { operatorGroups }) => operatorGroups === 0,
  manyGroups: (_csv, { operatorGroups }) => operatorGroups > 1,
  // A hold is looked at here alone: nothing asks again later (ocp 2.5).
  hold: (csv, { all, replacedCondition }) => (isFirst(csv, all) ? undefined : waitOf(replacedCondition)),
  missing: (_csv, { requirements }) => requirements.some(({ status }) => status !== 'Present'),
  late: (csv) => msSince(cx, lastTransition(csv)) >= installTimeout,
  unhealthy: (_csv, { unhealthy }) => unhealthy,
  fault: () => (cx.faults.on.csvFails === true ? unavailableWebhook : undefined),
  passingFault: ({ metadata }) => {
    const { csvFails, csvFailsFor = 0 } = cx.faults.on
    const isOver = csvFails === true || msSince(cx, metadata.creationTimestamp) >= csvFailsFor
    return isOver ? undefined : unavailableWebhook
  },
  // OLM gives webhooks their certificates once more, when all of them were there for the first time (olm-real, seen with real webhooks).
  certificates: ({ spec, status }) =>
    (spec?.webhookdefinitions ?? []).length > 0 && status?.certsLastUpdated === undefined,
})

const atRest: ReadonlySet<string> = new Set(['Succeeded', 'Replacing'])
const phaseOf = ({ status }: kube.Csv): string => status?.phase ?? ''
const again = (csv: kube.Csv): number => (atRest.has(phaseOf(csv)) ? Infinity : slow)
const lastTransition = ({ status }: kube.Csv): string | undefined => status?.lastTransitionTime
const after = (csv: kube.Csv): number => (lastTransition(csv) === undefined ? 0 : shortest)
/** Of the webhook that comes and goes (ocp 2.4). */
const unavailableWebhook =
  'installing: waiting for deployment hco-webhook to become ready: deployment "hco-webhook" not available: Deployment does not have minimum availability.'

const withRequirements: ReadonlySet<string> = new Set(['Succeeded', 'Pending', 'InstallReady'])

function statusAt(cx: Olm, { status }: kube.Csv, move: Move, { requirements }: CsvSnapshot): object {
  const now = seconds(cx)
  const [phase, reason, message] = move
  const next = {
    phase,
    reason,
    message,
    lastUpdateTime: now,
    lastTransitionTime: status?.phase === phase ? (status.lastTransitionTime ?? now) : now,
  }
  return {
    ...next,
    conditions: [...(status?.conditions ?? []), next].slice(-remembered),
    ...(reason === 'NeedsCertRotation' && { certsLastUpdated: now }),
    ...(withRequirements.has(phase) && { requirementStatus: requirements }),
  }
}

const successorOf = ({ metadata }: kube.Csv, all: readonly kube.Csv[]): kube.Csv | undefined =>
  all.find(({ spec }) => spec?.replaces === metadata.name)
const isFirst = ({ spec }: kube.Csv, all: readonly kube.Csv[]): boolean =>
  !all.some(({ metadata }) => metadata.name === spec?.replaces)

/** It goes once its successors led to one that runs; the oldest of a chain goes first. */
function isReplacedForGood(csv: kube.Csv, { all }: CsvSnapshot): boolean {
  if (!isFirst(csv, all)) return false
  let next = successorOf(csv, all)
  for (let hops = 0; next !== undefined && hops < all.length; hops++) {
    if (next.status?.phase === 'Succeeded') return true
    next = successorOf(next, all)
  }
  return false
}

/**
 * Why OLM does not replace an operator (ocp 2.5): what its OperatorCondition says of Upgradeable, an override before the operator's own
 * word, and a word of an older generation as a no. Undefined where it may be replaced; so may one that says nothing.
 */
export function waitOf(of: kube.OperatorCondition | undefined): string | undefined {
  if (of === undefined) return undefined
  const override = of.spec?.overrides?.find(({ type }) => type === 'Upgradeable')
  const said = override ?? condition(of, 'Upgradeable')
  if (said === undefined) return undefined
  if (override === undefined && isOutdated(said, of))
    return `the operatorcondition status "Upgradeable"="${said.status}" is outdated`
  return said.status === 'True' ? undefined : sentence(said)
}

function isOutdated(own: Condition & { observedGeneration?: number }, of: kube.OperatorCondition): boolean {
  const { generation = 0 } = of.metadata
  return own.observedGeneration !== undefined && own.observedGeneration < generation
}

const sentence = ({ message = '' }: Condition): string => `the operator is not upgradeable: ${message}`

type Requirement = NonNullable<NonNullable<kube.Csv['status']>['requirementStatus']>[number]

/** What decides about the next phase of a CSV. */
interface CsvSnapshot {
  /** The CSVs of its namespace. */
  all: readonly kube.Csv[]
  operatorGroups: number
  /** The OperatorCondition of the CSV that it replaces. */
  replacedCondition: kube.OperatorCondition | undefined
  requirements: readonly Requirement[]
  /** What its Deployments lack, in OLM's words; undefined where all are there and available. */
  unhealthy: string | undefined
}

async function readCsv({ reader }: Olm, csv: kube.Csv, all: readonly kube.Csv[]): Promise<CsvSnapshot> {
  const { namespace } = csv.metadata
  const { replaces } = csv.spec ?? {}
  const predecessor =
    replaces === undefined
      ? undefined
      : await reader.get(kube.OperatorConditions, { name: replaces, namespace })
  return {
    all: all.filter(({ metadata }) => metadata.namespace === namespace),
    operatorGroups: (await reader.list(kube.OperatorGroups, { namespace })).length,
    replacedCondition: predecessor && foundIn(predecessor),
    requirements: await requirementsOf(reader, csv),
    unhealthy: await unhealthyPart(reader, csv),
  }
}

async function requirementsOf(reader: Olm['reader'], csv: kube.Csv): Promise<Requirement[]> {
  const requirements: Requirement[] = []
  const owned = csv.spec?.customresourcedefinitions?.owned ?? []
  for (const { name = '' } of owned) {
    const found = await reader.get(kube.CustomResourceDefinitions, { name })
    const { kind } = kube.CustomResourceDefinitions
    const of = { group: 'apiextensions.k8s.io', version: 'v1', kind, name }
    requirements.push({ ...of, ...presence(found.is === 'object') })
  }
  if (owned.length > 0) requirements.push(await permission(reader, csv))
  const accounts = carriedBy(csv).flatMap(({ spec }) => spec.template?.spec?.serviceAccountName ?? [])
  for (const name of new Set(accounts)) {
    const found = await reader.get(kube.ServiceAccounts, { name, namespace: csv.metadata.namespace })
    const of = { group: '', version: 'v1', kind: kube.ServiceAccounts.kind, name }
    requirements.push({ ...of, ...presence(found.is === 'object') })
  }
  return requirements
}

/** Its roles, which a plan writes behind it, account by account. */
async function permission(reader: Olm['reader'], csv: kube.Csv): Promise<Requirement> {
  const { name } = csv.metadata
  const there = new Set<string>()
  for (const kind of [kube.ClusterRoles, kube.Roles])
    for (const { metadata } of await reader.list(kind, { labels: `olm.owner=${name}` }))
      there.add(metadata.name)
  const wanted = permissionsOf(csv).filter(
    ({ kind }) => kind === kube.ClusterRoles.kind || kind === kube.Roles.kind,
  )
  const of = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'PolicyRule', name }
  return { ...of, ...presence(wanted.every(({ metadata }) => there.has(metadata.name))) }
}

const presence = (isThere: boolean): Requirement => ({
  status: isThere ? 'Present' : 'NotPresent',
  message: isThere ? 'it is present' : 'it is not present',
})

export const carriedBy = ({ spec }: kube.Csv): readonly CarriedDeployment[] =>
  (spec?.install?.spec?.deployments ?? []) as unknown as readonly CarriedDeployment[]

async function unhealthyPart(reader: Olm['reader'], csv: kube.Csv): Promise<string | undefined> {
  for (const { name } of carriedBy(csv)) {
    const found = await reader.get(kube.Deployments, { name, namespace: csv.metadata.namespace })
    const lacks = found.is === 'object' ? lackOf(found.object, csv.metadata.name) : 'deployment not found'
    if (lacks !== undefined) return `installing: waiting for deployment ${name} to become ready: ${lacks}`
  }
  return undefined
}

function lackOf(deployment: kube.Deployment, owner: string): string | undefined {
  const { metadata, status } = deployment
  const name = JSON.stringify(metadata.name)
  if (metadata.labels?.['olm.owner'] !== owner) return `deployment ${name} is another operator's`
  if (status?.observedGeneration !== metadata.generation) return 'waiting for spec update to be observed'
  const rolling = rollOf(deployment)
  if (rolling !== undefined || condition(deployment, 'Available')?.status === 'True') return rolling
  return `deployment ${name} not available: Deployment does not have minimum availability.`
}

function rollOf({ metadata, status, spec }: kube.Deployment): string | undefined {
  const { updatedReplicas: updated = 0, replicas = 0 } = status ?? {}
  const wanted = spec?.replicas ?? 1
  const name = JSON.stringify(metadata.name)
  if (updated >= wanted && replicas <= updated) return undefined
  if (updated >= wanted)
    return `deployment ${name} waiting for ${replicas - updated} outdated replica(s) to be terminated`
  return `Waiting for rollout to finish: ${updated} out of ${wanted} new replicas have been updated...`
}

const hashLabel = 'olm.deployment-spec-hash'

/** Makes the Deployments of a CSV, or makes those its own that are there under their names; each is told the name of its OperatorCondition. */
async function installCsv({ reader, writer }: Olm, csv: kube.Csv): Promise<void> {
  for (const carried of carriedBy(csv)) {
    const wanted = deploymentOf(csv, carried)
    const { metadata, spec } = wanted
    const found = await reader.get(kube.Deployments, metadata)
    if (found.is !== 'object') await writer.create(kube.Deployments, wanted)
    else if (found.object.metadata.labels?.[hashLabel] !== metadata.labels?.[hashLabel])
      await writer.jsonPatch(kube.Deployments, metadata, [
        { op: 'replace', path: '/spec', value: spec },
        { op: 'add', path: '/metadata/labels', value: metadata.labels },
        { op: 'add', path: '/metadata/ownerReferences', value: metadata.ownerReferences },
      ])
  }
}

function deploymentOf(csv: kube.Csv, { name, label, spec }: CarriedDeployment): kube.Deployment {
  const { name: owner, namespace } = csv.metadata
  const told = { name: 'OPERATOR_CONDITION_NAME', value: owner }
  const { template = {} } = spec
  const containers = (template.spec?.containers ?? []).map((container) =>
    Object.assign({}, container, { env: [...(container.env ?? []), told] }),
  )
  const annotations = { ...template.metadata?.annotations, 'olm.targetNamespaces': '' }
  const own = {
    ...spec,
    template: {
      metadata: { ...template.metadata, annotations },
      spec: { ...template.spec, containers },
    },
  }
  return made(kube.Deployments, {
    metadata: {
      name,
      namespace,
      labels: { ...label, ...ownedLabels(csv), [hashLabel]: templateHash({ owner, own }) },
      ownerReferences: [ownerReference(csv, false)],
    },
    spec: own,
  })
}

/** Takes a CSV away with what only it had: its roles and its OperatorCondition. */
async function removeCsv({ reader, writer }: Olm, csv: kube.Csv): Promise<void> {
  const { name, namespace } = csv.metadata
  for (const kind of [kube.ClusterRoles, kube.ClusterRoleBindings, kube.Roles, kube.RoleBindings])
    for (const { metadata } of await reader.list(kind, { labels: `olm.owner=${name}` }))
      await writer.delete(kind, metadata)
  const said = foundIn(await reader.get(kube.OperatorConditions, { name, namespace }))
  if (said) await writer.delete(kube.OperatorConditions, said.metadata)
  await writer.delete(kube.Csvs, csv.metadata)
}

/** Copies the CSVs of operators for all namespaces into each of them, and takes copies away with their original (ocp 2.7). */
export function runCopies(cx: Olm): Promise<void> {
  const watched = [{ kind: kube.Csvs }, { kind: kube.Namespaces }, { kind: kube.OperatorGroups }]
  return control(cx, watched, async () => {
    const originals = await ownServiceVersions(cx.reader)
    const everywhere = await namespacesForAll(cx)
    const wanted = originals.filter(({ metadata }) => everywhere.has(metadata.namespace ?? ''))
    const copies = await cx.reader.list(kube.Csvs, { labels: kube.copiedFromLabel })
    for (const copy of copies)
      if (!wanted.some((one) => isCopyOf(copy, one))) await cx.writer.delete(kube.Csvs, copy.metadata)
    for (const { metadata, status } of await cx.reader.list(kube.Namespaces))
      for (const csv of wanted)
        if (metadata.name !== csv.metadata.namespace && status?.phase !== 'Terminating')
          await copyTo(cx, csv, { namespace: metadata.name, copies })
  })
}

/** Those with one OperatorGroup, which names no namespaces. */
async function namespacesForAll({ reader }: ControllerContext): Promise<Set<string>> {
  const groups = await reader.list(kube.OperatorGroups)
  const all = groups.filter(({ spec }) => spec?.targetNamespaces === undefined)
  return new Set(all.map(({ metadata }) => metadata.namespace ?? ''))
}

const isCopyOf = (copy: kube.Csv, { metadata }: kube.Csv): boolean =>
  copy.metadata.name === metadata.name && copy.metadata.labels?.[kube.copiedFromLabel] === metadata.namespace

async function copyTo(
  { writer }: Olm,
  csv: kube.Csv,
  { namespace, copies }: { namespace: string; copies: readonly kube.Csv[] },
): Promise<void> {
  const { apiVersion, kind, metadata, spec, status } = csv
  const { phase = '' } = status ?? {}
  const labels = { ...metadata.labels, [kube.copiedFromLabel]: metadata.namespace ?? '' }
  const there = copies.find((copy) => copy.metadata.namespace === namespace && isCopyOf(copy, csv))
  if (there?.status?.phase === phase) return
  const { name } = metadata
  if (there === undefined)
    await writer.create(kube.Csvs, {
      apiVersion,
      kind,
      metadata: { name, namespace, labels },
      ...(spec && { spec }),
    })
  const message = `The operator is running in ${metadata.namespace} but is managing this namespace`
  const copied = { phase, reason: 'Copied', message }
  await writer.mergePatch(kube.Csvs, { name, namespace }, { status: copied }, 'status')
}
