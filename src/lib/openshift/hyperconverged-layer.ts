import type { HyperConverged } from '../kube/kinds/operator-kinds.ts'
import { filled, type Known } from '../kube/known.ts'
import { condition, keyOf } from '../kube/object.ts'
import { minutes } from '../kube/clock.ts'
import { earliest, latest, since } from '../kube/timestamps.ts'
import { assessHyperConverged, type HyperConvergedStatus } from './hyperconverged.ts'
import { deploymentHelp, type FailureHelp, objectName, type RunningObjects, runs } from './olm-failures.ts'
import type { Layer } from './olm-layers.ts'

interface AroundHyperConverged {
  /** OLM, KubeVirt or the platform is being updated: HyperConverged looks bad for a while then. */
  updating: boolean
  /** KubeVirt is told as not being as it should be, with its cause. */
  kubeVirtIsTold: boolean
  /** The time of the look. */
  at: Date
  /** In its namespace; absent where that was not asked for. */
  running?: RunningObjects | undefined
}

/** Undefined where there is none. Pure. */
export function hyperConvergedLayer(
  found: Known<HyperConverged>,
  around: AroundHyperConverged,
): Layer | undefined {
  if (!found.known) return { layer: 'hyperconverged', verdict: 'Unknown', says: found.why }
  const [hco, second] = found.items
  if (!hco) return undefined
  if (second) return several(found.items)
  const status = assessHyperConverged(hco)
  const judged = judge(hco, status, around)
  return {
    layer: 'hyperconverged',
    object: `hyperconverged/${status.name}`,
    ...judged,
  }
}

function several(items: readonly HyperConverged[]): Layer {
  const places = items.map(keyOf).join(', ')
  return {
    layer: 'hyperconverged',
    verdict: 'Degraded',
    says: `there are ${items.length} (${places}), but only one may exist`,
    help: ['kubectl get hyperconvergeds.hco.kubevirt.io -A'],
  }
}

type Judged = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'expected' | 'notes' | 'help' | 'since'>

/** How long a condition may stay bad while nothing is updated, and while something is: an update of the platform takes hours, but not in one condition. */
const patience = { alone: 10 * minutes, updating: 60 * minutes }

/**
 * Good only where every condition is; what is bad is expected while something is updated (ocp 1.5, 9.5). HyperConverged says Progressing of a component that
 * will never be ready as well: what has not changed for long, while nothing is updated, does not get on by itself.
 */
function judge(hco: HyperConverged, status: HyperConvergedStatus, around: AroundHyperConverged): Judged {
  const { good, why, operatorVersion: version = 'of no version yet', current } = status
  if (good) return { verdict: 'Healthy', says: version }
  const bad = isBad(hco)
  const isProgressing = is(hco, 'Progressing', 'True')
  const waits = { says: version, notes: why, waitsFor: 'every condition to be healthy' }
  const isMoving = around.updating || isProgressing || !current || triesAgain(hco, around.at)
  if (isMoving && !((bad || isProgressing) && isOverdue(hco, around)))
    return {
      verdict: 'Updating',
      ...waits,
      ...(bad && around.updating && { expected: 'expected during an update' }),
    }
  return bad || isProgressing ? lasting(hco, status, around) : refusesUpgrades(hco, status, waits)
}

const isBad = (hco: HyperConverged): boolean =>
  is(hco, 'Degraded', 'True') || is(hco, 'Available', 'False') || is(hco, 'ReconcileComplete', 'False')

/** A component is lacking, and nobody brings it. */
function lasting(hco: HyperConverged, status: HyperConvergedStatus, around: AroundHyperConverged): Judged {
  const { why, operatorVersion: version = 'of no version yet' } = status
  const lacking = lackingComponents(hco)
  if (around.kubeVirtIsTold && lacking.length > 0 && lacking.every(({ name }) => name === 'KubeVirt'))
    return { verdict: 'Updating', says: version, notes: why, waitsFor: 'KubeVirt; see below' }
  const operators = operatorsOf(lacking, around.running)
  return {
    ...verdictOn(hco, lacking, around),
    says: [version, ...(lacking.length === 0 ? [] : [lacking.map(inWords).join(', ')])].join(': '),
    ...filled({ since: earliest(lacking.map(({ since: from }) => from)) }),
    notes: [...why, ...operators.flatMap(({ notes }) => notes)],
    help: [...helpFor(hco, status, lacking), ...operators.flatMap(({ help }) => help)],
  }
}

/** All is there, and the next release is refused. */
function refusesUpgrades(
  hco: HyperConverged,
  status: HyperConvergedStatus,
  waits: Pick<Judged, 'says' | 'notes' | 'waitsFor'>,
): Judged {
  const lacking = lackingComponents(hco)
  return {
    verdict: 'Waiting',
    ...waits,
    ...(lacking.length > 0 && { help: helpFor(hco, status, lacking) }),
  }
}

/** A reconcile that failed is tried again within seconds, and all other conditions are Unknown until then. */
function triesAgain(hco: HyperConverged, at: Date): boolean {
  const said = condition(hco, 'ReconcileComplete')
  return said?.status === 'False' && (since(said.lastTransitionTime, at) ?? Infinity) < 2 * minutes
}

function isOverdue(hco: HyperConverged, { updating, at }: AroundHyperConverged): boolean {
  const changed = latest(unmetOf(hco).map(({ lastTransitionTime }) => lastTransitionTime))
  const unchanged = since(changed, at)
  return unchanged !== undefined && unchanged >= (updating ? patience.updating : patience.alone)
}

function verdictOn(
  hco: HyperConverged,
  lacking: readonly LackingComponent[],
  { updating }: AroundHyperConverged,
): Pick<Judged, 'verdict' | 'waitsFor'> {
  if (is(hco, 'Degraded', 'True') || !is(hco, 'Progressing', 'True')) return { verdict: 'Degraded' }
  const names = lacking.length === 0 ? 'its operator' : lacking.map(({ name }) => name).join(' and ')
  const why = updating ? 'for longer than an update takes' : 'although nothing is being updated'
  return { verdict: 'Stalled', waitsFor: `${names}, ${why}` }
}

const is = (hco: HyperConverged, type: string, status: string): boolean =>
  condition(hco, type)?.status === status

/** A component that a condition of HyperConverged is about. */
interface LackingComponent {
  /** As the condition's reason begins: the kind of its resource. */
  name: string
  lacks: Lack
  /** RFC 3339. */
  since?: string | undefined
}

/** The worst first: of a component one is told. */
const lacks = ['Degraded', 'NotAvailable', 'Conditions', 'Progressing', 'NotUpgradeable'] as const
type Lack = (typeof lacks)[number]

const lackWords: Readonly<Record<Lack, string>> = {
  Degraded: 'is degraded',
  NotAvailable: 'is not available',
  Conditions: 'has no conditions',
  Progressing: 'is not done',
  NotUpgradeable: 'is not upgradeable',
}

const inWords = ({ name, lacks: lack }: LackingComponent): string => `${name} ${lackWords[lack]}`

const reasons =
  /^(?<name>[A-Za-z][A-Za-z0-9]{0,62}?)(?<lack>NotAvailable|NotUpgradeable|Progressing|Degraded|Conditions)$/u

const wanted: ReadonlyMap<string, 'True' | 'False'> = new Map([
  ['Available', 'True'],
  ['Progressing', 'False'],
  ['Degraded', 'False'],
  ['Upgradeable', 'True'],
])

const unmetOf = (hco: HyperConverged) =>
  (hco.status?.conditions ?? []).filter(({ type, status }) => wanted.has(type) && status !== wanted.get(type))

/** HyperConverged makes the reason of a condition of the kind of the component and of what it lacks: `CDINotAvailable`, `SSPProgressing`. */
function lackingComponents(hco: HyperConverged): readonly LackingComponent[] {
  const found = new Map<string, LackingComponent>()
  for (const { reason = '', lastTransitionTime } of unmetOf(hco)) {
    const { name = '', lack = '' } = reasons.exec(reason)?.groups ?? {}
    const lacking = lacks.find((one) => one === lack)
    if (lacking === undefined || name === 'HCO') continue
    const before = found.get(name)
    const worse = before === undefined || lacks.indexOf(lacking) < lacks.indexOf(before.lacks)
    if (worse) found.set(name, { name, lacks: lacking, since: before?.since ?? lastTransitionTime })
  }
  return [...found.values()]
}

/** The resource and the Deployment of the operator of each component that a bundle brings. One that is not here is named by its kind alone. */
const knownComponents: Readonly<Record<string, { resource: string; operator: string }>> = {
  KubeVirt: { resource: 'kubevirts.kubevirt.io', operator: 'virt-operator' },
  CDI: { resource: 'cdis.cdi.kubevirt.io', operator: 'cdi-operator' },
  NetworkAddonsConfig: {
    resource: 'networkaddonsconfigs.networkaddonsoperator.network.kubevirt.io',
    operator: 'cluster-network-addons-operator',
  },
  SSP: { resource: 'ssps.ssp.kubevirt.io', operator: 'ssp-operator' },
  AAQ: { resource: 'aaqs.aaq.kubevirt.io', operator: 'aaq-operator' },
  MigController: {
    resource: 'migcontrollers.migrations.kubevirt.io',
    operator: 'kubevirt-migration-operator',
  },
}

function helpFor(
  hco: HyperConverged,
  { namespace, name }: HyperConvergedStatus,
  lacking: readonly LackingComponent[],
): readonly string[] {
  if (lacking.length === 0)
    return [`kubectl -n ${namespace} describe hyperconvergeds.hco.kubevirt.io ${name}`]
  return lacking.flatMap((component) => {
    const operator = knownComponents[component.name]?.operator
    return [
      ...showsResource(hco, component),
      operator === undefined
        ? `kubectl -n ${namespace} get deployments,pods     shows whether its operator runs`
        : `kubectl -n ${namespace} logs deployment/${operator} --tail=50     shows why, in the words of its operator`,
    ]
  })
}

const apiName = /^(?<group>[a-z0-9][-a-z0-9.]{0,251})\/(?<version>v[a-z0-9]{1,30})$/u

type RelatedObject = NonNullable<NonNullable<HyperConverged['status']>['relatedObjects']>[number]

/** Its own conditions say more than those of HyperConverged, which names the object among those that it manages. */
function showsResource(hco: HyperConverged, { name: kind }: LackingComponent): readonly string[] {
  const related = hco.status?.relatedObjects?.find((one) => one.kind === kind)
  const resource = knownComponents[kind]?.resource ?? resourceIn(related)
  return resource === undefined
    ? []
    : [`kubectl ${placeOf(resource, related)} -o yaml     shows its own conditions`]
}

/** As kubectl takes it where the plural is not known: `SSP.v1beta3.ssp.kubevirt.io`. */
function resourceIn({ apiVersion = '', kind = '' }: RelatedObject = {}): string | undefined {
  const { group, version } = apiName.exec(apiVersion)?.groups ?? {}
  return group === undefined || version === undefined ? undefined : `${kind}.${version}.${group}`
}

function placeOf(resource: string, { name = '', namespace }: RelatedObject = {}): string {
  if (!objectName.test(name) || !(namespace === undefined || objectName.test(namespace)))
    return `get ${resource} -A`
  return namespace === undefined ? `get ${resource} ${name}` : `-n ${namespace} get ${resource} ${name}`
}

/** Whether the operators of these run: where one does not, that comes first. */
function operatorsOf(
  lacking: readonly LackingComponent[],
  running: RunningObjects | undefined,
): readonly FailureHelp[] {
  if (running === undefined) return []
  return lacking.flatMap(({ name }) => {
    const operator = knownComponents[name]?.operator
    return operator === undefined ? [] : [saidOf(operator, name, running)]
  })
}

function saidOf(operator: string, component: string, running: RunningObjects): FailureHelp {
  const { deployments } = running
  if (!deployments.known)
    return { notes: [`whether ${operator} runs is not checked: ${deployments.why}`], help: [] }
  if (!runs(running, operator)) return deploymentHelp(operator, running)
  return { notes: [`its operator ${operator} runs, and does not make ${component} ready`], help: [] }
}
